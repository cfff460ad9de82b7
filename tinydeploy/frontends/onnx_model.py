"""Reads an ONNX file into plain Python: checked, sorted, without external data, and free of `onnx` objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import MAX_RANK, checked_shape, short
from tinydeploy.ir import Array, Elem, Type

MAX_NODES = 20_000
OLDEST_OPSET = 7
DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclasses.dataclass(frozen=True)
class RawNode:
    """One node of the file. Absent optional inputs and outputs have the name ""; ``attributes`` hold plain values."""

    label: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    @property
    def origin(self) -> str:
        """What messages call it."""
        domain = "" if self.domain in DEFAULT_DOMAINS else f"{self.domain}."
        return f"{short(self.label)!r} ({domain}{self.op_type})"


@dataclasses.dataclass(frozen=True)
class RawInput:
    """A graph input. ``dims``: an int, a symbol's name or None (unknown) an axis; None where the rank is unknown."""

    name: str
    elem: Elem | None
    dims: tuple[int | str | None, ...] | None


@dataclasses.dataclass(frozen=True)
class RawModel:
    """The parts of the file that are used. ``opsets``: version by domain ("" is the standard one)."""

    opsets: dict[str, int]
    nodes: list[RawNode]
    inputs: list[RawInput]
    outputs: list[str]
    constants: dict[str, Array]


def read(data: bytes, where: str) -> RawModel:
    """Parse and check a model. ``where`` names the file in messages.

    Raises: InputError if it is not a sound ONNX model, UnsupportedError for what stands in the way of all of it
    (external data, functions, sparse tensors, an opset older than 7).
    """
    import onnx

    try:
        proto = onnx.ModelProto.FromString(data)
    except Exception as error:  # protobuf has a class of its own, whose place differs between releases
        raise InputError(Problem(where, f"is not an ONNX file: {error}", hint="export the model again")) from error
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise InputError(Problem(where, "holds no graph", "an ONNX file holds a model with nodes and outputs"))
    _check_names(proto.graph, where)
    opsets = _opsets(proto, where)
    _refuse_whole(proto, where)
    ordered = _sorted_nodes(proto.graph, where)
    del proto.graph.node[:]
    proto.graph.node.extend(ordered)
    inputs = [_input(v, where) for v in proto.graph.input]
    for info in (*proto.graph.input, *proto.graph.output):  # the checker insists on shapes; the import does not
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.shape.SetInParent()
    try:
        onnx.checker.check_model(proto)
    except Exception as error:  # the checker's classes differ between releases of onnx
        reason = " ".join(str(error).split())[:600]
        raise InputError(Problem(where, f"is not a valid ONNX model: {reason}", hint="export it again")) from error
    constants = {t.name: _array(t, f"{where}: tensor {short(t.name)!r}") for t in proto.graph.initializer}
    return RawModel(
        opsets,
        [_node(n, where) for n in proto.graph.node],
        [entry for entry in inputs if entry.name not in constants],
        [v.name for v in proto.graph.output],
        constants,
    )


def _check_names(graph: Any, where: str) -> None:
    """Raise InputError unless all names are text: protobuf hands out bytes for what is not UTF-8."""
    names = [item.name for item in (*graph.input, *graph.output, *graph.initializer)]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output, *(a.name for a in node.attribute)]
    broken = [name for name in names if not isinstance(name, str)]
    if broken:
        raise InputError(Problem(where, f"holds the name {broken[0]!r}", "names are UTF-8", "export the model again"))


def _opsets(proto: Any, where: str) -> dict[str, int]:
    opsets = {("" if entry.domain in DEFAULT_DOMAINS else entry.domain): entry.version for entry in proto.opset_import}
    if "" not in opsets:
        rule = "opset_import states the version of the standard operators; without it their meaning is unknown"
        raise InputError(Problem(where, "imports no standard operator set", rule, "export the model again"))
    if opsets[""] < OLDEST_OPSET:
        hint = "`onnx.version_converter.convert_version(model, 13)` raises it"
        raise UnsupportedError(Problem(where, f"uses opset {opsets['']}", f"opset {OLDEST_OPSET} or newer", hint))
    return opsets


def _refuse_whole(proto: Any, where: str) -> None:
    import onnx

    if len(proto.graph.node) > MAX_NODES:
        raise InputError(Problem(where, f"has {len(proto.graph.node)} nodes", f"a graph has at most {MAX_NODES}"))
    problems = []
    external = [t.name for t in _tensors(proto.graph) if t.data_location == onnx.TensorProto.EXTERNAL]
    if external:
        what = f"keeps {len(external)} tensors in other files, {short(external[0])!r} among them"
        hint = "`onnx.save(onnx.load(path), path)` writes one file"
        problems.append(Problem(where, what, "weights are inside the model file", hint))
    if proto.functions:
        hint = "`onnx.inliner.inline_local_functions(model)` replaces them by their nodes"
        problems.append(Problem(where, "defines functions of its own", "a model consists of operators", hint))
    if proto.graph.sparse_initializer:
        problems.append(Problem(where, "has sparse initialisers", "weights are dense", "export dense weights"))
    if problems:
        raise UnsupportedError(problems)


