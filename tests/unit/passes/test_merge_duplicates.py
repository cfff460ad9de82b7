"""merge_duplicates."""

from __future__ import annotations

import numpy as np

from tests.unit.passes.graphs import Maker, apply, operators


def test_equal_nodes_and_constants() -> None:
    make = Maker()
    x = make.input(2, 3)
    data = np.arange(3)
    first = make.op("tanh", make.op("add", x, make.constant(data)))
    second = make.op("tanh", make.op("add", x, make.constant(data)))
    after = apply(make.done(make.op("mul", first, second)), "merge_duplicates")
    assert operators(after) == ["add", "tanh", "mul"]
    assert sum(value.data is not None for value in after.values.values()) == 1


def test_what_differs_stays() -> None:
    make = Maker()
    x = make.input(2, 3)
    pair = make.op("clamp", x, low=0.0), make.op("clamp", x, low=1.0)
    apply(make.done(make.op("add", *pair)), "merge_duplicates", changes=False)


def test_equal_outputs_keep_their_nodes() -> None:
    make = Maker()
    x = make.input(2, 3)
    apply(make.done(make.op("tanh", x), make.op("tanh", x)), "merge_duplicates", changes=False)
