"""Small float graphs for the quantiser, built with seeded random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy import ops
from tinydeploy.ir import Array, Elem, Graph, State, Type
from tinydeploy.ir.types import dequantise, quantise
from tinydeploy.ops.execute import run_float, run_integer

RELU = (0.0, float("inf"))


class Maker:
    """Adds nodes to a graph; every method returns the name of the value it made."""

    def __init__(self, seed: int = 0) -> None:
        self.graph = Graph("small")
        self.random = np.random.default_rng(seed)

    def input(self, *shape: int, name: str = "in") -> str:
        made = self.graph.add_value(name, Type(shape, Elem.F32))
        self.graph.inputs.append(made)
        return made

    def constant(self, data: Any, name: str = "const") -> str:
        array = np.asarray(data, np.float32)
        return self.graph.add_value(name, Type(array.shape, Elem.F32), array)

    def node(self, kind: str, *inputs: str | None, **attributes: Any) -> str:
        op = ops.registry()[kind](**attributes)
        return self.graph.add_node(kind, op, inputs).outputs[0]

    def conv(
        self, x: str, channels: int, kernel: int = 3, *, weights: Any = None, bias: Any = None, **more: Any
    ) -> str:
        depth = self.graph.type(x).shape[-1] // more.get("groups", 1)
        if weights is None:
            weights = self.random.normal(0, (2 / (kernel**2 * depth)) ** 0.5, (channels, kernel, kernel, depth))
        if bias is None:
            bias = self.random.normal(0, 0.1, channels)
        side = kernel // 2
        more = {"padding": (side, side, side, side), "clamp": RELU, **more}
        return self.node("conv2d", x, self.constant(weights, "weights"), self.constant(bias, "bias"), **more)

    def depthwise(self, x: str, kernel: int = 3) -> str:
        channels = self.graph.type(x).shape[-1]
        weights = self.constant(self.random.normal(0, 1 / kernel, (1, kernel, kernel, channels)), "weights")
        bias = self.constant(self.random.normal(0, 0.1, channels), "bias")
        return self.node("depthwise_conv2d", x, weights, bias, padding=(kernel // 2,) * 4, clamp=RELU)

    def dense(self, x: str, units: int, clamp: tuple[float, float] = (-np.inf, np.inf)) -> str:
        width = self.graph.type(x).shape[-1]
        weights = self.constant(self.random.normal(0, width**-0.5, (units, width)), "weights")
        return self.node("fully_connected", x, weights, self.constant(np.zeros(units), "bias"), clamp=clamp)

    def done(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        return self.graph

    def state(self, read: str, write: str) -> None:
        kind = self.graph.type(read)
        self.graph.states.append(State(read, read, write, np.zeros(kind.shape, np.float32)))

    def samples(self, count: int = 64) -> dict[str, Array]:
        return {
            name: self.random.normal(0, 1, (count, *self.graph.type(name).shape)).astype(np.float32)
            for name in self.graph.inputs
        }


def sqnr(graph: Graph, quantised: Graph, feeds: dict[str, Array], *, steps: bool = False) -> list[float]:
    """Signal to noise of every output in dB, the twin against the float graph."""
    real = run_float(graph, feeds, steps=steps)
    given = {
        name: quantise(array, quantised.type(name)) if quantised.type(name).quant else array
        for name, array in feeds.items()
    }
    twin = run_integer(quantised, given, steps=steps)
    result = []
    for before, after in zip(graph.outputs, quantised.outputs, strict=True):
        want = real[before].astype(np.float64)
        got = dequantise(twin[after], quantised.type(after))
        result.append(float(10 * np.log10((want**2).sum() / max(((want - got) ** 2).sum(), 1e-300))))
    return result
