"""Transposes and reshapes move through operators that work element by element; clamps of plain integers stay."""

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy.frontends._common import Builder, make
from tinydeploy.ir import Elem, Graph, Type
from tinydeploy.ops.execute import run_integer
from tinydeploy.passes import optimise


def first(maker):
    """A channels-first value made by a convolution."""
    return maker.to_first(maker.conv(maker.to_last(maker.input(1, 3, 8, 9)), 4))


@pytest.mark.parametrize("operator", ["hard_swish", "gelu", "sqrt", "sin", "leaky_relu", "round"])
def test_through_one_input(operator):
    maker = Maker()
    y = maker.op(operator, first(maker))
    graph = maker.done(maker.to_first(maker.conv(maker.to_last(y), 3, 1)))
    assert operators(apply(graph, "channels_last")) == ["transpose", "conv2d", operator, "conv2d", "transpose"]


@pytest.mark.parametrize("operator", ["prelu", "maximum", "squared_difference", "atan2"])
def test_through_two_inputs_of_which_one_is_constant(operator):
    maker = Maker()
    graph = maker.done(maker.op(operator, first(maker), maker.random(4, 1, 1)))
    after = apply(graph, "channels_last")
    assert operators(after) == ["transpose", "conv2d", operator, "transpose"]
    assert_same(graph, after)


def test_through_select():
    maker = Maker()
    y = first(maker)
    graph = maker.done(maker.op("select", maker.op("greater", y, maker.random(4, 1, 1)), y, maker.random(1)))
    after = apply(graph, "channels_last")
    assert operators(after) == ["transpose", "conv2d", "greater", "select", "transpose"]
    assert_same(graph, after)


@pytest.mark.parametrize("elem", [Elem.S32, Elem.F32])
def test_only_sums_with_a_clamp_of_their_own_take_one(elem):
    builder = Builder(Graph("sum"))
    kind = Type((1, 4), elem)
    names = [builder.value(name, kind) for name in "ab"]
    (total,) = builder.node(make("add"), names, stem="add", origin="")
    (result,) = builder.node(make("clamp", low=0.0, high=6.0), [total], stem="clamp", origin="")
    graph = builder.finish()
    graph.inputs, graph.outputs = names, [result]
    after = optimise(graph)
    assert operators(after) == (["add"] if elem is Elem.F32 else ["add", "clamp"])
    a, b = np.array([[[1, 5, -9, 3]]], elem.dtype), np.array([[[2, 5, 1, -2]]], elem.dtype)
    np.testing.assert_array_equal(run_integer(after, {"a": a, "b": b})[result], [[[3, 6, 0, 1]]])
