"""The integer twin of the five MLPerf Tiny models against LiteRT's reference kernels: every tensor, bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import Reference
from tests.conftest import need_module, need_shared
from tinydeploy import frontends
from tinydeploy.ops.execute import run_float, run_integer


def bytes_as_int8(name):
    return (np.load(need_shared("data", name))["x"].astype(np.int16) - 128).astype(np.int8)


def quantised(name, key, kind):
    real = np.load(need_shared("data", name))[key].astype(np.float64)
    return np.clip(np.rint(real / kind.scale) + kind.zero_point, -128, 127).astype(np.int8)


DATA = {
    "kws": lambda _: np.load(need_shared("data", "kws01_mlperf_test1000_mfcc_int8.npz"))["x"],
    "ic_resnet8": lambda _: bytes_as_int8("ic01_mlperf_test200_uint8.npz"),
    "vww": lambda _: bytes_as_int8("vww01_mlperf460_uint8.npz"),
    "ad": lambda kind: quantised("ad01_calib500_float16.npz", "x", kind),
    "sww": lambda kind: quantised("sww_calibration_samples.npz", "specs", kind),
}


def load(model):
    path = need_shared("models", "mlperf_tiny", f"{model}_int8.tflite")
    return path, frontends.load(path)


def samples(model, graph, real, random):
    """Real inputs, evenly chosen, then random ones: [n, ...shape] int8."""
    kind = graph.type(graph.inputs[0])
    data = DATA[model](kind).reshape(-1, *kind.shape)
    chosen = data[np.linspace(0, len(data) - 1, min(real, len(data)), dtype=int)]
    noise = np.random.default_rng(0).integers(-128, 128, (random, *kind.shape)).astype(np.int8)
    return np.concatenate([chosen, noise])


def check(model, real, random):
    need_module("ai_edge_litert")
    path, graph = load(model)
    x = samples(model, graph, real, random)
    ours = run_integer(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    reference = Reference(path)
    theirs = np.stack([reference(sample)[0] for sample in x])
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("model", DATA)
def test_some_samples(model):
    check(model, 8, 4)


@pytest.mark.slow
@pytest.mark.parametrize("model", DATA)
def test_every_sample_and_a_hundred_random_ones(model):
    check(model, 1000, 100)


@pytest.mark.parametrize("model", DATA)
def test_every_tensor_between(model):
    """Equal outputs could hide unequal insides: compare each activation by its name in the file."""
    need_module("ai_edge_litert")
    path, graph = load(model)
    reference = Reference(path, every_tensor=True)
    tensors = {detail["name"]: detail for detail in reference.interpreter.get_tensor_details()}
    inner = [name for node in graph.nodes for name in node.outputs if name in tensors]
    assert len(inner) >= len(graph.nodes) - 1
    for sample in samples(model, graph, 1, 1):
        ours = run_integer(graph, {graph.inputs[0]: sample[None]}, keep=inner)
        reference(sample)
        for name in inner:
            theirs = reference.interpreter.get_tensor(tensors[name]["index"])
            np.testing.assert_array_equal(ours[name][0].ravel(), theirs.ravel(), err_msg=name)


@pytest.mark.parametrize("model", ["kws", "ic_resnet8"])
def test_real_numbers_stay_near_the_integers(model):
    """On a quantised graph `run_float` means the dequantised constants and no rounding: the classes agree."""
    _, graph = load(model)
    x = samples(model, graph, 40, 0)
    name, out = graph.inputs[0], graph.outputs[0]
    kind = graph.type(name)
    integer = run_integer(graph, {name: x})[out]
    real = run_float(graph, {name: (x.astype(np.float32) - kind.zero_point) * np.float32(kind.scale)})[out]
    assert (integer.argmax(axis=-1) == real.argmax(axis=-1)).mean() > 0.9
