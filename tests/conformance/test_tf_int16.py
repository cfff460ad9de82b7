"""Operators as TensorFlow's converter quantises them to int16 activations: import, twin and kernels."""

import functools

import numpy as np
import pytest

from tests.conformance import tf_models
from tinydeploy import pipeline
from tinydeploy.ir.types import dequantise
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.ops.serialise import from_bytes

IMAGE, VECTOR, MATRIX = (1, 8, 6, 4), (1, 12), (1, 5, 6)


@functools.cache
def tf():
    return tf_models.tensorflow()


def weights(*shape):
    values = np.random.default_rng(len(shape)).normal(0, 0.3, shape).astype(np.float32)
    return tf().constant(values)


CASES = {
    "conv, relu": (lambda x: tf().nn.relu(tf().nn.conv2d(x, weights(3, 3, 4, 5), 2, "SAME") + weights(5)), [IMAGE]),
    "conv, no bias": (lambda x: tf().nn.conv2d(x, weights(3, 3, 4, 5), 1, "VALID"), [IMAGE]),
    "conv, dilated": (lambda x: tf().nn.conv2d(x, weights(3, 3, 4, 5), 1, "SAME", dilations=2), [IMAGE]),
    "depthwise, relu6": (
        lambda x: tf().nn.relu6(tf().nn.depthwise_conv2d(x, weights(3, 3, 4, 2), (1, 1, 1, 1), "SAME")),
        [IMAGE],
    ),
    "transposed conv": (lambda x: tf().nn.conv2d_transpose(x, weights(3, 3, 5, 4), (1, 16, 12, 5), 2, "SAME"), [IMAGE]),
    "dense": (lambda x: tf().matmul(x, weights(12, 7)) + weights(7), [VECTOR]),
    "matmul": (lambda x, y: tf().matmul(x, y), [MATRIX, (1, 6, 4)]),
    "average pool": (lambda x: tf().nn.avg_pool2d(x, 2, 2, "SAME"), [IMAGE]),
    "max pool": (lambda x: tf().nn.max_pool2d(x, 3, 2, "SAME"), [IMAGE]),
    "mean": (lambda x: tf().reduce_mean(x, [1, 2]), [IMAGE]),
    "maximum over axes": (lambda x: tf().reduce_max(x, [1, 2]), [IMAGE]),
    "minimum over an axis": (lambda x: tf().reduce_min(x, [3]), [IMAGE]),
    "add": (lambda x, y: x + y, [IMAGE, IMAGE]),
    "sub": (lambda x, y: x - y, [IMAGE, (4,)]),
    "mul": (lambda x, y: x * y, [IMAGE, IMAGE]),
    "maximum": (lambda x, y: tf().maximum(x, y), [IMAGE, IMAGE]),
    "minimum": (lambda x, y: tf().minimum(x, y), [IMAGE, IMAGE]),
    "leaky relu": (lambda x: tf().nn.leaky_relu(x, 0.2), [IMAGE]),
    "sigmoid": (lambda x: tf().sigmoid(x), [IMAGE]),
    "tanh": (lambda x: tf().tanh(x), [IMAGE]),
    "softmax": (lambda x: tf().nn.softmax(x), [VECTOR]),
    "exp": (lambda x: tf().exp(x), [VECTOR]),
    "log": (lambda x: tf().math.log(x * x + 1.0), [VECTOR]),
    "rsqrt": (lambda x: tf().math.rsqrt(x * x + 0.5), [VECTOR]),
    "abs": (lambda x: tf().abs(x), [VECTOR]),
    "gelu": (lambda x: tf().nn.gelu(x), [VECTOR]),
    "swish": (lambda x: tf().nn.silu(x), [VECTOR]),
    "concat": (lambda x, y: tf().concat([x, y * 3.0], -1), [IMAGE, IMAGE]),
    "split": (lambda x: list(tf().split(x, 2, -1)), [IMAGE]),
    "pad": (lambda x: tf().pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]]), [IMAGE]),
    "mirror pad": (lambda x: tf().pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT"), [IMAGE]),
    "slice": (lambda x: x[:, 1:7:2, ::-1, 1:3], [IMAGE]),
    "transpose": (lambda x: tf().transpose(x, [0, 3, 1, 2]), [IMAGE]),
    "gather": (lambda x: tf().gather(x, [3, 1, 1], axis=2), [IMAGE]),
    "resize, bilinear": (lambda x: tf().image.resize(x, [13, 9]), [IMAGE]),
    "resize, nearest": (lambda x: tf().image.resize(x, [16, 12], "nearest"), [IMAGE]),
    "stack": (lambda x, y: tf().stack([x, y], 1), [VECTOR, VECTOR]),
    "unstack": (lambda x: tf().unstack(x, axis=1)[:2], [IMAGE]),
    "broadcast": (lambda x: tf().broadcast_to(tf().expand_dims(x, 1), [1, 5, 12]), [VECTOR]),
    "reverse": (lambda x: tf().reverse(x, [1]), [VECTOR]),
}
# LiteRT's reference kernels do not run these, or not as the model means it.
OURS = {
    "sum": (lambda x: tf().reduce_sum(x, [1]), [IMAGE]),  # BUILTIN_REF gives -1; the optimised kernels agree with us
    "squared difference": (lambda x, y: tf().math.squared_difference(x, y), [IMAGE, IMAGE]),
    "pad with a value": (lambda x: tf().pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]], constant_values=0.5), [IMAGE]),
    "tile": (lambda x: tf().tile(x, [1, 2, 1, 3]), [IMAGE]),
    "where": (lambda x, y: tf().where(x < y, x, y), [VECTOR, VECTOR]),  # operands of two scales, copied by LiteRT
}


def compiled(graph, *, integer_only):
    """The graph as its kernels run it, and what they are."""
    options = pipeline.ConvertOptions(check=False, name="m", integer_only=integer_only)
    project = pipeline.compile_graph(graph, graph, options, None)
    return from_bytes(project.files["m.graphs"], "m.graphs")["quantised"], project.manifest["nodes"]


@pytest.mark.parametrize("name", CASES)
def test_equals_litert_in_integers(name):
    function, specs = CASES[name]
    model = tf_models.int16x8_model(function, specs)
    graph = pipeline.optimise(tf_models.agree(model, specs))
    compiled(graph, integer_only=True)


@pytest.mark.parametrize("name", OURS)
def test_is_what_the_model_means(name):
    """Within a step of real numbers, where there is nothing to be equal to."""
    function, specs = OURS[name]
    model = tf_models.int16x8_model(function, specs, fallback=True)
    graph = pipeline.optimise(tf_models.imported(model))
    feeds = dict(zip(graph.inputs, tf_models.random_feeds(graph, specs, 4, 1), strict=True))
    twin, _ = compiled(graph, integer_only=False)
    ours = run_integer(twin, feeds)[twin.outputs[0]]
    real = run_float(graph, {key: dequantise(array, graph.type(key)) for key, array in feeds.items()})
    kind = graph.type(graph.outputs[0])
    wanted = np.clip(np.rint(real[graph.outputs[0]] / kind.scale), -32768, 32767)
    assert np.abs(ours - wanted).max() <= 1


@pytest.mark.parametrize("name", ["conv, relu", "transposed conv", "dense"])
def test_biases_of_32_bits(name):
    """The converter's option: convolutions then round as int8 ones do."""
    function, specs = CASES[name]
    model = tf_models.int16x8_model(function, specs, bias32=True)
    graph = pipeline.optimise(tf_models.agree(model, specs, samples=12))
    compiled(graph, integer_only=True)
