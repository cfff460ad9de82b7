"""ONNX graphs, nodes and attributes as plain Python; nodes in an order in which they can run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import checked_shape, short
from tinydeploy.frontends.onnx_tensors import WIDENED, array, checked_rank, held_otherwise, sparse
from tinydeploy.ir import Array, Elem

DEFAULT_DOMAINS = ("", "ai.onnx")
MAX_DEPTH = 16  # of graphs within graphs


@dataclasses.dataclass(frozen=True)
class Reference:
    """An attribute of a function's node whose value is an attribute of the node that calls the function."""

    name: str


@dataclasses.dataclass(frozen=True)
class RawNode:
    """One node of the file. Absent optional inputs and outputs have the name ""; ``attributes`` hold plain values."""

    label: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    overload: str = ""

    @property
    def origin(self) -> str:
        """What messages call it."""
        domain = "" if self.domain in DEFAULT_DOMAINS else f"{self.domain}."
        return f"{short(self.label)!r} ({domain}{self.op_type})"

    def reads(self) -> set[str]:
        """Names it reads, those of the graphs in its attributes too."""
        inner = [g.free() for g in self.attributes.values() if isinstance(g, RawGraph)]
        return {name for name in self.inputs if name}.union(*inner)


@dataclasses.dataclass(frozen=True)
class RawInput:
    """A graph input. ``dims``: an int, a symbol's name or None (unknown) an axis; None where the rank is unknown.

    ``widened``: the name of the element type in the file, where ours is wider or narrower.
    """

    name: str
    elem: Elem | None
    dims: tuple[int | str | None, ...] | None
    widened: str = ""


