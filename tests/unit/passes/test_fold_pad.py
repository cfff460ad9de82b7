"""fold_pad."""

from __future__ import annotations

import pytest

from tests.unit.passes.graphs import Maker, apply, assert_same, operators
from tinydeploy import passes

PLANE = ((0, 0), (1, 2), (0, 1), (0, 0))


def test_into_convolutions() -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 5, 6, 3), padding=PLANE)
    graph = make.done(make.conv(x, 4, padding=(1, 0, 0, 0)), make.depthwise(x))
    after = apply(graph, "fold_pad")
    assert operators(after) == ["conv2d", "depthwise_conv2d"]
    assert after.nodes[0].op.padding == (2, 2, 0, 1)


def test_into_average_pooling() -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 5, 6, 3), padding=PLANE)
    graph = make.done(make.op("average_pool2d", x, kernel=(3, 2)))
    after = apply(graph, "fold_pad")
    assert operators(after) == ["average_pool2d"]
    assert after.nodes[0].op.count_include_pad


@pytest.mark.parametrize(
    ("padding", "value"),
    [(PLANE, 1.0), (((1, 0), *PLANE[1:]), 0.0), ((*PLANE[:3], (0, 1)), 0.0)],
)
def test_what_is_not_zeros_around_planes_stays(padding: tuple, value: float) -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 5, 6, 3), padding=padding, value=value)
    apply(make.done(make.conv(x, 4)), "fold_pad", changes=False)


def test_pooling_that_does_not_count_its_padding_is_left() -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 5, 6, 3), padding=PLANE)
    apply(make.done(make.op("average_pool2d", x, kernel=(3, 2), padding=(1, 1, 0, 0))), "fold_pad", changes=False)
    apply(make.done(make.op("max_pool2d", x, kernel=(3, 2))), "fold_pad", changes=False)


def test_pooling_narrower_than_the_padding_is_left() -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 5, 6, 3), padding=PLANE)
    apply(make.done(make.op("average_pool2d", x, kernel=(2, 2))), "fold_pad", changes=False)
    apply(make.done(make.op("average_pool2d", x, kernel=(1, 1), stride=(2, 2))), "fold_pad", changes=False)


def test_at_a_channels_first_input() -> None:
    make = Maker()
    x = make.op("pad", make.input(1, 3, 5, 6), padding=((0, 0), (0, 0), (1, 2), (0, 1)))
    graph = make.done(make.conv(make.to_last(x), 4))
    after = passes.optimise(graph)
    assert_same(graph, after)
    assert operators(after) == ["transpose", "conv2d"]
