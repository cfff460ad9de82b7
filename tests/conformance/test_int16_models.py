"""int16x8 models: single layers of SEANet, and the five MLPerf Tiny networks as TensorFlow quantises them to int16.

The twin equals LiteRT's reference kernels in every bit, and the C equals the twin.
"""

import numpy as np
import pytest

from tests.conformance.tflite_build import Reference
from tests.conftest import SHARED, need_module, need_shared, need_tool
from tinydeploy import pipeline
from tinydeploy.ir import Elem
from tinydeploy.ops.execute import run_integer
from tinydeploy.validation.oracle import run_oracle

LAYERS = sorted(path.name for path in (SHARED / "models" / "tflm" / "seanet_ops").glob("*.tflite"))
NETWORKS = ("ad", "ic_resnet8", "kws", "sww", "vww")
# File, array and factor to the model's real input.
DATA = {
    "ad": ("ad01_calib500_float16.npz", "x", 1.0),
    "ic_resnet8": ("ic01_mlperf_test200_uint8.npz", "x", 1.0),
    "kws": ("kws_calib120_mfcc_float16.npz", "x", 1.0),
    "sww": ("sww_calibration_samples.npz", "specs", 1.0),
    "vww": ("vww01_calib40_uint8.npz", "x", 1 / 255),
}


def layer(name):
    return need_shared("models", "tflm", "seanet_ops", name)


def network(name):
    return need_shared("models", "ptq_tf", f"{name}_int16x8.tflite")


def random_feeds(graph, samples):
    """Uniform over the whole range, then narrower ones; the output's shape where it is an input."""
    rng = np.random.default_rng(0)
    feeds = {}
    for name in graph.inputs:
        kind = graph.type(name)
        low, high = kind.elem.limits
        if kind.quant is None:
            assert kind.shape == (4,)
            feeds[name] = np.tile(np.array(graph.type(graph.outputs[0]).shape, kind.elem.dtype), (samples, 1))
            continue
        values = rng.integers(low, high, (samples, *kind.shape), endpoint=True)
        half = samples // 2
        values[half:] = np.clip(rng.normal(0, (high - low) / 12, values[half:].shape), low, high)
        feeds[name] = values.astype(kind.elem.dtype)
    return feeds


def assert_equal(path, graph, feeds):
    need_module("ai_edge_litert")
    ours = run_integer(graph, feeds)
    reference = Reference(path)
    for sample in range(len(next(iter(feeds.values())))):
        theirs = reference(*(feeds[name][sample] for name in graph.inputs))
        for name, array in zip(graph.outputs, theirs, strict=True):
            np.testing.assert_array_equal(ours[name][sample], array.reshape(ours[name].shape[1:]))


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_equals_litert(name):
    graph = pipeline.optimise(pipeline.load(layer(name)))
    assert_equal(layer(name), graph, random_feeds(graph, 4))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_equals_litert_on_random_inputs(name):
    graph = pipeline.optimise(pipeline.load(network(name)))
    assert_equal(network(name), graph, random_feeds(graph, 4))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_equals_litert_on_real_inputs(name):
    graph = pipeline.optimise(pipeline.load(network(name)))
    kind = graph.type(graph.inputs[0])
    file, key, factor = DATA[name]
    real = np.load(need_shared("data", file))[key][:8].astype(np.float64) * factor
    x = np.clip(np.rint(real / kind.scale), -32768, 32767).astype(np.int16).reshape(-1, *kind.shape)
    assert np.abs(x).max() > 3000  # the data are of the scale the model was made for
    assert_equal(network(name), graph, {graph.inputs[0]: x})


def converted(path, folder):
    """A folder made of a file, all of whose kernels are integer ones."""
    need_tool("gcc")
    options = pipeline.ConvertOptions(check=False, integer_only=True, name="m")
    pipeline.convert(pipeline.load(path), path, options).write(folder)
    opened = pipeline.open_folder(folder)
    assert opened.manifest["scheme"] == "int16x8"
    return opened


@pytest.mark.parametrize(
    "stem", ["add1", "conv0", "conv10", "leaky_relu3", "pad1", "quantize0", "strided_slice0", "sub2"]
)
def test_a_layer_in_c(stem, tmp_path):
    opened = converted(layer(f"{stem}.tflite"), tmp_path / "m")
    assert opened.manifest["outputs"][0]["dtype"] == "int16"
    samples = pipeline.evaluation_data(opened, None, random_samples=3)
    assert pipeline.validate(opened, "host", samples, sanitize=True)["bit_exact"]


