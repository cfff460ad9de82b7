"""channels_last, with the passes that finish its work where the question is what is left in the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.unit.passes.graphs import TO_FIRST, Maker, apply, assert_same, operators
from tinydeploy import passes
from tinydeploy.ir import Elem, Graph


def both_sides(make: Maker, x: str) -> tuple[str, str]:
    """A channels-first value made by a convolution, and that convolution's output."""
    inner = make.conv(make.to_last(x), 4)
    return make.to_first(inner), inner


def finish(make: Maker, y: str) -> Graph:
    return make.done(make.to_first(make.conv(make.to_last(y), 3, 1)))


UNARY: list[tuple[str, dict[str, Any]]] = [
    ("clamp", {"low": 0.0}),
    ("logistic", {}),
    ("tanh", {}),
    ("pad", {"padding": ((0, 0), (0, 0), (1, 2), (0, 1)), "value": 0.5}),
    ("strided_slice", {"begin": (0, 1, 0, 1), "end": (1, 4, 6, 7), "stride": (1, 2, 1, 3)}),
    ("mean", {"axes": (2, 3), "keep_dims": True}),
    ("mean", {"axes": (1,), "keep_dims": True}),
    ("softmax", {"axis": 1}),
    ("log_softmax", {"axis": 1}),
    ("layer_norm", {"axes": (2, 3)}),
    ("layer_norm", {"axes": (1, 2), "rms": True}),
    ("l2_normalize", {"axes": (1,)}),
    ("reduce_max", {"axes": (2,), "keep_dims": True}),
    ("reduce_sum", {"axes": (1, 3), "keep_dims": True}),
    ("cumsum", {"axis": 1}),
    ("tile", {"repeats": (1, 2, 1, 3)}),
]


@pytest.mark.parametrize(("operator", "attributes"), UNARY, ids=[f"{n}{i}" for i, (n, _) in enumerate(UNARY)])
def test_through_one_input(operator: str, attributes: dict[str, Any]) -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    graph = finish(make, make.op(operator, y, **attributes))
    assert operators(apply(graph, "channels_last")) == ["transpose", "conv2d", operator, "conv2d", "transpose"]


@pytest.mark.parametrize(("axes", "moves"), [((2, 3), True), ((1, 2), False)])
def test_layer_normalisation_with_factors(axes: tuple[int, ...], moves: bool) -> None:
    """They have the order of the normalised axes."""
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    factor = make.random(*(make.shape(y)[axis] for axis in axes))
    graph = finish(make, make.op("layer_norm", y, factor, axes=axes))
    after = apply(graph, "channels_last", changes=moves)
    assert (operators(after) == ["transpose", "conv2d", "layer_norm", "conv2d", "transpose"]) == moves


@pytest.mark.parametrize("shape", [(3,), ()])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_gather_at_constant_places(axis: int, shape: tuple[int, ...]) -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    places = make.places(np.asarray([2, 0, 1][: math.prod(shape)]).reshape(shape))
    graph = make.done(make.op("gather", y, places, axis=axis))
    after = apply(graph, "channels_last")
    assert_same(graph, after)
    assert operators(after)[:3] == ["transpose", "conv2d", "gather"]


def test_places_of_the_largest() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    graph = make.done(make.op("arg_max", y, axis=1, elem=Elem.S32))
    after = apply(graph, "channels_last")
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "arg_max"]


def test_nearest_and_linear_resizing() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    taller = make.op("gather", y, make.places(np.arange(6) // 2), axis=2)
    rows = make.places(np.arange(12).reshape(6, 2) % 6)
    graph = finish(make, make.op("resample", taller, rows, make.random(6, 2), axis=3))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "gather", "resample", "conv2d", "transpose"]


@pytest.mark.parametrize("shape", [(), (1,), (4, 1, 1), (1, 4, 1, 1), (6, 7), (1, 4, 6, 7)])
@pytest.mark.parametrize("operator", ["add", "sub", "mul"])
def test_through_a_constant_operand(operator: str, shape: tuple[int, ...]) -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    graph = finish(make, make.op(operator, make.random(*shape), y))
    assert operators(apply(graph, "channels_last")).count("transpose") == 2


def test_through_two_branches() -> None:
    make = Maker()
    x = make.input(1, 3, 8, 9)
    (a, _), (b, _) = both_sides(make, x), both_sides(make, x)
    graph = finish(make, make.op("concat", make.op("add", a, b), b, axis=1))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "conv2d", "add", "concat", "conv2d", "transpose"]


def test_residual_from_a_channels_first_input() -> None:
    make = Maker()
    x = make.input(1, 4, 8, 9)
    inner = make.conv(make.to_last(x), 4, padding=(1, 1, 1, 1))
    graph = finish(make, make.relu(make.op("add", make.to_first(inner), x)))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "add", "conv2d", "transpose"]


def test_squeeze_and_excite() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    squeezed = make.op("mean", y, axes=(2, 3), keep_dims=True)
    excited = make.op("logistic", make.to_first(make.conv(make.to_last(squeezed), 4, 1)))
    graph = finish(make, make.op("mul", y, excited))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "mean", "conv2d", "logistic", "mul", "conv2d", "transpose"]


def test_through_split() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    first, second = make.ops("split", y, axis=1, sizes=(1, 3))
    graph = finish(make, make.op("concat", second, first, axis=1))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after).count("transpose") == 2


def test_channel_shuffle_keeps_one_transpose() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    split = make.op("reshape", y, shape=(1, 2, 2, 6, 7))
    mixed = make.op("transpose", split, perm=(0, 2, 1, 3, 4))
    graph = finish(make, make.op("reshape", mixed, shape=(1, 4, 6, 7)))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d", "reshape", "transpose", "reshape", "conv2d", "transpose"]


def test_detection_head_order() -> None:
    """Permute to channels last, then flatten the places: the usual end of a detector."""
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    flat = make.op("reshape", make.to_last(y), shape=(1, 42, 4))
    graph = make.done(make.op("softmax", flat, axis=2))
    assert operators(apply(graph, "channels_last")) == ["transpose", "conv2d", "reshape", "softmax"]


def test_mean_without_the_axes() -> None:
    make = Maker()
    y, _ = both_sides(make, make.input(1, 3, 8, 9))
    graph = make.done(make.op("mean", y, axes=(2, 3)))
    assert operators(apply(graph, "channels_last")) == ["transpose", "conv2d", "mean"]


def test_equal_operands_in_two_orders_come_to_rest() -> None:
    make = Maker()
    square = make.op("tanh", make.input(5, 5))
    graph = make.done(
        make.op("transpose", make.op("mul", square, make.op("transpose", square, perm=(1, 0))), perm=(1, 0))
    )
    assert_same(graph, passes.optimise(graph))


def test_softmax_stays_on_the_last_axis() -> None:
    make = Maker()
    x = make.op("transpose", make.input(1, 3, 4), perm=(0, 2, 1))
    apply(make.done(make.op("softmax", x, axis=2)), "channels_last", changes=False)


def test_transposes_at_inputs_and_outputs_stay() -> None:
    make = Maker()
    x = make.input(1, 3, 8, 9)
    graph = make.done(make.op("transpose", make.conv(make.to_last(x), 4), perm=TO_FIRST))
    apply(graph, "channels_last", changes=False)
