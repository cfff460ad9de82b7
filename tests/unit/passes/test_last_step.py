"""last_step: recurrent layers keep only what is read of their steps."""

from __future__ import annotations

import pytest

from tests.unit.passes.graphs import Maker, apply
from tinydeploy.ir import Graph

STEPS, HIDDEN = 5, 4


def layer(make: Maker, operator: str, batch: int = 1) -> tuple[str, ...]:
    """The outputs of a layer with random weights."""
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[operator]
    weights = (make.random(gates * HIDDEN, 3), make.random(gates * HIDDEN, HIDDEN), make.random(2 * gates * HIDDEN))
    return make.ops(operator, make.input(STEPS, batch, 3), *weights)


def shortened(graph: Graph) -> Graph:
    """After the pass, which shortened the one layer."""
    after = apply(graph, "last_step")
    node = next(node for node in after.nodes if node.op.name in ("lstm", "gru", "rnn"))
    assert not node.op.every_step
    assert after.type(node.outputs[0]).shape[0] == 1
    return after


@pytest.mark.parametrize("operator", ["lstm", "gru", "rnn"])
def test_nobody_reads_the_steps(operator: str) -> None:
    make = Maker()
    shortened(make.done(make.op("clamp", layer(make, operator)[1], low=0.0)))


@pytest.mark.parametrize("batch", [1, 3])
def test_a_slice_reads_the_last_step(batch: int) -> None:
    make = Maker()
    y = layer(make, "lstm", batch)[0]
    bounds = {"begin": (STEPS - 1, 0, 0), "end": (STEPS, batch, HIDDEN), "stride": (1, 1, 1)}
    after = shortened(make.done(make.op("clamp", make.op("strided_slice", y, **bounds), low=0.0)))
    assert [node.op.name for node in after.nodes] == ["lstm", "reshape", "clamp"]


@pytest.mark.parametrize("axis", [0, 1])
def test_a_gather_behind_a_transpose_does(axis: int) -> None:
    make = Maker()
    y = make.op("transpose", layer(make, "gru", 2)[0], perm=(1, 0, 2)) if axis else layer(make, "gru", 2)[0]
    shortened(make.done(make.op("clamp", make.op("gather", y, make.places(STEPS - 1), axis=axis), low=0.0)))


@pytest.mark.parametrize("step", [0, STEPS - 2])
def test_another_step_is_read(step: int) -> None:
    make = Maker()
    bounds = {"begin": (step, 0, 0), "end": (step + 1, 1, HIDDEN), "stride": (1, 1, 1)}
    graph = make.done(make.op("strided_slice", layer(make, "rnn")[0], **bounds))
    apply(graph, "last_step", changes=False)


def test_the_steps_are_an_output() -> None:
    make = Maker()
    apply(make.done(layer(make, "lstm")[0]), "last_step", changes=False)


def test_two_readers_of_which_one_needs_all() -> None:
    make = Maker()
    y = layer(make, "lstm")[0]
    last = make.op("gather", y, make.places(STEPS - 1), axis=0)
    apply(make.done(make.op("add", y, last)), "last_step", changes=False)
