"""What a translation of one ONNX operator sees of its node, and the tables in which translations are found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.errors import Problem, UnsupportedError
from tinydeploy.frontends._common import Builder, make
from tinydeploy.frontends.onnx_graphs import RawGraph, RawNode
from tinydeploy.ir import Array, Elem, Graph, Type
from tinydeploy.ops._op import Signature

Source: TypeAlias = "str | Array"  # the name of a value of the graph, or the content of a constant
Known: TypeAlias = "Source | None"
Results: TypeAlias = "tuple[Source, ...]"
Translate: TypeAlias = "Callable[[Call], Results]"

TRANSLATIONS: dict[tuple[str, str], Translate] = {}
FOLDS: dict[tuple[str, str], Translate] = {}
KEPT: set[tuple[str, str]] = set()  # translated, not computed, even where all inputs are constants
MAX_FOLDED = 1 << 26  # elements of a result that is computed while importing
MAX_FOLDED_MACS = 1 << 30


class Failed(Exception):
    """A graph within a node could not be translated; why has been noted at the nodes at fault."""


def translates(*op_types: str, domain: str = "", keep: bool = False) -> Callable[[Translate], Translate]:
    """Register the function that turns nodes of these types into operators of ours.

    Where all inputs are constants, the operators it makes are computed at once, unless ``keep`` is set.
    """

    def register(function: Translate) -> Translate:
        for op_type in op_types:
            TRANSLATIONS[domain, op_type] = function
            if keep:
                KEPT.add((domain, op_type))
        return function

    return register


def folds(*op_types: str, domain: str = "") -> Callable[[Translate], Translate]:
    """Register the function that computes nodes of these types whose inputs are all known while importing."""

    def register(function: Translate) -> Translate:
        for op_type in op_types:
            FOLDS[domain, op_type] = function
        return function

    return register


def refuse(what: str, rule: str = "", hint: str = "") -> UnsupportedError:
    """The error for something a translation does not take; the node's place is added where it is caught."""
    return UnsupportedError(Problem("", what, rule, hint))


def evaluate(graph: Graph, first: int, results: Results) -> Results:
    """Compute the nodes from number ``first`` on, whose inputs are constants, and remove them.

    Anything else is left as it is: nodes that read what is computed at run time, or would grow too large.
    """
    nodes = graph.nodes[first:]
    if not nodes:
        return results
    found = {name: graph.values[name].data for node in nodes for name in node.inputs if name is not None}
    made = {name for node in nodes for name in node.outputs}
    sizes = [graph.type(name).size for name in made]
    macs = sum(node.op.macs(Signature.of(graph, node)) for node in nodes)
    open_ends = any(data is None for name, data in found.items() if name not in made)
    if open_ends or max(sizes) > MAX_FOLDED or macs > MAX_FOLDED_MACS:
        return results
    for node in nodes:
        arrays = node.op.reference(*(None if name is None else found[name] for name in node.inputs))
        for name, array in zip(node.outputs, arrays, strict=True):
            kind = graph.type(name)
            found[name] = np.asarray(array, kind.elem.dtype).reshape(kind.shape)
    del graph.nodes[first:]
    for name in made:
        del graph.values[name]
    return tuple(_found(found, result) if isinstance(result, str) and result in made else result for result in results)


def _found(arrays: dict[str, Array | None], name: str) -> Array:
    array = arrays[name]
    assert array is not None
    return array


