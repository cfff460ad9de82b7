"""sink_reshape."""

from __future__ import annotations

import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy import passes


def line(make: Maker) -> str:
    """The result of a 1-D convolution: [1, W, C]."""
    x = make.op("reshape", make.input(1, 9, 3), shape=(1, 1, 9, 3))
    return make.op("reshape", make.conv(x, 4, 1), shape=(1, 9, 4))


@pytest.mark.parametrize("operator", ["clamp", "logistic", "tanh"])
def test_behind_one_operand(operator: str) -> None:
    make = Maker()
    graph = make.done(make.op(operator, line(make)))
    assert operators(apply(graph, "sink_reshape")) == ["reshape", "conv2d", operator, "reshape"]


@pytest.mark.parametrize("shape", [(), (4,), (1, 4), (1, 1, 1), (1, 9, 4)])
def test_behind_a_constant_operand(shape: tuple[int, ...]) -> None:
    make = Maker()
    graph = make.done(make.op("sub", make.random(*shape), line(make)))
    assert operators(apply(graph, "sink_reshape")) == ["reshape", "conv2d", "sub", "reshape"]


def test_a_constant_along_another_axis_stops_it() -> None:
    make = Maker()
    apply(make.done(make.op("add", line(make), make.random(9, 1))), "sink_reshape", changes=False)


def test_behind_two_reshapes() -> None:
    make = Maker()
    x = make.op("tanh", make.input(2, 6))
    a, b = make.op("reshape", x, shape=(3, 4)), make.op("reshape", make.op("logistic", x), shape=(3, 4))
    graph = make.done(make.op("add", a, b))
    assert operators(apply(graph, "sink_reshape")) == ["tanh", "logistic", "add", "reshape"]


def test_behind_the_last_axis() -> None:
    make = Maker()
    graph = make.done(make.dense(make.batch_norm(line(make)), 5))
    after = apply(graph, "sink_reshape")
    assert operators(after) == ["reshape", "conv2d", "batch_norm", "fully_connected", "reshape"]


def test_a_1d_network_becomes_a_2d_one() -> None:
    make = Maker()
    x = make.relu(make.batch_norm(line(make)))
    y = make.conv(make.op("reshape", x, shape=(1, 1, 9, 4)), 2, 1)
    graph = make.done(make.op("reshape", y, shape=(1, 9, 2)))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["reshape", "conv2d", "conv2d", "reshape"]
