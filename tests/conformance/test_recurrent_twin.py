"""TFLite's recurrent operators against LiteRT over several runs: integers bit for bit, floats closely."""

import numpy as np
import pytest

from tests.conformance import recurrent_models as models
from tests.conformance.recurrent_models import Sizes
from tests.conformance.tflite_build import Reference
from tests.conftest import need_module
from tinydeploy import frontends
from tinydeploy.frontends.tflite_hybrid import for_litert
from tinydeploy.ir import Elem, Graph
from tinydeploy.ops.execute import run_float, run_integer

RUNS = 6


def compare(model: bytes, folder, seed: int = 0) -> Graph:
    """Run the model and our import of it with the states passing from run to run; return that."""
    (folder / "model.tflite").write_bytes(model)
    graph = frontends.load(folder / "model.tflite")
    (name,) = graph.inputs
    kind = graph.type(name)
    rng = np.random.default_rng(seed)
    integer = kind.elem is Elem.S8
    if integer:
        steps = rng.integers(-128, 128, (RUNS, *kind.shape)).astype(np.int8)
    else:
        steps = rng.normal(0, 1, (RUNS, *kind.shape)).astype(np.float32)
    reference = Reference(for_litert(model, "model") or model)
    want = [reference(step) for step in steps]
    ours = (run_integer if integer else run_float)(graph, {name: steps[None]}, steps=True)
    for index, output in enumerate(graph.outputs):
        theirs = np.stack([row[index] for row in want])
        if integer:
            np.testing.assert_array_equal(ours[output][0], theirs)
            assert len(np.unique(theirs)) > 2
        else:
            np.testing.assert_allclose(ours[output][0], theirs, rtol=1e-5, atol=1e-5)
    return graph


@pytest.fixture(autouse=True)
def needs_litert():
    need_module("ai_edge_litert")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"time_major": True, "cell_clip": 0.4},
        {"peephole": True, "cell_clip": 0.4},
        {"coupled": True},
        {"coupled": True, "peephole": True},
        {"activation": "RELU"},
        {"small": True},
        {"kind": "LSTM", "cell_clip": 0.4, "peephole": True},
        {"kind": "LSTM", "small": True},
        {"small": True, "coupled": True},
    ],
    ids=str,
)
def test_float_lstm(tmp_path, options):
    compare(models.float_lstm(np.random.default_rng(1), Sizes(batch=2), **options), tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"time_major": True, "cell_clip": 0.4},
        {"cell_bits": 15, "weight_scale": 0.003},
        {"cell_bits": 12, "hidden_zero": 0, "input_zero": 127},
        {"cell_bits": 9, "hidden_zero": -100, "input_zero": -128, "weight_scale": 0.2},
        {"cell_clip": 10.0, "weight_scale": 0.0005},
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", [Sizes(), Sizes(2, 7, 20, 9), Sizes(1, 30, 1, 1)], ids=str)
def test_integer_lstm(tmp_path, sizes, options):
    compare(models.integer_lstm(np.random.default_rng(1), sizes, **options), tmp_path)


@pytest.mark.parametrize("activation", ["TANH", "RELU", "NONE"])
@pytest.mark.parametrize("kind", ["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"])
def test_rnn(tmp_path, kind, activation):
    compare(models.simple_rnn(np.random.default_rng(1), Sizes(batch=2), kind, activation=activation), tmp_path)


@pytest.mark.parametrize("kind", ["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"])
def test_small_weights_stay_small(tmp_path, kind):
    graph = compare(models.simple_rnn(np.random.default_rng(1), Sizes(batch=2), kind, small=True), tmp_path)
    assert any("dynamic-range" in text for text in graph.warnings)
    layer = next(node for node in graph.nodes if node.op.name == "rnn")
    assert [graph.type(name).elem for name in layer.inputs[1:3]] == [Elem.S8, Elem.S8]


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_bidirectional(tmp_path, time_major, merge):
    rng, options = np.random.default_rng(1), {"time_major": time_major, "merge": merge}
    # LiteRT mixes up the states of samples where it merges outputs that have the batch first.
    batch = 1 if merge and not time_major else 2
    compare(models.bidirectional_lstm(rng, Sizes(batch=batch), **options), tmp_path)
    compare(models.simple_rnn(rng, Sizes(batch=2), "BIDIRECTIONAL_SEQUENCE_RNN", **options), tmp_path)


@pytest.mark.parametrize(("integer", "activation"), [(False, "NONE"), (False, "RELU"), (True, "RELU")])
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("bias", [False, True])
def test_svdf(tmp_path, rank, integer, bias, activation):
    sizes, rng = Sizes(2, 5, 6, 4), np.random.default_rng(1)
    compare(models.svdf(rng, sizes, rank=rank, integer=integer, bias=bias, activation=activation), tmp_path)
