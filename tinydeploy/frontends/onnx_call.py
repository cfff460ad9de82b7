"""What a translation of one ONNX operator sees of its node, and the tables in which translations are found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.errors import Problem, UnsupportedError
from tinydeploy.frontends._common import Builder, make
from tinydeploy.frontends.onnx_graphs import RawGraph, RawNode
from tinydeploy.ir import Array, Elem, Graph, Quant, Type
from tinydeploy.ops._op import Op, Signature

Source: TypeAlias = "str | Array"  # the name of a value of the graph, or the content of a constant
Known: TypeAlias = "Source | None"
Results: TypeAlias = "tuple[Source, ...]"
Translate: TypeAlias = "Callable[[Call], Results]"

TRANSLATIONS: dict[tuple[str, str], Translate] = {}
FOLDS: dict[tuple[str, str], Translate] = {}
KEPT: set[tuple[str, str]] = set()  # translated, not computed, even where all inputs are constants
# operators that move quantised integers about, and those that read their scales
MOVES = frozenset(
    (
        *("reshape", "transpose", "concat", "split", "strided_slice", "pad", "tile", "broadcast_to"),
        *("gather", "gather_nd", "max_pool2d", "max_pool3d"),
    )
)
_KNOW_SCALES = frozenset(("quantize", "dequantize"))
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
class Origins:
    """Which constants were integers in the file, so that operators can keep them so. Names are those of the file.

    ``scales``: of a tensor without zero points, one or one an index of some axis; ``held``: by constant of the graph,
    the tensor it was made from. ``narrow``: element types of tensors that are held in another (int4, float16 ...).
    """

    scales: dict[str, Array] = dataclasses.field(default_factory=dict)
    held: dict[str, str] = dataclasses.field(default_factory=dict)
    narrow: dict[str, str] = dataclasses.field(default_factory=dict)

    def integers(self, name: str, data: Array, axis: int) -> tuple[Array, Quant] | None:
        """A float constant of the graph as int8 with one scale, or one an index of ``axis``; None if inexact."""
        scale = self.scales.get(self.held.get(name, ""))
        if scale is None or data.dtype != np.float32 or scale.size not in (1, data.shape[axis]):
            return None
        spread = scale.reshape(tuple(-1 if i == axis else 1 for i in range(data.ndim))) if scale.size > 1 else scale
        integers = np.rint(data.astype(np.float64) / spread)
        exact = np.array_equal((integers * spread.astype(np.float64)).astype(np.float32), data)
        if not exact or np.max(np.abs(integers), initial=0) > 128 or np.max(integers, initial=0) > 127:
            return None
        single = scale.size == 1
        quant = Quant.per_tensor(float(scale.ravel()[0])) if single else Quant.per_channel(scale, axis)
        return integers.astype(np.int8), quant


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
    origins: Origins = dataclasses.field(default_factory=Origins)

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
        """Make an array a constant of the graph; ``stem``: the tensor of the file it was made from."""
        stem = stem or f"{self.node.label}_const"
        name = self.builder.constant(stem, np.ascontiguousarray(data).reshape(data.shape))
        self.origins.held[name] = stem
        return name

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
        op, stem = make(operator, **attributes), stem or self.node.label
        self._keep_integers(op, inputs)
        quants = {kind.quant for kind in (self.type(n) for n in inputs if n is not None) if kind.quant is not None}
        moved = None
        if quants and operator not in _KNOW_SCALES and not _computes_on_reals(op, self.type(str(inputs[0]))):
            if operator not in MOVES or len(quants) > 1:
                rule = "between QuantizeLinear and DequantizeLinear, integers are only moved"
                raise refuse(f"computes {operator} on quantised integers", rule)
            moved = quants.pop()
            if operator == "pad":  # the file's value is an integer, ours a real number
                real = moved.scale[0] * (attributes.get("value", 0.0) - moved.zero_point[0])
                op = make(operator, **{**attributes, "value": real})
        outputs = self.builder.node(op, inputs, stem=stem, origin=self.node.origin)
        for name in outputs if moved is not None else ():
            value = self.builder.graph.values[name]
            value.type = dataclasses.replace(value.type, quant=moved)
        return outputs

    def _keep_integers(self, op: Op, inputs: tuple[str | None, ...]) -> None:
        """Weights that were integers in the file become such constants."""
        place = op.quant.weights
        name = inputs[place] if place is not None and place < len(inputs) else None
        data = None if name is None else self.builder.graph.constant(name)
        found = None if name is None or data is None else self.origins.integers(name, data, op.quant.weights_axis)
        if name is not None and found is not None:
            value = self.builder.graph.values[name]
            value.data, value.type = found[0], Type(found[0].shape, Elem.S8, found[1])

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


def _computes_on_reals(op: Op, first: Type) -> bool:
    """True for an operator on real numbers whose weights are kept as integers."""
    return op.quant.weights is not None and first.elem is Elem.F32


def normal_axis(axis: int, rank: int, *, extra: int = 0) -> int:
    """An axis counted from the front; negative ones count from the end of ``rank + extra`` axes.

    Raises: UnsupportedError if there is no such axis.
    """
    limit = rank + extra
    if not -limit <= axis < max(limit, 1):
        raise refuse(f"axis {axis} of a tensor with {limit} dimensions", f"axis is within [-{limit}, {limit - 1}]")
    return axis % limit if limit else 0
