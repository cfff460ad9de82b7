"""Runs a graph on samples: in real numbers, or in the generated C's integers (the integer twin)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir.graph import Graph, Node
from tinydeploy.ir.types import Array, Elem, Quant, Type, dequantise
from tinydeploy.ops._op import Op, Signature
from tinydeploy.ops.dequantize import Dequantize

Mode = Literal["float", "integer"]
CHUNK_ELEMENTS = 2**21  # elements of the largest intermediate result worked on at once; bounds the memory


def run_float(
    graph: Graph, feeds: Mapping[str, Array], *, keep: Iterable[str] = (), steps: bool = False
) -> dict[str, Array]:
    """Run the graph in real numbers (float32).

    ``feeds``: one array an input, [samples, ...shape]; with ``steps`` [samples, steps, ...shape], where states pass
    from step to step and begin at `State.initial` for every sample. On a quantised graph constants are dequantised,
    inputs are real numbers and nothing is rounded.
    Returns outputs, and the values named in ``keep``, by name with the same leading axes.

    Raises: InputError with every feed that is missing, unknown or of a wrong shape.
    """
    return _Run(graph, "float").samples(feeds, tuple(keep), steps)


def run_integer(
    graph: Graph, feeds: Mapping[str, Array], *, keep: Iterable[str] = (), steps: bool = False
) -> dict[str, Array]:
    """Run the graph in the arithmetic of the generated C, bit for bit.

    Feeds and result as `run_float`, but in the values' own element types. Operators on float values run in float32.

    Raises: InputError with every feed that is missing, unknown, of a wrong shape or outside its element type.
    """
    return _Run(graph, "integer").samples(feeds, tuple(keep), steps)


@dataclasses.dataclass
class _Step:
    """A node with what is known of it before the run."""

    node: Node
    op: Op
    sig: Signature
    integer: bool
    stacked: bool
    last_use: tuple[str, ...]  # values no longer needed after this node


class _Run:
    """A graph prepared for one mode; values are arrays [samples, ...shape], constants have no sample axis."""

    def __init__(self, graph: Graph, mode: Mode) -> None:
        self.graph, self.mode = graph, mode
        self.constants = {
            name: self._constant(value.data, value.type)
            for name, value in graph.values.items()
            if value.data is not None
        }
        self._dequantise_biases()
        unused = _last_uses(graph)
        self.steps = [self._prepare(node, names) for node, names in zip(graph.nodes, unused, strict=True)]

    def _constant(self, data: Array, kind: Type) -> Array:
        if self.mode == "float" and kind.quant is not None:
            return dequantise(data, kind)
        return data

    def _dequantise_biases(self) -> None:
        """In float, a bias without a scale of its own has that of the accumulator."""
        if self.mode == "integer":
            return
        for node in self.graph.nodes:
            rule = node.op.quant
            name = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(node.inputs) else None
            if name is None or name not in self.constants or self.constants[name].dtype.kind not in "iu":
                continue
            x, weights = self.graph.type(str(node.inputs[0])), self.graph.type(str(node.inputs[rule.weights])).quant
            if x.quant is None or weights is None:
                continue
            scales = tuple(float(s) for s in x.scale * weights.scales())
            kind = dataclasses.replace(self.graph.type(name), quant=Quant(scales, (0,) * len(scales), 0))
            self.constants[name] = dequantise(self.constants[name], kind)

    def _prepare(self, node: Node, unused: tuple[str, ...]) -> _Step:
        graph, op = self.graph, node.op
        sig = Signature.of(graph, node)
        integer = self.mode == "integer" and (isinstance(op, Dequantize) or not sig.outputs[0].elem.is_float)
        rule = op.quant
        computed = [name for i, name in enumerate(node.inputs) if i in (rule.weights, rule.bias) and name is not None]
        # Weights that are computed have a sample axis of their own, which is no axis of the operator's.
        stacked = op.batchable(sig) and all(name in self.constants for name in computed)
        return _Step(node, op, sig, integer, stacked, unused)

    def samples(self, feeds: Mapping[str, Array], keep: tuple[str, ...], steps: bool) -> dict[str, Array]:
        arrays = self._check(feeds, keep, steps)
        count = next((len(array) for array in arrays.values()), 1)
        chunk = max(1, min(count, CHUNK_ELEMENTS // self._largest()))
        wanted = tuple(dict.fromkeys((*self.graph.outputs, *keep)))
        pieces = [
            self._chunk({name: array[start : start + chunk] for name, array in arrays.items()}, wanted, steps)
            for start in range(0, count, chunk)
        ]
        if not pieces:
            lead = (0, 0) if steps else (0,)
            return {name: np.zeros((*lead, *self.graph.type(name).shape), self._dtype(name)) for name in wanted}
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in wanted}

    def _dtype(self, name: str) -> np.dtype[np.generic]:
        kind = self.graph.type(name)
        if self.mode == "float" and (kind.quant is not None or kind.elem.is_float):
            return np.dtype(np.float32)
        return kind.elem.dtype

    def _largest(self) -> int:
        """Elements of the largest value or unfolded window matrix of one sample."""
        largest = max((value.type.size for value in self.graph.values.values() if value.data is None), default=1)
        for step in self.steps:
            macs, channels = step.op.macs(step.sig), math.prod(step.sig.outputs[0].shape[-1:])
            largest = max(largest, macs // max(channels, 1))
        return max(largest, 1)

    def _check(self, feeds: Mapping[str, Array], keep: tuple[str, ...], steps: bool) -> dict[str, Array]:
        problems: list[Problem] = []
        arrays: dict[str, Array] = {}
        lead = 2 if steps else 1
        words = "[samples, steps, ...]" if steps else "[samples, ...]"
        for name in self.graph.inputs:
            if name not in feeds:
                problems.append(Problem(f"input {name!r}", "no data given"))
                continue
            array, kind = np.asarray(feeds[name]), self.graph.type(name)
            if array.ndim < lead or array.shape[lead:] != kind.shape:
                rule = f"{words} with ... = {kind.shape}"
                problems.append(Problem(f"input {name!r}", f"data has shape {array.shape}", rule=rule))
                continue
            if self._dtype(name).kind in "iu" and not _fits(array, kind.elem):
                problems.append(
                    Problem(f"input {name!r}", f"{array.dtype} data is not all {kind.elem.value}", rule=f"takes {kind}")
                )
                continue
            arrays[name] = array.astype(self._dtype(name), copy=False)
        inputs, values = self.graph.inputs, self.graph.values
        problems += [Problem(f"feed {n!r}", "the graph has no such input") for n in feeds if n not in inputs]
        problems += [Problem(f"value {n!r}", "the graph has no such value") for n in keep if n not in values]
        if len({array.shape[:lead] for array in arrays.values()}) > 1:
            problems.append(Problem("feeds", "the inputs have different numbers of samples or steps"))
        if problems:
            raise InputError(problems)
        return arrays

    def _chunk(self, feeds: dict[str, Array], wanted: tuple[str, ...], steps: bool) -> dict[str, Array]:
        count = next((len(array) for array in feeds.values()), 1)
        states = {
            state.read: np.broadcast_to(
                self._constant(state.initial, self.graph.type(state.read)), (count, *state.initial.shape)
            )
            for state in self.graph.states
        }
        if not steps:
            return self._once(feeds, states, wanted, count)
        length = next((array.shape[1] for array in feeds.values()), 1)
        writes = tuple(state.write for state in self.graph.states)
        results: list[dict[str, Array]] = []
        for step in range(length):
            values = self._once({name: array[:, step] for name, array in feeds.items()}, states, wanted + writes, count)
            states = {state.read: values[state.write] for state in self.graph.states}
            results.append({name: values[name] for name in wanted})
        return {name: np.stack([result[name] for result in results], axis=1) for name in wanted}

    def _once(
        self, feeds: dict[str, Array], states: dict[str, Array], wanted: tuple[str, ...], count: int
    ) -> dict[str, Array]:
        values = {**feeds, **states}
        for step in self.steps:
            self._node(step, values, count)
            for name in step.last_use:
                if name not in wanted:
                    values.pop(name, None)
        return {name: self._result(name, values, count) for name in wanted}

    def _result(self, name: str, values: dict[str, Array], count: int) -> Array:
        if name in values:
            return values[name]
        constant = self.constants[name]
        return np.broadcast_to(constant, (count, *constant.shape))

    def _node(self, step: _Step, values: dict[str, Array], count: int) -> None:
        operands = [None if name is None else values.get(name) for name in step.node.inputs]
        constants = [None if name is None else self.constants.get(name) for name in step.node.inputs]
        if step.stacked and any(array is not None for array in operands):
            stacked = [
                constant if array is None else array.reshape(-1, *array.shape[2:])
                for array, constant in zip(operands, constants, strict=True)
            ]
            results = self._apply(step, stacked)
            for name, result in zip(step.node.outputs, results, strict=True):
                values[name] = result.reshape(count, *self.graph.type(name).shape)
            return
        rows = [
            self._apply(
                step,
                [c if array is None else array[i] for array, c in zip(operands, constants, strict=True)],
            )
            for i in range(count)
        ]
        for index, name in enumerate(step.node.outputs):
            values[name] = np.stack([np.asarray(row[index]).reshape(self.graph.type(name).shape) for row in rows])

    def _apply(self, step: _Step, arrays: list[Array | None]) -> tuple[Array, ...]:
        if step.integer:
            return step.op.integer(step.sig, *arrays)
        if self.mode == "integer":
            # A float result of quantised constants (weights kept small only in flash): real numbers.
            arrays = [
                array
                if array is None or kind is None or kind.quant is None or place in step.op.stored
                else dequantise(array, kind)
                for place, (array, kind) in enumerate(zip(arrays, step.sig.inputs, strict=True))
            ]
            return step.op.float32(step.sig, *arrays)
        return step.op.reference(*arrays)


def _last_uses(graph: Graph) -> list[tuple[str, ...]]:
    """For each node the values that it touches and no later node reads."""
    read: set[str | None] = set()
    result = []
    for node in reversed(graph.nodes):
        touched = {name for name in (*node.inputs, *node.outputs) if name is not None}
        result.append(tuple(sorted(touched - read)))
        read.update(node.inputs)
    return result[::-1]


def _fits(array: Array, elem: Elem) -> bool:
    """True if every element is a whole number in the element type's range."""
    if array.dtype.kind not in "iub":
        return False
    low, high = elem.limits
    return array.size == 0 or (int(array.min()) >= low and int(array.max()) <= high)
