"""fold_affine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy import passes


@pytest.mark.parametrize("operator", ["add", "sub", "mul"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (1, 1, 1, 5)])
def test_behind_a_convolution(operator: str, shape: tuple[int, ...]) -> None:
    make = Maker()
    x = make.conv(make.input(1, 6, 6, 4), 5, bias=False)
    graph = make.done(make.op(operator, x, make.random(*shape), clamp=(0.0, 6.0)))
    after = apply(graph, "fold_affine")
    assert operators(after) == ["conv2d"]
    assert after.nodes[0].op.clamp == (0.0, 6.0)


def test_a_bias_of_a_matrix_product_is_exact() -> None:
    make = Maker()
    x = make.dense(make.input(1, 4), 3, bias=False)
    data = np.float32([0.1, 0.2, 0.3])
    after = apply(make.done(make.op("add", make.constant(data), x)), "fold_affine", tolerance=0)
    np.testing.assert_array_equal(after.constant(after.nodes[0].inputs[2]), data)


def test_operands_that_vary_in_other_ways_are_left() -> None:
    make = Maker()
    x = make.conv(make.input(1, 6, 6, 4), 5)
    apply(make.done(make.op("add", x, make.random(4, 1))), "fold_affine", changes=False)
    apply(make.done(make.op("sub", make.random(5), x)), "fold_affine", changes=False)
    apply(make.done(make.op("add", x, make.random(2, 1, 1, 5))), "fold_affine", changes=False)


def test_before_a_convolution() -> None:
    make = Maker()
    x = make.input(1, 6, 6, 4)
    scaled = make.op("mul", make.op("sub", x, make.random(4)), make.random(4))
    graph = make.done(make.conv(scaled, 5))
    assert operators(apply(graph, "fold_affine")) == ["conv2d"]


def test_a_shift_does_not_cross_padding_but_a_scale_does() -> None:
    make = Maker()
    x = make.input(1, 6, 6, 4)
    scaled = make.op("mul", make.op("add", x, make.random(4)), make.random(4))
    graph = make.done(make.conv(scaled, 5, padding=(0, 1, 0, 0)))
    assert operators(apply(graph, "fold_affine")) == ["add", "conv2d"]


def test_at_a_channels_first_input() -> None:
    make = Maker()
    x = make.input(1, 3, 6, 6)
    scaled = make.op("mul", make.op("sub", x, make.random(3, 1, 1)), make.random(1, 3, 1, 1))
    graph = make.done(make.conv(make.to_last(scaled), 5))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d"]


def test_a_number_that_does_not_fit_into_float32_is_left() -> None:
    make = Maker()
    x = make.op("fully_connected", make.input(1, 4), make.constant(np.full((3, 4), 1e20)), None)
    apply(make.done(make.op("mul", x, make.constant(np.float32(1e20)))), "fold_affine", changes=False, tolerance=np.nan)
