"""Layers that the TensorFlow converter makes, float and int8: read, and equal to LiteRT's reference kernels."""

import numpy as np
import pytest

from tests.conformance import tf_models
from tests.conformance.tf_models import Spec, agree
from tinydeploy.ir import Elem

INT8 = ("float_model", "int8_model")


def normal(*shape: int):
    return np.random.default_rng(sum(shape)).normal(0, 0.4, shape).astype(np.float32)


def transposed(plane, kernel, stride, padding, depth=3, outputs=5, bias=True, relu=False):
    tf = tf_models.tensorflow()
    sizes = [n * s if padding == "SAME" else (n - 1) * s + k for n, s, k in zip(plane, stride, kernel, strict=True)]
    weights, offsets = tf.constant(normal(*kernel, outputs, depth)), tf.constant(normal(outputs))

    def fn(x):
        y = tf.nn.conv2d_transpose(x, weights, (1, *sizes, outputs), stride, padding)
        y = y + offsets if bias else y
        return tf.nn.relu(y) if relu else y

    return fn, [Spec((1, *plane, depth), low=-2.0, high=2.0)]


TRANSPOSED = [
    ((5, 4), (3, 3), (1, 1), "SAME"),
    ((5, 4), (3, 3), (2, 2), "SAME"),
    ((5, 4), (2, 3), (2, 1), "VALID"),
    ((3, 3), (2, 2), (3, 3), "SAME"),
    ((4, 6), (5, 4), (2, 3), "VALID", 7, 1),
    ((4, 6), (4, 4), (2, 2), "SAME", 4, 8, False),
    ((4, 6), (4, 4), (2, 2), "SAME", 1, 3, True, True),
]


@pytest.mark.parametrize("maker", INT8)
@pytest.mark.parametrize("given", TRANSPOSED, ids=str)
def test_transpose_conv(given, maker):
    fn, specs = transposed(*given)
    model = getattr(tf_models, maker)(fn, specs)
    assert "TRANSPOSE_CONV" in tf_models.kinds(model)
    agree(model, specs)


MATRICES = [
    ((1, 3, 4), (1, 4, 5), {}),
    ((2, 3, 4), (2, 5, 4), {"transpose_b": True}),
    ((2, 4, 3), (2, 4, 5), {"transpose_a": True}),
    ((2, 3, 4, 6), (1, 3, 6, 2), {}),
    ((1, 1, 4, 6), (2, 3, 6, 7), {}),
]


@pytest.mark.parametrize("maker", INT8)
@pytest.mark.parametrize("given", MATRICES, ids=str)
def test_batch_matmul(given, maker):
    tf = tf_models.tensorflow()
    a, b, options = given
    specs = [Spec(a, low=-2.0, high=1.0), Spec(b, low=-1.0, high=3.0)]
    model = getattr(tf_models, maker)(lambda x, y: tf.matmul(x, y, **options), specs)
    assert "BATCH_MATMUL" in tf_models.kinds(model)
    agree(model, specs)


def test_volumes():
    tf = tf_models.tensorflow()
    specs = [Spec((1, 5, 6, 7, 2))]
    weights, back = tf.constant(normal(2, 3, 3, 2, 4)), tf.constant(normal(3, 2, 3, 5, 2))
    for stride, padding in ((1, "SAME"), (2, "SAME"), (2, "VALID")):
        strides = (1, stride, stride, stride, 1)
        agree(tf_models.float_model(lambda x, s=strides, p=padding: tf.nn.conv3d(x, weights, s, p), specs), specs)
        sizes = [n * stride if padding == "SAME" else (n - 1) * stride + k for n, k in ((5, 3), (6, 2), (7, 3))]
        shape = (1, *sizes, 5)
        agree(
            tf_models.float_model(
                lambda x, o=shape, s=strides, p=padding: tf.nn.conv3d_transpose(x, back, o, s, p), specs
            ),
            specs,
        )


@pytest.mark.parametrize("maker", INT8)
def test_several_samples_and_dilation(maker):
    tf = tf_models.tensorflow()
    specs = [Spec((3, 9, 8, 4), low=-2.0, high=2.0)]
    weights, each = tf.constant(normal(3, 3, 4, 6)), tf.constant(normal(3, 3, 6, 2))

    def fn(x):
        y = tf.nn.conv2d(x, weights, 1, "SAME", dilations=2)
        y = tf.nn.depthwise_conv2d(y, each, (1, 1, 1, 1), "SAME", dilations=(2, 1))
        y = tf.nn.max_pool2d(y, 3, 2, "SAME")
        return tf.nn.avg_pool2d(y, 2, 2, "SAME")

    agree(getattr(tf_models, maker)(fn, specs), specs)


@pytest.mark.parametrize("maker", INT8)
def test_computed_weights(maker):
    tf = tf_models.tensorflow()
    specs = [Spec((4, 6)), Spec((6, 5))]
    agree(getattr(tf_models, maker)(lambda x, w: tf.matmul(x, w), specs), specs)
    specs = [Spec((1, 6, 6, 3)), Spec((3, 3, 3, 4))]
    if maker == "float_model":
        agree(tf_models.float_model(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), specs), specs)


def test_small_weights_under_float_activations():
    """Dynamic-range models: convolutions of every kind and a product keep int8 weights and agree with float LiteRT."""
    tf = tf_models.tensorflow()
    specs = [Spec((1, 8, 8, 16), low=-2.0, high=2.0)]
    first, each = tf.constant(normal(3, 3, 16, 32)), tf.constant(normal(6, 6, 32, 1))
    back, last = tf.constant(normal(3, 3, 24, 32)), tf.constant(normal(24, 48))

    def fn(x):
        y = tf.nn.relu(tf.nn.conv2d(x, first, 2, "SAME"))
        y = tf.nn.depthwise_conv2d(y, each, (1, 1, 1, 1), "SAME")
        y = tf.nn.conv2d_transpose(y, back, (1, 8, 8, 24), 2, "SAME")
        return tf.matmul(tf.reshape(y, (64, 24)), last)

    graph = agree(tf_models.dynrange_model(fn, specs), specs)
    small = [n.op.name for n in graph.nodes if len(n.inputs) > 1 and graph.type(str(n.inputs[1])).elem is Elem.S8]
    assert set(small) >= {"conv2d", "depthwise_conv2d", "transpose_conv2d"}