def _tensors(graph: Any) -> Iterable[Any]:
    """Every tensor of a graph, those in attributes and subgraphs too."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _tensors(subgraph)


def _sorted_nodes(graph: Any, where: str) -> list[Any]:
    """The nodes in an order of execution; exporters have been seen to write them in any order."""
    known = {""} | {v.name for v in graph.input} | {t.name for t in graph.initializer}
    writers: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in node.output:
            if name and (name in writers or name in known):
                raise InputError(Problem(where, f"value {short(name)!r} is written twice", "a value has one writer"))
            writers[name] = index
    needs = [{writers[name] for name in _reads(node) if name not in known and name in writers} for node in graph.node]
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
        return list(graph.node)
    return [graph.node[index] for index in order]


def _reads(node: Any) -> set[str]:
    names = set(node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                names |= _reads(inner)
    return names


def _array(tensor: Any, where: str) -> Array:
    from onnx import numpy_helper

    checked_rank(len(tensor.dims), where)
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except Exception as error:  # ValueError, TypeError and others, by the way in which the tensor is broken
        raise InputError(Problem(where, f"cannot be read: {error}", hint="export the model again")) from error


def checked_rank(rank: int, where: str) -> None:
    """Raise InputError if a tensor has more dimensions than the graph holds."""
    if rank > MAX_RANK:
        raise InputError(Problem(where, f"has {rank} dimensions", f"a tensor has at most {MAX_RANK}"))


def _node(proto: Any, where: str) -> RawNode:
    label = proto.name or next((name for name in proto.output if name), "") or proto.op_type
    attributes = {a.name: _attribute(a, f"{where}: node {short(label)!r}") for a in proto.attribute}
    domain = "" if proto.domain in DEFAULT_DOMAINS else proto.domain
    return RawNode(label, proto.op_type, domain, tuple(proto.input), tuple(proto.output), attributes)


def _attribute(attribute: Any, where: str) -> Any:
    from onnx import AttributeProto

    match attribute.type:
        case AttributeProto.FLOAT:
            return float(attribute.f)
        case AttributeProto.INT:
            return int(attribute.i)
        case AttributeProto.STRING:
            return attribute.s.decode("utf-8", "replace")
        case AttributeProto.TENSOR:
            return _array(attribute.t, f"{where}: attribute {attribute.name!r}")
        case AttributeProto.FLOATS:
            return tuple(float(v) for v in attribute.floats)
        case AttributeProto.INTS:
            return tuple(int(v) for v in attribute.ints)
        case AttributeProto.STRINGS:
            return tuple(v.decode("utf-8", "replace") for v in attribute.strings)
    return None  # subgraphs, types, sparse tensors: no translation reads them, so the node is refused by name


def _input(info: Any, where: str) -> RawInput:
    from onnx import TensorProto

    where = f"{where}: input {short(info.name)!r}"
    if not info.type.HasField("tensor_type"):
        raise UnsupportedError(Problem(where, "is not a tensor", "inputs are tensors"))
    tensor = info.type.tensor_type
    elems = {elem.value.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE"): elem for elem in Elem}
    names = {number: name for name, number in TensorProto.DataType.items()}
    elem = elems.get(names.get(tensor.elem_type, ""))
    if not tensor.HasField("shape"):
        return RawInput(info.name, elem, None)
    checked_rank(len(tensor.shape.dim), where)
    dims = tuple(
        int(d.dim_value) if d.HasField("dim_value") and d.dim_value > 0 else (d.dim_param or None)
        for d in tensor.shape.dim
    )
    checked_shape((d if isinstance(d, int) else 1 for d in dims), where)
    return RawInput(info.name, elem, dims)


def inferred_types(data: bytes, inputs: dict[str, Type]) -> dict[str, Type]:
    """Types of values by ONNX's own shape inference, where static; empty if it fails.

    Only used to go on listing problems after the first one: no result of an import depends on it.
    """
    import onnx

    try:
        proto = onnx.ModelProto.FromString(data)
        for info in proto.graph.input:
            if info.name in inputs:
                del info.type.tensor_type.shape.dim[:]
                for size in inputs[info.name].shape:
                    info.type.tensor_type.shape.dim.add().dim_value = size
        del proto.graph.value_info[:]
        inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True).graph
        found = [_input(info, "") for info in (*inferred.value_info, *inferred.output)]
    except Exception:  # whatever it stumbles over: the problems found so far are still shown
        return {}
    return {
        entry.name: Type(tuple(int(d) for d in entry.dims if isinstance(d, int)), entry.elem)
        for entry in found
        if entry.elem is not None and entry.dims is not None and all(isinstance(d, int) for d in entry.dims)
    }