@pytest.mark.parametrize("stem", ["transpose_conv1", "transpose_conv3"])
def test_a_transposed_convolution_in_c(stem, tmp_path):
    """Its output's shape is an input of the model that nothing reads."""
    opened = converted(layer(f"{stem}.tflite"), tmp_path / "m")
    assert any("shape" in text for text in opened.manifest["warnings"])
    samples = pipeline.evaluation_data(opened, None, random_samples=3)
    assert pipeline.validate(opened, "host", samples, sanitize=True)["bit_exact"]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_in_c(name, tmp_path):
    opened = converted(network(name), tmp_path / "m")
    assert opened.quantised.type(opened.quantised.inputs[0]).elem is Elem.S16
    samples = pipeline.evaluation_data(opened, None, random_samples=2)
    assert pipeline.validate(opened, "host", samples)["bit_exact"]


@pytest.mark.parametrize("name", ["kws", "sww"])
def test_a_network_on_an_emulated_core(name, tmp_path):
    need_tool("arm-none-eabi-gcc")
    need_tool("qemu-system-arm")
    opened = converted(network(name), tmp_path / "m")
    samples = pipeline.evaluation_data(opened, None, random_samples=1)
    result = pipeline.validate(opened, "mps2-an386", samples, profile=False)
    assert result["bit_exact"]


def qdq(name):
    return need_shared("models", "ort_quantised", f"{name}_qdq_int16act.onnx")


@pytest.mark.parametrize("name", ["ic_resnet8", "kws"])
def test_sixteen_bit_qdq_is_near_onnx_runtime(name):
    """uint16 activations with zero points: all layers in integers, softmax in float.

    ONNX Runtime computes each layer in float32, where the order of sums decides which way a tie falls; nine layers
    later that is some tens of the 65,535 steps of a probability. Layer by layer it is one step, as the next test shows.
    """
    need_module("onnxruntime")
    graph = pipeline.optimise(pipeline.load(qdq(name)))
    between = [node.op.name for node in graph.nodes if graph.type(node.outputs[0]).elem is Elem.F32]
    assert set(between) == {"dequantize", "reshape", "softmax"}
    kind = graph.type(graph.inputs[0])
    file, key, _ = DATA[name]
    x = np.load(need_shared("data", file))[key][:12].astype(np.float32).reshape(-1, *kind.shape)
    ours = run_integer(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    theirs = run_oracle(qdq(name), {graph.inputs[0]: x})[0].reshape(ours.shape)
    assert np.abs(ours - theirs).max() < 1e-3
    np.testing.assert_array_equal(ours.argmax(axis=-1), theirs.argmax(axis=-1))


@pytest.mark.parametrize("name", ["ic_resnet8", "kws"])
def test_every_sixteen_bit_layer_is_within_a_step_of_real_numbers(name):
    """Each integer layer on its own inputs, against the same in float64."""
    graph = pipeline.optimise(pipeline.load(qdq(name)))
    layers = [
        node for node in graph.nodes if graph.type(node.outputs[0]).quant is not None and node.op.name != "quantize"
    ]
    kind = graph.type(graph.inputs[0])
    file, key, _ = DATA[name]
    x = np.load(need_shared("data", file))[key][:2].astype(np.float32).reshape(-1, *kind.shape)
    values = run_integer(graph, {graph.inputs[0]: x}, keep=[n for v in layers for n in (*v.inputs, *v.outputs) if n])

    def real(name, sample):
        kind = graph.type(name)
        data = graph.constant(name)
        stored = (values[name][sample] if data is None else data).astype(np.float64)
        quant = kind.quant
        return (stored - quant.broadcast(quant.zero_points(), kind.rank)) * quant.broadcast(quant.scales(), kind.rank)

    assert len(layers) >= 10
    for node in layers:
        out = graph.type(node.outputs[0])
        for sample in range(len(x)):
            (result,) = node.op.reference(*(None if name is None else real(name, sample) for name in node.inputs))
            wanted = np.clip(np.rint(result / out.scale) + out.zero_point, -32768, 32767)
            steps = np.abs(values[node.outputs[0]][sample] - wanted)
            assert steps.max() <= 1, node.name
            assert steps.mean() < 0.05, node.name


@pytest.mark.parametrize("name", ["ic_resnet8", "kws"])
def test_sixteen_bit_qdq_in_c(name, tmp_path):
    need_tool("gcc")
    options = pipeline.ConvertOptions(check=False, name="m")
    pipeline.convert(pipeline.load(qdq(name)), qdq(name), options).write(tmp_path / "m")
    opened = pipeline.open_folder(tmp_path / "m")
    assert opened.manifest["scheme"] == "int16x8"
    samples = pipeline.evaluation_data(opened, None, random_samples=2)
    assert pipeline.validate(opened, "host", samples)["bit_exact"]
