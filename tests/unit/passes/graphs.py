"""Builds graphs by hand and at random, and compares them before and after passes."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tinydeploy.ir import Array, Elem, Graph, Type
from tinydeploy.ir.verify import verify
from tinydeploy.ops import registry
from tinydeploy.ops.execute import run_float

TO_LAST = (0, 2, 3, 1)
TO_FIRST = (0, 3, 1, 2)


class Maker:
    """A graph under construction; methods return value names."""

    def __init__(self, seed: int = 0) -> None:
        self.graph = Graph("made")
        self.rng = np.random.default_rng(seed)

    def input(self, *shape: int) -> str:
        name = self.graph.add_value("x", Type(shape, Elem.F32))
        self.graph.inputs.append(name)
        return name

    def constant(self, data: Array) -> str:
        data = np.asarray(data, np.float32)
        return self.graph.add_value("c", Type(data.shape, Elem.F32), data)

    def places(self, data: Array) -> str:
        """Constant indices."""
        data = np.asarray(data, np.int32)
        return self.graph.add_value("i", Type(data.shape, Elem.S32), data)

    def random(self, *shape: int, scale: float = 1.0) -> str:
        return self.constant(self.rng.normal(size=shape) * scale)

    def op(self, operator: str, *inputs: str | None, **attributes: Any) -> str:
        return self.ops(operator, *inputs, **attributes)[0]

    def ops(self, operator: str, *inputs: str | None, **attributes: Any) -> tuple[str, ...]:
        op = registry()[operator](**attributes)
        return self.graph.add_node(operator, op, inputs).outputs

    def shape(self, name: str) -> tuple[int, ...]:
        return self.graph.type(name).shape

    def conv(self, x: str, channels: int, kernel: int = 3, bias: bool = True, **attributes: Any) -> str:
        """A channels-last convolution."""
        depth = self.shape(x)[3] // attributes.get("groups", 1)
        weights = self.random(channels, kernel, kernel, depth, scale=1 / (kernel * np.sqrt(depth)))
        return self.op("conv2d", x, weights, self.random(channels) if bias else None, **attributes)

    def depthwise(self, x: str, kernel: int = 3, multiplier: int = 1, **attributes: Any) -> str:
        channels = self.shape(x)[3] * multiplier
        weights = self.random(1, kernel, kernel, channels, scale=1 / kernel)
        return self.op("depthwise_conv2d", x, weights, self.random(channels), multiplier=multiplier, **attributes)

    def dense(self, x: str, units: int, bias: bool = True) -> str:
        depth = self.shape(x)[-1]
        weights = self.random(units, depth, scale=1 / np.sqrt(depth))
        return self.op("fully_connected", x, weights, self.random(units) if bias else None)

    def batch_norm(self, x: str) -> str:
        count = self.shape(x)[-1]
        variance = self.constant(self.rng.uniform(0.3, 2.0, count))
        return self.op("batch_norm", x, self.random(count), self.random(count), self.random(count), variance)

    def relu(self, x: str, high: float = float("inf")) -> str:
        return self.op("clamp", x, low=0.0, high=high)

    def to_last(self, x: str) -> str:
        return self.op("transpose", x, perm=TO_LAST)

    def to_first(self, x: str) -> str:
        return self.op("transpose", x, perm=TO_FIRST)

    def done(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        self.graph.prune()
        verify(self.graph)
        return self.graph


def operators(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


def feeds_of(graph: Graph, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(2, *graph.type(name).shape)).astype(np.float32) for name in graph.inputs}


def assert_same(before: Graph, after: Graph, tolerance: float = 1e-5) -> None:
    """Same inputs and outputs, and results equal within ``tolerance`` of the largest."""
    verify(after)
    assert (after.inputs, after.outputs) == (before.inputs, before.outputs)
    feeds = feeds_of(before)
    have, want = run_float(after, feeds), run_float(before, feeds)
    for name, expected in want.items():
        limit = tolerance * max(float(np.abs(expected).max()), 1e-3)
        np.testing.assert_allclose(have[name], expected, rtol=0, atol=limit, err_msg=name)


def apply(graph: Graph, name: str, *, changes: bool = True, tolerance: float = 1e-5) -> Graph:
    """Run one pass on a copy and check what every pass promises."""
    module = importlib.import_module(f"tinydeploy.passes.{name}")
    after = graph.copy()
    module.requires(after)
    assert module.run(after) is changes
    after.prune()
    module.ensures(after)
    assert_same(graph, after, tolerance)
    assert module.run(after) is False, "a second run finds nothing"
    return after


def random_graph(seed: int, steps: int = 14) -> Graph:
    """A graph as frontends make them: channels-first operators between transposes, mixed with everything else."""
    make = Maker(seed)
    rng = make.rng
    batch = int(rng.choice([1, 1, 1, 2]))
    plane = [int(v) for v in rng.integers(1, 9, 2)]
    values = [make.input(batch, int(rng.integers(1, 6)), *plane)]
    if rng.random() < 0.3:
        values.append(make.input(*make.shape(values[0])))
    for _ in range(steps):
        values += _step(make, str(rng.choice(values[-3:])), values)
    used = {name for node in make.graph.nodes for name in node.inputs}
    outputs = [name for name in values if name not in used][:3] or [values[-1]]
    if rng.random() < 0.3:
        outputs.append(str(rng.choice([v for v in values if v not in outputs] or outputs)))
    return make.done(*dict.fromkeys(outputs))


def _step(make: Maker, x: str, values: list[str]) -> list[str]:
    rng, shape = make.rng, make.shape(x)
    rank = len(shape)
    kind = rng.choice(_KINDS)
    if rank == 4 and kind == "padded":
        rows, columns = (tuple(int(v) for v in rng.integers(0, 3, 2)) for _ in range(2))
        padded = make.op("pad", x, padding=((0, 0), (0, 0), rows, columns))
        return [make.to_first(make.conv(make.to_last(padded), 3, 1))]
    if rank == 4 and kind in ("conv", "depthwise", "norm", "pool", "mean_pool"):
        inner = make.to_last(x)
        pad = tuple(int(v) for v in rng.integers(0, 2, 4))
        room = min(make.shape(inner)[1:3])
        kernel = int(rng.integers(1, min(room, 3) + 1))
        match kind:
            case "conv":
                inner = make.conv(inner, int(rng.integers(1, 7)), kernel, bool(rng.random() < 0.5), padding=pad)
            case "depthwise":
                inner = make.depthwise(inner, kernel, int(rng.integers(1, 3)), padding=pad)
            case "norm":
                inner = make.batch_norm(inner)
            case "pool":
                inner = make.op("max_pool2d", inner, kernel=(kernel, kernel))
            case "mean_pool":
                inner = make.op("average_pool2d", inner, kernel=(kernel, kernel), count_include_pad=True)
        return [make.to_first(inner)]
    if rank == 4 and kind == "unread":
        inner = make.conv(make.to_last(x), 4, 1)
        weights = rng.normal(size=(3, 1, 1, 4))
        weights[..., 1:3] = 0
        return [make.to_first(make.op("conv2d", inner, make.constant(weights), None))]
    match kind:
        case "relu":
            return [make.relu(x, float(rng.choice([6.0, np.inf])))]
        case "logistic" | "tanh":
            return [make.op(kind, x)]
        case "add" | "mul" | "sub":
            partners = [v for v in values if make.shape(v) == shape]
            if rng.random() < 0.5:
                axis = int(rng.integers(0, rank)) if rank else 0
                sizes = [1] * (rank - axis)
                if sizes:
                    sizes[0] = shape[axis]
                other = make.random(*sizes)
            else:
                other = str(rng.choice(partners))
            pair = (x, other) if rng.random() < 0.5 else (other, x)
            return [make.op(kind, *pair)]
        case "pad":
            pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 2, (rank, 2)))
            return [make.op("pad", x, padding=pads, value=float(rng.choice([0.0, 0.0, 1.5])))] if rank < 6 else []
        case "concat" if rank:
            axis = int(rng.integers(0, rank))
            partners = [v for v in values if make.shape(v) == shape]
            return [make.op("concat", x, str(rng.choice(partners)), axis=axis)]
        case "split" if rank:
            axis = int(rng.integers(0, rank))
            if shape[axis] < 2:
                return []
            first = int(rng.integers(1, shape[axis]))
            return list(make.ops("split", x, axis=axis, sizes=(first, shape[axis] - first)))
        case "slice":
            begin = tuple(int(rng.integers(0, d)) for d in shape)
            step = tuple(int(rng.integers(1, 3)) for _ in shape)
            if rng.random() < 0.3:
                return [make.op("strided_slice", x, begin=begin, end=(-1,) * rank, stride=tuple(-s for s in step))]
            return [make.op("strided_slice", x, begin=begin, end=shape, stride=step)]
        case "transpose":
            return [make.op("transpose", x, perm=tuple(int(v) for v in rng.permutation(rank)))]
        case "reshape":
            return [make.op("reshape", x, shape=_other_shape(rng, shape))]
        case "mean" if rank:
            axes = tuple(sorted({int(v) for v in rng.integers(0, rank, 2)}))
            return [make.op("mean", x, axes=axes, keep_dims=bool(rng.random() < 0.5))]
        case "softmax" if rank:
            return [make.op("softmax", x, axis=int(rng.integers(0, rank)))]
        case "flat" if rank >= 2:
            flat = make.op("reshape", x, shape=(shape[0], int(np.prod(shape[1:]))))
            return [make.dense(flat, int(rng.integers(1, 7)))]
        case "grown":
            factor = make.op("tanh", make.random(1))
            return [make.op("mul", x, factor)]
        case "dense" if rank >= 2:
            return [make.dense(x, int(rng.integers(1, 7)), bool(rng.random() < 0.5))]
    return []


def _other_shape(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    dims = list(shape)
    for _ in range(3):
        choice = rng.random()
        if choice < 0.4 and len(dims) >= 2:
            place = int(rng.integers(0, len(dims) - 1))
            dims[place : place + 2] = [dims[place] * dims[place + 1]]
        elif choice < 0.7 and len(dims) < 5:
            dims.insert(int(rng.integers(0, len(dims) + 1)), 1)
        elif dims and len(dims) < 5:
            place = int(rng.integers(0, len(dims)))
            factor = next((f for f in (2, 3, 5) if dims[place] % f == 0), 1)
            dims[place : place + 1] = [factor, dims[place] // factor]
    return tuple(dims)


_KINDS = (
    *("conv", "depthwise", "norm", "pool", "mean_pool") * 2,
    *("padded", "unread"),
    *("relu", "add", "mul", "sub", "pad", "concat", "split", "slice", "transpose", "reshape", "mean"),
    *("flat", "grown", "softmax", "dense", "logistic", "tanh", "conv", "norm", "relu", "reshape"),
)
