"""Passes leave every bit of a quantised graph as it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.conftest import need_shared
from tests.unit.passes.graphs import Maker, operators
from tinydeploy import frontends, passes
from tinydeploy.ir import Array, Elem, Graph, Quant
from tinydeploy.ops.execute import run_integer

MODELS = (
    "mlperf_tiny/ad_int8",
    "mlperf_tiny/ic_resnet8_int8",
    "mlperf_tiny/kws_int8",
    "mlperf_tiny/sww_int8",
    "tflm/hello_world_int8",
    "tflm/micro_speech_quantized",
    "tflm/simple_add_model",
)


def integers(graph: Graph) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    kinds = {name: graph.type(name) for name in graph.inputs}
    return {
        name: rng.integers(*kind.elem.limits, size=(3, *kind.shape), endpoint=True).astype(kind.elem.dtype)
        for name, kind in kinds.items()
    }


def assert_same_bits(graph: Graph) -> Graph:
    better = passes.optimise(graph)
    feeds = integers(graph)
    have, want = run_integer(better, feeds), run_integer(graph, feeds)
    assert better.outputs == graph.outputs
    for name, expected in want.items():
        np.testing.assert_array_equal(have[name], expected)
        assert better.type(name) == graph.type(name)
    return better


@pytest.mark.parametrize("name", MODELS)
def test_tflite_models(name: str) -> None:
    graph = frontends.load(need_shared("models", *f"{name}.tflite".split("/")))
    assert_same_bits(graph)


def quantised(graph: Graph, scales: dict[str, Quant]) -> Graph:
    """Give every value int8 and one scale, or its own of ``scales``; constants are small integers."""
    rng = np.random.default_rng(5)
    for name, value in graph.values.items():
        value.type = dataclasses.replace(value.type, elem=Elem.S8, quant=scales.get(name, Quant.per_tensor(0.05, -3)))
        if value.data is not None:
            value.data = rng.integers(-100, 100, value.data.shape).astype(np.int8)
    return graph


def test_transposes_move_and_pads_fold_without_a_change() -> None:
    make = Maker()
    x = make.input(1, 3, 7, 6)
    y = make.to_first(make.op("max_pool2d", make.to_last(x), kernel=(2, 2)))
    y = make.op("add", y, make.random(3, 1, 1))
    y = make.op("pad", make.relu(y, 3.0), padding=((0, 0), (0, 0), (1, 0), (0, 2)))
    y = make.op("concat", y, make.to_first(make.to_last(y)), axis=1)
    y = make.op(
        "reshape", make.op("strided_slice", y, begin=(0, 1, 0, 0), end=(1, 6, 7, 7), stride=(1, 2, 1, 3)), shape=(1, 63)
    )
    weights = make.random(4, 63)
    graph = make.done(make.op("fully_connected", y, weights, None))
    symmetric = Quant.per_channel([0.01, 0.02, 0.03, 0.04], 0)
    better = assert_same_bits(quantised(graph, {weights: symmetric, graph.outputs[0]: Quant.per_tensor(2.0)}))
    assert operators(better).count("transpose") == 1


def test_scales_that_change_are_kept_apart() -> None:
    """Rescaling clamps, pads and reshapes are work of their own."""
    make = Maker()
    x = make.input(1, 4, 4, 3)
    y = make.op("max_pool2d", x, kernel=(2, 2))
    z = make.relu(y, 3.0)
    graph = quantised(make.done(make.op("clamp", z)), {z: Quant.per_tensor(0.02, 4)})
    assert operators(assert_same_bits(graph)) == ["max_pool2d", "clamp", "clamp"]
