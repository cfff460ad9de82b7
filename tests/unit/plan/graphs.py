"""Graphs made of nothing but shapes and declared accesses, for the planner's tests."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
from hypothesis import strategies as st

from tinydeploy.ir import Elem, Graph, Node, State, Type, Value
from tinydeploy.lower._contract import AccessPlan, Call, Cost, Lowered, Offer, Span, Target, elementwise, whole

TARGET = Target("cortex-m4", "dsp", True, optimize="speed")


@dataclasses.dataclass(frozen=True)
class Shape:
    """Stands for an operator."""

    name: str = "shape"


class Builder:
    """Grows a graph and its kernels together."""

    def __init__(self) -> None:
        self.graph = Graph("g")
        self.lowered: list[Lowered] = []

    def value(self, name: str, size: int) -> str:
        self.graph.values[name] = Value(name, Type((size,), Elem.S8))
        return name

    def input(self, name: str, size: int) -> str:
        self.graph.inputs.append(self.value(name, size))
        return name

    def output(self, name: str) -> None:
        self.graph.outputs.append(name)

    def state(self, name: str, size: int, write: str) -> str:
        self.graph.states.append(State(name, name, write, np.zeros(size, np.int8)))
        return self.value(name, size)

    def node(self, inputs, outputs, access, *, scratch=0, alternatives=(), cycles=0, view=False) -> Node:
        """``outputs``: sizes by name; ``alternatives``: (access, scratch, cycles)."""
        number = len(self.graph.nodes)
        for name, size in outputs.items():
            self.value(name, size)
        node = Node(f"n{number}", Shape(), tuple(inputs), tuple(outputs))
        self.graph.nodes.append(node)
        offers = [self._offer(f"k{i}", *offer) for i, offer in enumerate([(access, scratch, cycles), *alternatives])]
        if view:
            offers = [Offer("view", None, None, view=True)]
        self.lowered.append(Lowered(node, offers[0], tuple(offers[1:])))
        return node

    @staticmethod
    def _offer(kernel, access, scratch, cycles) -> Offer:
        return Offer(kernel, Call("f", ()), access, scratch_bytes=scratch, cost=Cost(cycles, cycles))


def rows(height: int, in_row: int, out_row: int, around: int, reads_first: bool = True) -> AccessPlan:
    """A row kernel that reads ``around`` rows on each side of its own."""
    y = np.arange(height)
    low, high = np.maximum(y - around, 0) * in_row, np.minimum(y + around + 1, height) * in_row
    return AccessPlan((Span(low, high),), (Span(y * out_row, (y + 1) * out_row),), reads_first)


def chain(widths: list[int], height: int, around: int) -> Builder:
    """Layers of one height; layer i turns rows of widths[i] bytes into rows of widths[i + 1]."""
    build = Builder()
    last = build.input("v0", height * widths[0])
    for i, (before, after) in enumerate(itertools.pairwise(widths)):
        name = f"v{i + 1}"
        build.node([last], {name: height * after}, rows(height, before, after, around if i % 2 == 0 else 0))
        last = name
    build.output(last)
    return build


def _access(draw: st.DrawFn, in_sizes: list[int], out_sizes: list[int]) -> AccessPlan:
    kind = draw(st.sampled_from(["whole", "elementwise", "random"]))
    if kind == "elementwise" and len(out_sizes) == 1:
        return elementwise(tuple(in_sizes), out_sizes[0], draw(st.integers(1, max(out_sizes[0], 1))))
    if kind == "random":
        steps = draw(st.integers(1, 6))

        def span(size: int, cover: bool) -> Span:
            edges = sorted(draw(st.lists(st.integers(0, size), min_size=2 * steps, max_size=2 * steps)))
            if cover:  # every byte of an output is written
                edges = sorted(draw(st.lists(st.integers(0, size), min_size=steps - 1, max_size=steps - 1)))
                edges = [0, *[e for e in edges for _ in (0, 1)], size]
            parts = draw(st.permutations([(edges[2 * i], edges[2 * i + 1]) for i in range(steps)]))
            return Span(np.array([p[0] for p in parts], np.int64), np.array([p[1] for p in parts], np.int64))

        first = draw(st.booleans())
        return AccessPlan(tuple(span(s, False) for s in in_sizes), tuple(span(s, True) for s in out_sizes), first)
    return AccessPlan(tuple(whole(s) for s in in_sizes), tuple(whole(s) for s in out_sizes), draw(st.booleans()))


@st.composite
def builders(draw: st.DrawFn) -> Builder:
    """Any small graph: branches, views, several inputs and outputs, states, values nobody reads, values read twice."""
    build = Builder()
    sizes = st.integers(1, 40)
    known = [build.input(f"in{i}", draw(sizes)) for i in range(draw(st.integers(1, 3)))]
    held = [build.state(f"s{i}", draw(sizes), "") for i in range(draw(st.integers(0, 2)))]
    for number in range(draw(st.integers(0, 9))):
        inputs = draw(st.lists(st.sampled_from(known + held), min_size=1, max_size=3))
        if draw(st.integers(0, 4)) == 0:
            name = f"v{number}_0"
            build.node(inputs[:1], {name: build.graph.type(inputs[0]).size}, None, view=True)
            known.append(name)
            continue
        outputs = {f"v{number}_{i}": draw(sizes) for i in range(draw(st.integers(1, 2)))}
        access = _access(draw, [build.graph.type(n).size for n in inputs], list(outputs.values()))
        build.node(inputs, outputs, access, scratch=draw(st.sampled_from([0, 0, 5, 16, 33])))
        known += outputs
    for state in build.graph.states:
        size = build.graph.type(state.name).size
        fitting = [n for n in known + held if build.graph.type(n).size == size]
        state.write = draw(st.sampled_from(fitting))
    for name in draw(st.lists(st.sampled_from(known + held), min_size=1, max_size=3)):
        build.output(name)
    return build
