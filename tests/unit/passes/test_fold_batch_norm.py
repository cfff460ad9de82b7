"""fold_batch_norm and expand_batch_norm."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy import passes


def host(make: Maker, kind: str, bias: bool = True) -> str:
    x = make.input(1, 6, 6, 4)
    match kind:
        case "conv":
            return make.conv(x, 6, bias=bias)
        case "grouped":
            return make.conv(x, 6, bias=bias, groups=2)
        case "depthwise":
            return make.depthwise(x, multiplier=2)
    return make.dense(x, 5, bias)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["conv", "grouped", "depthwise", "dense"])
def test_behind_its_host(kind: str, bias: bool) -> None:
    make = Maker()
    graph = make.done(make.relu(make.batch_norm(host(make, kind, bias))))
    assert len(apply(graph, "fold_batch_norm").nodes) == 2
    assert len(passes.optimise(graph).nodes) == 1


@pytest.mark.parametrize("kind", ["conv", "grouped", "depthwise", "dense"])
def test_before_its_host(kind: str) -> None:
    make = Maker()
    x = make.batch_norm(make.relu(make.input(1, 6, 6, 4)))
    match kind:
        case "conv":
            y = make.conv(x, 6, bias=False)
        case "grouped":
            y = make.conv(x, 6, groups=2)
        case "depthwise":
            y = make.depthwise(x, multiplier=2)
        case _:
            y = make.dense(x, 5)
    assert operators(apply(make.done(y), "fold_batch_norm"))[0] == "clamp"
    assert len(passes.optimise(make.done(y)).nodes) == 2


def test_a_shift_does_not_cross_padding() -> None:
    make = Maker()
    x = make.batch_norm(make.relu(make.input(1, 6, 6, 4)))
    graph = make.done(make.conv(x, 6, padding=(1, 1, 1, 1)))
    apply(graph, "fold_batch_norm", changes=False)
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["clamp", "depthwise_conv2d", "conv2d"]


def test_a_result_used_twice_is_left() -> None:
    make = Maker()
    x = make.conv(make.input(1, 6, 6, 4), 4)
    apply(make.done(make.batch_norm(x), x), "fold_batch_norm", changes=False)


def test_standing_alone() -> None:
    make = Maker()
    plane, line = make.input(1, 4, 4, 3), make.input(1, 5)
    graph = make.done(make.relu(make.batch_norm(plane)), make.batch_norm(line))
    assert operators(apply(graph, "expand_batch_norm")) == ["depthwise_conv2d", "clamp", "mul", "add"]
    assert operators(passes.optimise(graph)) == ["depthwise_conv2d", "mul", "add"]


def test_existing_bias_is_scaled_and_large_means_cancel() -> None:
    """The bias and the mean are near 1e4, their difference near 1: one rounding, not two."""
    make = Maker()
    x = make.input(1, 4)
    bias = make.constant(np.float64([10000.0, -20000.0]) + 0.5)
    y = make.op("fully_connected", x, make.random(2, 4), bias)
    one, mean = make.constant(np.ones(2)), make.constant(np.float64([10000.0, -20000.0]))
    graph = make.done(make.op("batch_norm", y, one, make.constant(np.zeros(2)), mean, one, epsilon=0.0))
    after = passes.optimise(graph)
    np.testing.assert_array_equal(after.constant(after.nodes[0].inputs[2]), np.float32([0.5, 0.5]))


def test_broken_statistics_are_left() -> None:
    make = Maker()
    x = make.conv(make.input(1, 6, 6, 4), 2)
    vector, negative = make.random(2), make.constant(np.float32([-1, 1]))
    graph = make.done(make.op("batch_norm", x, vector, vector, vector, negative))
    for name in ("fold_batch_norm", "expand_batch_norm"):
        after = graph.copy()
        module = __import__(f"tinydeploy.passes.{name}", fromlist=["run"])
        assert module.run(after) is False
        module.ensures(after)
