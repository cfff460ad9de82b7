"""Builds int8 graphs by hand and at random, with channels that can be done without."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy.ir import Array, Elem, Graph, Quant, Type
from tinydeploy.ir.verify import verify
from tinydeploy.ops import registry
from tinydeploy.ops.execute import run_integer

RELU = (0.0, float("inf"))


class Int8Maker:
    """A quantised graph under construction; methods return value names."""

    def __init__(self, seed: int = 0) -> None:
        self.graph = Graph("made")
        self.rng = np.random.default_rng(seed)

    def input(self, *shape: int, zero_point: int = -5) -> str:
        name = self.graph.add_value("x", Type(shape, Elem.S8, Quant.per_tensor(0.05, zero_point)))
        self.graph.inputs.append(name)
        return name

    def constant(self, data: Any, quant: Quant | None = None) -> str:
        data = np.asarray(data)
        return self.graph.add_value("c", Type(data.shape, Elem(data.dtype.name), quant), data)

    def op(self, operator: str, *inputs: str | None, quant: Quant | None = None, **attributes: Any) -> str:
        return self.ops(operator, *inputs, quant=quant, **attributes)[0]

    def ops(self, operator: str, *inputs: str | None, quant: Quant | None = None, **attributes: Any) -> tuple[str, ...]:
        """``quant``: that of the results, default the first input's."""
        node = self.graph.add_node(operator, registry()[operator](**attributes), inputs)
        for name in node.outputs:
            kind = self.graph.type(name)
            own = quant or self.graph.type(str(inputs[0])).quant
            self.graph.values[name].type = Type(kind.shape, kind.elem, own)
        return node.outputs

    def weighted(
        self, operator: str, x: str, weights: Array, bias: Any, axis: int = 0, zero_point: int = 0, **attributes: Any
    ) -> str:
        """A convolution or dense layer with scales per output channel and an output scale that fits its sums."""
        count = weights.shape[axis]
        scales = Quant.per_channel(self.rng.uniform(0.002, 0.004, count), axis)
        name = self.constant(weights.astype(np.int8), scales)
        bias_name = None if bias is None else self.constant(np.asarray(bias, np.int32))
        quant = Quant.per_tensor(0.01 * np.sqrt(max(1, weights.size // count)), zero_point)
        return self.op(operator, x, name, bias_name, quant=quant, **attributes)

    def weights(self, *shape: int) -> Array:
        return self.rng.integers(-127, 128, shape)

    def bias(self, count: int) -> Array:
        return self.rng.integers(-3000, 3000, count)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.graph.type(name).shape

    def done(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        self.graph.prune()
        verify(self.graph)
        return self.graph


def feeds_of(graph: Graph, count: int = 6) -> dict[str, Array]:
    """Random numbers of the whole range, and both ends of it."""
    rng = np.random.default_rng(0)
    feeds = {}
    for name in graph.inputs:
        array = rng.integers(-128, 128, (count, *graph.type(name).shape)).astype(np.int8)
        array[0], array[1] = -128, 127
        feeds[name] = array
    return feeds


def assert_same_bits(before: Graph, after: Graph) -> None:
    verify(after)
    assert (after.inputs, after.outputs) == (before.inputs, before.outputs)
    feeds = feeds_of(before)
    have, want = run_integer(after, feeds), run_integer(before, feeds)
    for name, expected in want.items():
        assert after.type(name) == before.type(name)
        np.testing.assert_array_equal(have[name], expected, err_msg=name)


def random_int8_graph(seed: int, steps: int = 10) -> Graph:
    """Convolutions, pooling, sums and joins in which some channels are constant and some are read by nobody."""
    make = Int8Maker(seed)
    rng = make.rng
    values = [make.input(1, *(int(v) for v in rng.integers(2, 7, 2)), int(rng.integers(1, 5)))]
    for _ in range(steps):
        values += _step(make, str(rng.choice(values[-3:])), values)
    last = values[-1]
    flat = make.op("reshape", last, shape=(1, int(np.prod(make.shape(last)))))
    columns = make.weights(4, make.shape(flat)[1])
    columns[:, rng.random(columns.shape[1]) < 0.3] = 0
    logits = make.weighted("fully_connected", flat, columns, make.bias(4))
    return make.done(logits, *([str(rng.choice(values[1:]))] if rng.random() < 0.2 else []))


def _planted(make: Int8Maker, weights: Array, axis: int) -> tuple[Array, Array | None]:
    """Zero filters, unread inputs and biases that drive an output to its end."""
    rng, count = make.rng, weights.shape[axis]
    bias = make.bias(count)
    dead = rng.random(count) < 0.3
    weights = np.where(dead.reshape([-1 if i == axis else 1 for i in range(weights.ndim)]), 0, weights)
    bias[rng.random(count) < 0.2] = int(rng.choice([-(10**7), 10**7, -(2**31), 2**31 - 1]))
    if axis == 0:
        weights[..., rng.random(weights.shape[-1]) < 0.2] = 0
    return weights, None if rng.random() < 0.1 else bias


def _step(make: Int8Maker, x: str, values: list[str]) -> list[str]:
    rng, (_, height, width, depth) = make.rng, make.shape(x)
    attributes: dict[str, Any] = {"clamp": RELU} if rng.random() < 0.5 else {}
    kernel = int(rng.integers(1, min(height, width, 3) + 1))
    if rng.random() < 0.5:
        attributes["padding"] = tuple(int(v) for v in rng.integers(0, 2, 4)) if kernel > 1 else (0, 0, 0, 0)
    zero = int(rng.choice([-128, -128, 0, 7]))
    partners = [name for name in values if make.shape(name) == make.shape(x)]
    match rng.choice(["conv", "conv", "conv", "depthwise", "depthwise", "sum", "concat", "pool", "other"]):
        case "conv":
            weights, bias = _planted(make, make.weights(int(rng.integers(1, 9)), kernel, kernel, depth), 0)
            return [make.weighted("conv2d", x, weights, bias, zero_point=zero, **attributes)]
        case "depthwise":
            times = int(rng.integers(1, 3))
            weights, bias = _planted(make, make.weights(1, kernel, kernel, depth * times), 3)
            return [make.weighted("depthwise_conv2d", x, weights, bias, 3, zero, multiplier=times, **attributes)]
        case "sum":
            attributes.pop("padding", None)
            shared = Quant.per_tensor(0.06, zero)
            other = str(rng.choice(partners))
            if rng.random() < 0.3:
                size = int(rng.choice([1, depth]))
                other = make.constant(rng.integers(-128, 128, size).astype(np.int8), Quant.per_tensor(0.04, 3))
            return [make.op(str(rng.choice(["add", "sub", "mul"])), x, other, quant=shared, **attributes)]
        case "concat":
            return [make.op("concat", x, str(rng.choice(partners)), axis=int(rng.choice([1, 3, 3])))]
        case "pool":
            kind = str(rng.choice(["average_pool2d", "max_pool2d"]))
            return [make.op(kind, x, kernel=(kernel, kernel), **attributes)]
    match rng.choice(["mean", "clamp", "split", "pad", "slice", "quantize", "reshape"]):
        case "mean":
            return [make.op("mean", x, axes=(1, 2), keep_dims=True, quant=Quant.per_tensor(0.03, zero))]
        case "clamp":
            return [make.op("clamp", x, low=0.0, high=2.0)]
        case "split" if depth > 1:
            first = int(rng.integers(1, depth))
            return list(make.ops("split", x, axis=3, sizes=(first, depth - first)))[: int(rng.integers(1, 3))]
        case "pad":
            last = (1, 0) if rng.random() < 0.3 else (0, 0)
            return [make.op("pad", x, padding=((0, 0), (0, 1), (1, 0), last))]
        case "slice":
            end = (1, height, width, depth)
            return [make.op("strided_slice", x, begin=(0,) * 4, end=end, stride=(1, int(rng.integers(1, 3)), 1, 1))]
        case "quantize":
            return [make.op("quantize", x, quant=Quant.per_tensor(0.08, zero), elem=Elem.S8)]
        case "reshape":
            return [make.op("reshape", x, shape=(1, width, height, depth))]
    return []
