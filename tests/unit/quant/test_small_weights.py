"""Layers that stay in float keep their matrices as int8 with a scale a row, where their kernels take that."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker
from tinydeploy.ir import Elem, Graph
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.quant import quantise


def layer(operator: str, *, computed: bool = False) -> Graph:
    """A recurrent layer between two dense ones."""
    make, gates = Maker(), {"lstm": 4, "gru": 3, "rnn": 1}[operator]
    x = make.op("fully_connected", make.input(5, 1, 3), make.random(4, 3), None)
    weights = make.random(gates * 6, 4, scale=0.5)
    weights = make.op("clamp", weights, low=-9.0, high=9.0) if computed else weights
    y = make.op(operator, x, weights, make.random(gates * 6, 6, scale=0.5), make.random(2 * gates * 6))
    return make.done(make.op("fully_connected", y, make.random(2, 6), None))


def quantised(graph: Graph) -> tuple[Graph, dict[str, np.ndarray]]:
    """The graph in int8, and the data that its ranges come from."""
    data = {"x": np.random.default_rng(1).normal(size=(64, 5, 1, 3)).astype(np.float32)}
    return quantise(graph, "int8", data), data


@pytest.mark.parametrize("operator", ["lstm", "gru", "rnn"])
def test_matrices_become_small(operator: str) -> None:
    graph = layer(operator)
    result, data = quantised(graph)
    node = next(node for node in result.nodes if node.op.name == operator)
    for name in node.inputs[1:3]:
        kind = result.type(str(name))
        assert kind.elem is Elem.S8
        assert kind.quant is not None
        assert kind.quant.axis == 0
    assert result.type(str(node.inputs[3])).elem is Elem.F32
    kind = result.type("x")
    integers = np.clip(np.rint(data["x"] / kind.scale) + kind.zero_point, -128, 127).astype(np.int8)
    (name,) = graph.outputs
    have, want = run_integer(result, {"x": integers})[name], run_float(graph, data)[name]
    out = result.type(name)
    assert np.abs((have.astype(np.float64) - out.zero_point) * out.scale - want).max() < 0.1 * np.abs(want).max()


def test_both_stay_where_one_is_computed() -> None:
    result, _ = quantised(layer("lstm", computed=True))
    node = next(node for node in result.nodes if node.op.name == "lstm")
    assert [result.type(str(name)).elem for name in node.inputs[1:3]] == [Elem.F32, Elem.F32]


def test_a_row_of_zeros_has_a_scale() -> None:
    graph = layer("rnn")
    node = next(node for node in graph.nodes if node.op.name == "rnn")
    value = graph.values[str(node.inputs[2])]
    assert value.data is not None
    value.data = value.data.copy()
    value.data[2] = 0
    result, _ = quantised(graph)
    kind = result.type(str(next(node for node in result.nodes if node.op.name == "rnn").inputs[2]))
    assert kind.quant is not None
    assert min(kind.quant.scale) > 0