@dataclasses.dataclass
class Call:
    """One ONNX node being translated.

    ``sources``: what each input is, a value's name in the graph or the array of a constant; None where absent.
    ``wanted``: how many leading outputs somebody reads. Attributes that no translation asks for are refused at the end.
    ``walk`` translates a graph in an attribute, its inputs given in order; raises Failed.
    """

    node: RawNode
    opset: int
    builder: Builder
    sources: tuple[Known, ...]
    wanted: int
    asked: set[str] = dataclasses.field(default_factory=set)
    walk: Callable[[RawGraph, tuple[Known, ...]], Results] | None = None

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute's value, or ``default``."""
        self.asked.add(name)
        return self.node.attributes.get(name, default)

    def ignore(self, *names: str) -> None:
        """Say that these attributes do not change the result."""
        self.asked.update(names)

    def has(self, index: int) -> bool:
        """True if the input is there."""
        return index < len(self.sources) and self.sources[index] is not None

    def is_constant(self, index: int) -> bool:
        """True if the input is there and known while importing."""
        return self.has(index) and isinstance(self.sources[index], np.ndarray)

    def constant(self, index: int, role: str) -> Array:
        """The content of a constant input; ``role`` names it in the message.

        Raises: UnsupportedError if it is computed at run time.
        """
        source = self.sources[index] if self.has(index) else None
        if source is None:
            raise refuse(f"has no {role}")
        if isinstance(source, str):
            rule, hint = f"{role} is a constant", "fix it when exporting, or simplify the model (onnxsim)"
            raise refuse(f"{role} {source!r} is computed at run time", rule, hint)
        return source

    def optional(self, index: int, role: str) -> Array | None:
        """The content of a constant input, None where it is absent."""
        return self.constant(index, role) if self.has(index) else None

    def integers(self, index: int, role: str) -> tuple[int, ...] | None:
        """A constant input as integers, None where it is absent."""
        data = self.optional(index, role)
        return None if data is None else tuple(int(v) for v in data.ravel())

    def value(self, index: int) -> str:
        """The name of an input's value; a constant becomes one of the graph's."""
        source = self.sources[index] if self.has(index) else None
        if source is None:
            raise refuse(f"input {index} is absent", "it is required")
        return source if isinstance(source, str) else self.hold(source, self.node.inputs[index])

    def hold(self, data: Array, stem: str = "") -> str:
        """Make an array a constant of the graph."""
        return self.builder.constant(stem or f"{self.node.label}_const", np.ascontiguousarray(data).reshape(data.shape))

    def type(self, name: str) -> Type:
        """Type of a value of the graph."""
        return self.builder.graph.type(name)

    def shape_of(self, index: int) -> tuple[int, ...]:
        """Shape of an input."""
        source = self.sources[index] if self.has(index) else None
        if source is None:
            raise refuse(f"input {index} is absent", "it is required")
        return self.type(source).shape if isinstance(source, str) else tuple(source.shape)

    def float_value(self, index: int) -> str:
        """As `value`, for operators that compute in real numbers.

        Raises: UnsupportedError unless the input is float32.
        """
        name = self.value(index)
        kind = self.type(name)
        if kind.elem is not Elem.F32:
            raise refuse(f"input {index} is {kind.elem.value}", "float32", "export the model in float32")
        return name

    def emit(self, operator: str, *inputs: str | None, stem: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        (name,) = self.emit_many(operator, *inputs, stem=stem, **attributes)
        return name

    def emit_many(self, operator: str, *inputs: str | None, stem: str = "", **attributes: Any) -> tuple[str, ...]:
        """Add a node and return its outputs' names."""
        stem = stem or self.node.label
        return self.builder.node(make(operator, **attributes), inputs, stem=stem, origin=self.node.origin)

    def transpose(self, name: str, perm: tuple[int, ...]) -> str:
        """``name`` with its axes in another order."""
        if perm == tuple(range(len(perm))):
            return name
        return self.emit("transpose", name, perm=perm, stem=f"{self.node.label}_transpose")

    def reshape(self, name: str, shape: tuple[int, ...]) -> str:
        """``name`` in another shape."""
        if shape == self.type(name).shape:
            return name
        return self.emit("reshape", name, shape=shape, stem=f"{self.node.label}_reshape")


def normal_axis(axis: int, rank: int, *, extra: int = 0) -> int:
    """An axis counted from the front; negative ones count from the end of ``rank + extra`` axes.

    Raises: UnsupportedError if there is no such axis.
    """
    limit = rank + extra
    if not -limit <= axis < max(limit, 1):
        raise refuse(f"axis {axis} of a tensor with {limit} dimensions", f"axis is within [-{limit}, {limit - 1}]")
    return axis % limit if limit else 0
