"""Constant and unread channels go, wherever that changes no bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conftest import need_shared
from tests.unit.passes.graphs import Maker, apply
from tests.unit.passes.int8_graphs import RELU, Int8Maker, assert_same_bits, feeds_of, random_int8_graph
from tinydeploy import frontends, passes
from tinydeploy.ir import Elem, Graph, Quant
from tinydeploy.ops._op import Signature
from tinydeploy.ops.execute import run_integer
from tinydeploy.passes import _ranges, drop_channels

FULL = 2**31 - 1


def run(graph: Graph, *, changes: bool = True) -> Graph:
    """Apply the pass to a copy, check that no bit changes and that a second run finds nothing."""
    after = graph.copy()
    assert drop_channels.run(after) is changes
    after.prune()
    drop_channels.ensures(after)
    assert_same_bits(graph, after)
    assert drop_channels.run(after) is False
    return after


def widths(graph: Graph) -> list[int]:
    return [graph.type(name).shape[-1] for node in graph.nodes for name in node.outputs]


def producer(make: Int8Maker, zero_point: int = 7, **attributes: Any) -> str:
    """Five channels of an input of three: 0 and 2 hold one number, that of their bias (2: at the clamp)."""
    weights = make.weights(5, 1, 1, 3)
    weights[0] = 0
    bias = np.array([900, 5, -(10**7), 7, 9])
    return make.weighted("conv2d", make.input(1, 6, 5, 3), weights, bias, zero_point=zero_point, **attributes)


def consumer(make: Int8Maker, x: str, kernel: int = 1, unread: tuple[int, ...] = (), **attributes: Any) -> str:
    weights = make.weights(4, kernel, kernel, make.shape(x)[3])
    weights[..., list(unread)] = 0
    return make.weighted("conv2d", x, weights, make.bias(4), **attributes)


def test_a_constant_goes_into_the_bias() -> None:
    make = Int8Maker()
    graph = make.done(consumer(make, producer(make)))
    after = run(graph)
    assert widths(after) == [3, 4]
    old, new = (g.constant(g.nodes[1].inputs[2]) for g in (graph, after))
    assert old is not None
    assert new is not None
    assert (old != new).any()


def test_a_bias_is_made_where_there_is_none() -> None:
    make = Int8Maker()
    x = producer(make)
    graph = make.done(make.weighted("conv2d", x, make.weights(2, 3, 3, 5), None))
    assert graph.nodes[1].inputs[2] is None
    after = run(graph)
    assert after.nodes[1].inputs[2] is not None
    assert widths(after) == [3, 2]


def test_padding_keeps_a_constant_that_is_not_the_zero_point() -> None:
    make = Int8Maker()
    graph = make.done(consumer(make, producer(make), 3, padding=(1, 1, 1, 1)))
    after = run(graph)
    assert widths(after) == [5, 4]
    weights, bias = (after.constant(name) for name in after.nodes[0].inputs[1:])
    assert weights is not None
    assert bias is not None
    assert not weights[[0, 2]].any(), "constant channels read nothing any more"


def test_padding_lets_the_zero_point_go() -> None:
    make = Int8Maker()
    x = producer(make, -128, clamp=RELU)  # channel 2 is clamped to zero, channel 0 is above it
    assert widths(run(make.done(consumer(make, x, 3, padding=(1, 1, 1, 1))))) == [4, 4]


def test_an_unread_channel_goes_with_any_padding() -> None:
    make = Int8Maker()
    x = producer(make)
    assert widths(run(make.done(consumer(make, x, 3, unread=(0, 1, 2), padding=(1, 1, 1, 1))))) == [2, 4]


def test_another_reader_keeps_an_unread_channel() -> None:
    make = Int8Maker()
    x = producer(make)
    graph = make.done(consumer(make, x, unread=(1,)), consumer(make, x, unread=(3,)))
    assert widths(run(graph)) == [3, 4, 4]


def test_outputs_keep_their_shape() -> None:
    make = Int8Maker()
    x = producer(make)
    assert widths(run(make.done(x, consumer(make, x, unread=(1,))))) == [5, 4]


def test_chains_of_unread_channels() -> None:
    """What only a dropped channel reads is not read."""
    make = Int8Maker()
    weights = make.weights(4, 1, 1, 5)
    weights[1:, ..., 4] = 0  # only output 0 reads input 4
    y = make.weighted("conv2d", producer(make), weights, make.bias(4))
    assert widths(run(make.done(consumer(make, y, unread=(0,))))) == [2, 3, 4]


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise(multiplier: int) -> None:
    make = Int8Maker()
    weights = make.weights(1, 3, 3, 5 * multiplier)
    weights[..., -multiplier:] = 0
    bias = make.bias(5 * multiplier)
    y = make.weighted("depthwise_conv2d", producer(make), weights, bias, 3, multiplier=multiplier)
    after = run(make.done(consumer(make, y)))  # constants stay constant, a zero filter makes one more
    assert widths(after) == [2, 2 * multiplier, 4]


def test_a_constant_next_to_a_padded_depthwise_stays() -> None:
    make = Int8Maker()
    y = make.weighted(
        "depthwise_conv2d", producer(make), make.weights(1, 3, 3, 5), make.bias(5), 3, padding=(1, 1, 1, 1)
    )
    assert widths(run(make.done(consumer(make, y)))) == [5, 5, 4]


def test_half_of_a_multiplier_does_not_go() -> None:
    make = Int8Maker()
    x = make.input(1, 4, 4, 3)
    y = make.weighted("conv2d", x, make.weights(3, 1, 1, 3), make.bias(3))
    y = make.weighted("depthwise_conv2d", y, make.weights(1, 3, 3, 6), make.bias(6), 3, multiplier=2)
    assert widths(run(make.done(consumer(make, y, unread=(0, 2, 3))))) == [2, 4, 4]


def test_add_loses_a_channel_on_both_sides_or_not_at_all() -> None:
    make = Int8Maker()
    first = producer(make)
    second = make.weighted("conv2d", make.graph.inputs[0], make.weights(5, 1, 1, 3), make.bias(5))
    total = make.op("add", first, second, quant=Quant.per_tensor(0.1, 3))
    graph = make.done(consumer(make, total, unread=(3,)))
    assert widths(run(graph)) == [4, 4, 4, 4]  # 0 and 2 are constant in one operand only


@pytest.mark.parametrize(("shape", "left"), [((5,), 3), ((6, 5, 5), 5), ((1,), 3)])
def test_add_of_constants_is_constant(shape: tuple[int, ...], left: int) -> None:
    make = Int8Maker()
    other = make.constant(make.rng.integers(-128, 128, shape).astype(np.int8), Quant.per_tensor(0.05, 1))
    total = make.op("add", producer(make), other, quant=Quant.per_tensor(0.1, 3))
    assert widths(run(make.done(consumer(make, total)))) == [left, left, 4]


@pytest.mark.parametrize("axis", [1, 3])
def test_concat(axis: int) -> None:
    make = Int8Maker()
    first = producer(make)
    second = make.op("max_pool2d", first, kernel=(3, 3), padding=(1, 1, 1, 1))
    joined = make.op("concat", first, second, axis=axis)
    after = run(make.done(consumer(make, joined)))
    assert widths(after) == [3, 3, 3 if axis == 1 else 6, 4]


def test_pooling_clamp_mean_pad_split_and_rescaling() -> None:
    make = Int8Maker()
    y = make.op("average_pool2d", producer(make), kernel=(3, 3), padding=(1, 1, 1, 1))
    y = make.op("quantize", make.op("clamp", y, low=-1.0, high=1.5), quant=Quant.per_tensor(0.03, 2), elem=Elem.S8)
    y = make.op("strided_slice", y, begin=(0, 1, 0, 0), end=(1, 6, 5, 5), stride=(1, 2, 1, 1))
    y, _ = make.ops("split", y, axis=3, sizes=(4, 1))
    y = make.op("mean", y, axes=(1, 2), keep_dims=True, quant=Quant.per_tensor(0.02, 9))
    after = run(make.done(consumer(make, y)))
    assert widths(after) == [3, 3, 3, 3, 3, 2, 1, 2, 4]


def test_flattened_channels() -> None:
    make = Int8Maker()
    flat = make.op("reshape", producer(make), shape=(1, 150))
    dense = make.weighted("fully_connected", flat, make.weights(7, 150), make.bias(7))
    assert widths(run(make.done(dense))) == [3, 90, 7]


def test_folded_channels() -> None:
    """A dense layer that makes an image: a channel goes where all its pixels do."""
    make = Int8Maker()
    weights, bias = make.weights(12, 4), make.bias(12)
    weights[[1, 4, 7, 10, 2]] = 0
    y = make.weighted("fully_connected", make.input(1, 4), weights, bias)
    y = make.op("reshape", y, shape=(1, 2, 2, 3))
    assert widths(run(make.done(consumer(make, y, unread=(1,))))) == [8, 2, 4]


def test_a_bias_that_would_overflow_keeps_the_constant() -> None:
    make = Int8Maker()
    x = producer(make)
    weights = np.ones((2, 1, 1, 5), np.int64)
    weights[..., 2] = 0
    low = make.graph.nodes[0]
    graph = make.done(make.weighted("conv2d", x, weights, np.array([FULL, 0])))
    known = _ranges.analyse(graph).values[low.outputs[0]]
    assert known.low[0] > 7, "it adds to the bias"
    after = run(graph)
    assert widths(after)[0] == 4


def test_accumulators_that_wrap_prove_nothing() -> None:
    make = Int8Maker()
    bias = np.array([FULL, -(2**31), FULL])
    weights = np.full((3, 1, 1, 3), 100)
    y = make.weighted("conv2d", make.input(1, 3, 3, 3), weights, bias)
    graph = make.done(consumer(make, y))
    assert not _ranges.analyse(graph).values[y].constant.any()
    assert widths(run(graph, changes=False)) == [3, 4]


def test_one_channel_stays() -> None:
    make = Int8Maker()
    y = make.weighted("conv2d", make.input(1, 3, 3, 2), np.zeros((4, 1, 1, 2)), np.array([1, 2, 3, 4]) * 500)
    y = make.op("max_pool2d", y, kernel=(2, 2))
    assert widths(run(make.done(consumer(make, y)))) == [1, 1, 4]


def test_operators_it_does_not_know_lose_nothing() -> None:
    make = Int8Maker()
    y = make.op("softmax", producer(make), axis=3, quant=Quant.per_tensor(1 / 256, -128))
    z = make.op("transpose", y, perm=(0, 1, 3, 2))
    z = make.weighted("conv2d", z, make.weights(4, 1, 1, 5), make.bias(4))
    grouped = make.weighted("conv2d", z, make.weights(6, 1, 1, 2), make.bias(6), groups=2)
    graph = make.done(consumer(make, grouped, unread=(1,)))
    assert widths(run(graph)) == widths(graph)  # only the producer's constant rows are emptied


def test_float_channels_that_nobody_reads_go() -> None:
    make = Maker()
    y = make.depthwise(make.conv(make.input(1, 6, 6, 3), 4), padding=(1, 1, 1, 1))
    weights = make.rng.normal(size=(2, 3, 3, 4))
    weights[..., 1] = 0
    after = apply(make.done(make.op("conv2d", y, make.constant(weights), None, padding=(1, 1, 1, 1))), "drop_channels")
    assert widths(after) == [3, 3, 2]


@pytest.mark.parametrize("seed", range(150))
def test_random_graphs(seed: int) -> None:
    graph = random_int8_graph(seed)
    after = graph.copy()
    drop_channels.run(after)
    after.prune()
    assert_same_bits(graph, after)
    assert drop_channels.run(after.copy()) is False
    assert_same_bits(graph, passes.optimise(graph))


def test_random_graphs_lose_channels() -> None:
    lost = 0
    for seed in range(20):
        graph = random_int8_graph(seed)
        after = graph.copy()
        drop_channels.run(after)
        lost += sum(widths(after)) < sum(widths(graph))
    assert lost > 10


@pytest.mark.parametrize("seed", range(60))
def test_no_value_leaves_its_bounds(seed: int) -> None:
    graph = random_int8_graph(seed)
    names = [name for node in graph.nodes for name in node.outputs]
    seen = run_integer(graph, feeds_of(graph, 20), keep=names)
    known = _ranges.analyse(graph).values
    for name in names:
        rows = seen[name].reshape(-1, graph.type(name).shape[-1]).astype(int)
        assert (rows.min(axis=0) >= known[name].low).all(), name
        assert (rows.max(axis=0) <= known[name].high).all(), name


def test_half_of_the_visual_wake_words_model_is_dead() -> None:
    graph = frontends.load(need_shared("models", "mlperf_tiny", "vww_int8.tflite"))
    after = passes.optimise(graph)
    assert sum(node.op.macs(Signature.of(after, node)) for node in after.nodes) == 3_727_313
    assert sum(v.type.size for v in after.values.values() if v.data is not None) == 30_080
    assert_same_bits(graph, after)
