"""fold_constants."""

from __future__ import annotations

import numpy as np

from tests.unit.passes.graphs import Maker, apply, operators
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.passes import fold_constants


def test_a_chain_of_constants() -> None:
    make = Maker()
    x = make.input(2, 3)
    factor = make.op("mul", make.op("tanh", make.random(3)), make.op("reshape", make.random(3, 1), shape=(3,)))
    assert operators(apply(make.done(make.op("add", x, factor)), "fold_constants")) == ["add"]


def test_several_outputs() -> None:
    make = Maker()
    x = make.input(2, 3)
    first, second = make.ops("split", make.random(2, 7), axis=1, sizes=(3, 4))
    graph = make.done(make.op("add", x, first), make.op("tanh", second))
    after = apply(graph, "fold_constants")
    assert operators(after) == ["add", "tanh"], "what is seen from outside stays computed"


def test_large_results_are_left(monkeypatch) -> None:
    monkeypatch.setattr(fold_constants, "MAX_ELEMENTS", 10)
    make = Maker()
    x = make.input(4, 4)
    graph = make.done(make.op("add", x, make.op("add", make.random(4, 1), make.random(1, 4))))
    apply(graph, "fold_constants", changes=False)


def test_quantised_constants_by_the_twin() -> None:
    make = Maker()
    kind = Type((3,), Elem.S8, Quant.per_tensor(0.5, 3))
    held = make.graph.add_value("q", kind, np.asarray([3, 5, -7], np.int8))
    real = make.op("dequantize", held)
    after = apply(make.done(make.op("add", make.input(3), real)), "fold_constants")
    assert operators(after) == ["add"]
    np.testing.assert_array_equal(after.constant(after.nodes[0].inputs[1]), np.float32([0, 1, -5]))
