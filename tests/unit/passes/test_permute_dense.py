"""permute_dense."""

from __future__ import annotations

import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy import passes


@pytest.mark.parametrize("batch", [1, 2])
def test_flattened_input(batch: int) -> None:
    make = Maker()
    x = make.op("tanh", make.input(batch, 4, 5, 3))
    flat = make.op("reshape", make.to_first(x), shape=(batch, 60))
    graph = make.done(make.dense(flat, 7), make.dense(flat, 2))
    after = apply(graph, "permute_dense")
    assert "transpose" not in operators(after)
    assert len(passes.optimise(graph).nodes) == 4


@pytest.mark.parametrize("bias", [True, False])
def test_folded_output(bias: bool) -> None:
    make = Maker()
    x = make.dense(make.input(1, 7), 60, bias)
    y = make.to_last(make.op("reshape", x, shape=(1, 3, 4, 5)))
    graph = make.done(make.conv(y, 2, 1))
    after = apply(graph, "permute_dense")
    assert operators(after) == ["fully_connected", "reshape", "conv2d"]


def test_a_moved_batch_is_left() -> None:
    make = Maker()
    x = make.op("transpose", make.op("tanh", make.input(3, 2, 5)), perm=(1, 0, 2))
    apply(make.done(make.dense(make.op("reshape", x, shape=(2, 15)), 4)), "permute_dense", changes=False)


def test_activation_and_dropped_normalisation_between() -> None:
    make = Maker()
    x = make.conv(make.input(1, 5, 5, 2), 3)
    flat = make.op("reshape", make.to_first(x), shape=(1, 27))
    graph = make.done(make.dense(make.relu(make.op("mul", flat, make.random(27))), 4))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert "transpose" not in operators(after)
