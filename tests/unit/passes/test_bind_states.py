"""bind_states."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker
from tinydeploy import passes
from tinydeploy.errors import UsageError
from tinydeploy.ir import Elem, Graph, Quant
from tinydeploy.ir.verify import verify
from tinydeploy.ops.execute import run_float
from tinydeploy.passes.bind_states import bind_states


def filter_graph() -> Graph:
    """h_out = tanh(x + 0.5 h_in), y = 2 h_out."""
    make = Maker()
    x, h_in = make.input(1, 3), make.input(1, 3)
    h_out = make.op("tanh", make.op("add", x, make.op("mul", h_in, make.constant(np.float32(0.5)))))
    return make.done(make.op("mul", h_out, make.constant(np.float32(2))), h_out)


def test_a_pair_becomes_a_state() -> None:
    graph = filter_graph()
    (x, h_in), (y, h_out) = graph.inputs, graph.outputs
    bound = bind_states(graph, {h_in: h_out})
    verify(bound)
    assert (bound.inputs, bound.outputs) == ([x], [y])
    assert graph.inputs == [x, h_in], "the given graph is not changed"
    feeds = np.random.default_rng(0).normal(size=(2, 4, 1, 3)).astype(np.float32)
    state = np.zeros((2, 1, 3), np.float32)
    want = []
    for step in range(4):
        state = np.tanh(feeds[:, step] + np.float32(0.5) * state)
        want.append(2 * state)
    for version in (bound, passes.optimise(bound)):
        have = run_float(version, {x: feeds}, steps=True)[y]
        np.testing.assert_allclose(have, np.stack(want, axis=1), atol=1e-6)


def test_quantised_states_begin_at_the_zero_point() -> None:
    graph = filter_graph()
    for name in (graph.inputs[1], graph.outputs[1]):
        kind = graph.type(name)
        graph.values[name].type = dataclasses.replace(kind, elem=Elem.S8, quant=Quant.per_tensor(0.1, 7))
    bound = bind_states(graph, {graph.inputs[1]: graph.outputs[1]})
    assert bound.states[0].initial.dtype == np.int8
    assert np.all(bound.states[0].initial == 7)


def test_every_wrong_pair_is_named() -> None:
    graph = filter_graph()
    (x, h_in), (y, h_out) = graph.inputs, graph.outputs
    with pytest.raises(UsageError) as caught:
        bind_states(graph, {"nobody": h_out, x: "nothing"})
    assert "nobody" in str(caught.value)
    assert "nothing" in str(caught.value)
    with pytest.raises(UsageError, match="twice"):
        bind_states(graph, {x: h_out, h_in: h_out})
    graph.values[y].type = graph.type(y).with_shape((3,))
    with pytest.raises(UsageError, match="the same shape"):
        bind_states(graph, {x: y})
