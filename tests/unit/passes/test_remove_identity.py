"""remove_identity."""

from __future__ import annotations

import pytest

from tests.unit.passes.graphs import Maker, apply, operators

NOTHING = [
    ("reshape", {"shape": (1, 4, 3)}),
    ("transpose", {"perm": (0, 1, 2)}),
    ("clamp", {}),
    ("pad", {"padding": ((0, 0), (0, 0), (0, 0))}),
    ("concat", {"axis": 1}),
    ("split", {"axis": 1, "sizes": (4,)}),
    ("strided_slice", {"begin": (0, 0, 0), "end": (1, 4, 3), "stride": (1, 1, 1)}),
]


@pytest.mark.parametrize(("operator", "attributes"), NOTHING, ids=[name for name, _ in NOTHING])
def test_removed_inside_a_graph(operator: str, attributes: dict) -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 4, 3))
    y = make.op(operator, x, **attributes)
    assert operators(apply(make.done(make.op("logistic", y)), "remove_identity")) == ["tanh", "logistic"]


def test_an_output_keeps_its_name() -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 4, 3))
    graph = make.done(make.op("reshape", x, shape=(1, 4, 3)))
    assert operators(apply(graph, "remove_identity")) == ["tanh"]


def test_an_input_that_is_an_output_stays_a_copy() -> None:
    make = Maker()
    x = make.input(1, 4, 3)
    assert operators(apply(make.done(make.op("reshape", x, shape=(1, 4, 3))), "remove_identity", changes=False))


def test_two_outputs_of_equal_content_stay_two() -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 4, 3))
    y = make.op("reshape", x, shape=(1, 4, 3))
    assert operators(apply(make.done(x, y), "remove_identity", changes=False)) == ["tanh", "reshape"]


@pytest.mark.parametrize(("kernel", "left"), [((1, 1), 0), ((1, 2), 1)])
@pytest.mark.parametrize("operator", ["max_pool2d", "average_pool2d"])
def test_pooling_over_one_element(operator: str, kernel: tuple[int, int], left: int) -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 4, 3, 2))
    graph = make.done(make.op("tanh", make.op(operator, x, kernel=kernel)))
    assert len(apply(graph, "remove_identity", changes=not left).nodes) == 2 + left


def test_a_reversal_is_not_nothing() -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 4))
    graph = make.done(make.op("tanh", make.op("strided_slice", x, begin=(0, 3), end=(1, -1), stride=(1, -1))))
    apply(graph, "remove_identity", changes=False)


def test_a_mean_over_nothing_is_a_reshape() -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 1, 1, 4))
    graph = make.done(make.op("tanh", make.op("mean", x, axes=(1, 2))))
    assert operators(apply(graph, "remove_identity", tolerance=0)) == ["tanh", "reshape", "tanh"]


def test_transposes_that_move_nothing_become_reshapes() -> None:
    make = Maker()
    x = make.op("tanh", make.input(1, 1, 4, 3))
    graph = make.done(make.op("tanh", make.op("transpose", x, perm=(0, 2, 1, 3))))
    assert operators(apply(graph, "remove_identity")) == ["tanh", "reshape", "tanh"]


def test_reshapes_in_a_row_become_one_or_none() -> None:
    make = Maker()
    x = make.op("tanh", make.input(2, 6))
    y = make.op("reshape", make.op("reshape", make.op("reshape", x, shape=(3, 4)), shape=(12,)), shape=(4, 3))
    assert operators(apply(make.done(make.op("tanh", y)), "remove_identity")) == ["tanh", "reshape", "tanh"]
    back = make.op("reshape", y, shape=(2, 6))
    assert operators(apply(make.done(make.op("tanh", back)), "remove_identity")) == ["tanh", "tanh"]