@dataclasses.dataclass(frozen=True)
class RawGraph:
    """A graph: the model's, one in an attribute (a branch, a loop's body), or the body of a function.

    ``narrow``: element types in the file, by constant, where the array has another (int4 in int8, float16 in float32).
    """

    nodes: tuple[RawNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: dict[str, Array]
    narrow: dict[str, str] = dataclasses.field(default_factory=dict)

    def free(self) -> set[str]:
        """Names it takes from the graph around it."""
        own = {*self.inputs, *self.constants}.union(*(node.outputs for node in self.nodes))
        return set(self.outputs).union(*(node.reads() for node in self.nodes)) - own


@dataclasses.dataclass(frozen=True)
class RawFunction:
    """A function of the model: its body, the attributes it takes and their defaults, the operator sets it uses."""

    body: RawGraph
    attributes: tuple[str, ...]
    defaults: dict[str, Any]
    opsets: dict[str, int]


def opsets(imports: Any) -> dict[str, int]:
    """Version by domain ("" is the standard one)."""
    return {("" if entry.domain in DEFAULT_DOMAINS else entry.domain): int(entry.version) for entry in imports}


def raw_graph(proto: Any, where: str, depth: int = 0) -> RawGraph:
    """A GraphProto."""
    if depth > MAX_DEPTH:
        raise InputError(Problem(where, "holds graphs within graphs without end", f"at most {MAX_DEPTH} deep"))
    constants = {t.name: array(t, f"{where}: tensor {short(t.name)!r}") for t in proto.initializer}
    for tensor in proto.sparse_initializer:
        name = tensor.values.name
        constants[name] = sparse(tensor, f"{where}: tensor {short(name)!r}")
    inputs = tuple(entry.name for entry in proto.input if entry.name not in constants)
    nodes = tuple(_node(node, where, depth) for node in sorted_nodes(proto, where))
    small = {t.name: held_otherwise(t) for t in proto.initializer}
    outputs = tuple(entry.name for entry in proto.output)
    return RawGraph(nodes, inputs, outputs, constants, {name: kind for name, kind in small.items() if kind})


def raw_function(proto: Any, where: str) -> RawFunction:
    """A FunctionProto."""
    where = f"{where}: function {short(proto.name)!r}"
    nodes = tuple(_node(node, where, 0) for node in _ordered(list(proto.node), set(proto.input), where))
    defaults = {a.name: _attribute(a, where, 0) for a in proto.attribute_proto}
    body = RawGraph(nodes, tuple(proto.input), tuple(proto.output), {})
    return RawFunction(body, tuple(proto.attribute), defaults, opsets(proto.opset_import))


def tensors(graph: Any) -> Iterator[Any]:
    """Every dense tensor of a GraphProto or FunctionProto, those in attributes and inner graphs too."""
    yield from getattr(graph, "initializer", ())
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for inner in (attribute.g, *attribute.graphs):
                yield from tensors(inner)


def sorted_nodes(graph: Any, where: str) -> list[Any]:
    """The nodes in an order of execution; exporters have been seen to write them in any order."""
    known = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    return _ordered(list(graph.node), known | {t.values.name for t in graph.sparse_initializer}, where)


def _ordered(nodes: list[Any], given: set[str], where: str) -> list[Any]:
    known = {"", *given}
    writers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name and (name in writers or name in known):
                raise InputError(Problem(where, f"value {short(name)!r} is written twice", "a value has one writer"))
            writers[name] = index
    needs = [{writers[name] for name in _reads(node) if name not in known and name in writers} for node in nodes]
    users: dict[int, list[int]] = {}
    for index, sources in enumerate(needs):
        for source in sources:
            users.setdefault(source, []).append(index)
    waiting = [len(sources) for sources in needs]
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        order.append(ready.pop(0))
        for user in users.get(order[-1], ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if len(order) < len(waiting):
        raise InputError(Problem(where, "has nodes that feed each other in a circle", "a graph has no cycles"))
    # The file's own order is kept where it is valid, so that the generated code follows the user's numbering.
    if all(max(sources, default=-1) < index for index, sources in enumerate(needs)):
        return nodes
    return [nodes[index] for index in order]


def _reads(node: Any) -> set[str]:
    names = set(node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            names.update(entry.name for entry in graph.output)
            for inner in graph.node:
                names |= _reads(inner)
    return names


def _node(proto: Any, where: str, depth: int) -> RawNode:
    label = proto.name or next((name for name in proto.output if name), "") or proto.op_type
    place = f"{where}: node {short(label)!r}"
    attributes = {a.name: _attribute(a, place, depth) for a in proto.attribute}
    domain = "" if proto.domain in DEFAULT_DOMAINS else proto.domain
    inputs, outputs = tuple(proto.input), tuple(proto.output)
    return RawNode(label, proto.op_type, domain, inputs, outputs, attributes, getattr(proto, "overload", ""))


def _attribute(attribute: Any, where: str, depth: int) -> Any:
    from onnx import AttributeProto

    where = f"{where}: attribute {short(attribute.name)!r}"
    if attribute.ref_attr_name:
        return Reference(attribute.ref_attr_name)
    match attribute.type:
        case AttributeProto.FLOAT:
            return float(attribute.f)
        case AttributeProto.INT:
            return int(attribute.i)
        case AttributeProto.STRING:
            return attribute.s.decode("utf-8", "replace")
        case AttributeProto.TENSOR:
            return array(attribute.t, where)
        case AttributeProto.SPARSE_TENSOR:
            return sparse(attribute.sparse_tensor, where)
        case AttributeProto.GRAPH:
            return raw_graph(attribute.g, where, depth + 1)
        case AttributeProto.FLOATS:
            return tuple(float(v) for v in attribute.floats)
        case AttributeProto.INTS:
            return tuple(int(v) for v in attribute.ints)
        case AttributeProto.STRINGS:
            return tuple(v.decode("utf-8", "replace") for v in attribute.strings)
    return None  # types and lists of graphs: no translation reads them, so the node is refused by name


def raw_input(info: Any, where: str) -> RawInput:
    """A ValueInfoProto of the model.

    Raises: UnsupportedError if it is no tensor.
    """
    from onnx import TensorProto

    where = f"{where}: input {short(info.name)!r}"
    if not info.type.HasField("tensor_type"):
        raise UnsupportedError(Problem(where, "is not a tensor", "inputs are tensors"))
    tensor = info.type.tensor_type
    names = {number: name.lower() for name, number in TensorProto.DataType.items()}
    found = names.get(tensor.elem_type, "").replace("double", "float64")
    found = "float32" if found == "float" else found
    widened = found if found == "float64" or found in WIDENED else ""
    elem = next((e for e in Elem if e.value == ("float32" if widened else found) and e is not Elem.S4), None)
    if not tensor.HasField("shape"):
        return RawInput(info.name, elem, None, widened)
    checked_rank(len(tensor.shape.dim), where)
    dims = tuple(
        int(d.dim_value) if d.HasField("dim_value") and d.dim_value > 0 else (d.dim_param or None)
        for d in tensor.shape.dim
    )
    checked_shape((d if isinstance(d, int) else 1 for d in dims), where)
    return RawInput(info.name, elem, dims, widened)


def bound(node: RawNode, values: dict[str, Any]) -> RawNode:
    """A node of a function with the caller's attributes; one that refers to an attribute nobody gives loses it."""
    attributes = {}
    for name, value in node.attributes.items():
        if isinstance(value, Reference):
            if value.name in values:
                attributes[name] = values[value.name]
        elif isinstance(value, RawGraph):
            nodes = tuple(bound(inner, values) for inner in value.nodes)
            attributes[name] = dataclasses.replace(value, nodes=nodes)
        else:
            attributes[name] = value
    return dataclasses.replace(node, attributes=attributes)
