"""Reads an ONNX file into plain Python: checked, sorted, with its external data, and free of `onnx` objects."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import short
from tinydeploy.frontends.onnx_graphs import (
    RawFunction,
    RawGraph,
    RawInput,
    RawNode,
    opsets,
    raw_function,
    raw_graph,
    raw_input,
    sorted_nodes,
    tensors,
)
from tinydeploy.frontends.onnx_tensors import External

__all__ = ["MAX_NODES", "RawFunction", "RawGraph", "RawInput", "RawModel", "RawNode", "read"]

MAX_NODES = 20_000
OLDEST_OPSET = 7


@dataclasses.dataclass(frozen=True)
class RawModel:
    """The parts of the file that are used. ``opsets``: version by domain ("" is the standard one).

    ``functions``: those of the model's own, by domain, name and overload. ``notes``: what the user should know.
    """

    opsets: dict[str, int]
    graph: RawGraph
    inputs: list[RawInput]
    functions: dict[tuple[str, str, str], RawFunction]
    notes: list[str]


def read(data: bytes, path: Path) -> RawModel:
    """Parse and check a model. ``path``: names the file in messages; external data lies beside it.

    Raises: InputError if it is not a sound ONNX model, UnsupportedError for an opset older than 7 and for inputs that
    are no tensors.
    """
    import onnx

    where = path.name
    try:
        proto = onnx.ModelProto.FromString(data)
    except Exception as error:  # protobuf has a class of its own, whose place differs between releases
        raise InputError(Problem(where, f"is not an ONNX file: {error}", hint="export the model again")) from error
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise InputError(Problem(where, "holds no graph", "an ONNX file holds a model with nodes and outputs"))
    count = _count(proto.graph) + sum(_count(function) for function in proto.functions)
    if count > MAX_NODES:
        raise InputError(Problem(where, f"has {count} nodes", f"a model has at most {MAX_NODES}"))
    for graph in (proto.graph, *proto.functions):
        _check_names(graph, where)
    versions = _opsets(proto, where)
    all_tensors = [tensor for graph in (proto.graph, *proto.functions) for tensor in tensors(graph)]
    External(path.parent).take_in(all_tensors, where)
    _check(proto, where)
    inputs = [raw_input(v, where) for v in proto.graph.input]
    graph = raw_graph(proto.graph, where)
    functions = {}
    for function in proto.functions:
        functions["" if function.domain == "ai.onnx" else function.domain, function.name, _overload(function)] = (
            raw_function(function, where)
        )
    wide = [t.name for t in all_tensors if t.data_type == onnx.TensorProto.DOUBLE and math.prod(t.dims) > 1]
    notes = [f"{len(wide)} constants are float64, {short(wide[0])!r} among them: taken as float32"] if wide else []
    return RawModel(versions, graph, [i for i in inputs if i.name not in graph.constants], functions, notes)


def _overload(function: Any) -> str:
    return str(getattr(function, "overload", ""))


def _count(graph: Any) -> int:
    """Nodes of a graph and of the graphs in it."""
    inner = (g for node in graph.node for a in node.attribute for g in (a.g, *a.graphs))
    return len(graph.node) + sum(_count(g) for g in inner if len(g.node))


def _check(proto: Any, where: str) -> None:
    """Raise InputError unless onnx's own checker accepts the model, sorted."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    ordered = sorted_nodes(copy.graph, where)
    del copy.graph.node[:]
    copy.graph.node.extend(ordered)
    for info in (*copy.graph.input, *copy.graph.output):  # the checker insists on shapes; the import does not
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.shape.SetInParent()
    try:
        onnx.checker.check_model(copy)
    except Exception as error:  # the checker's classes differ between releases of onnx
        reason = " ".join(str(error).split())[:600]
        raise InputError(Problem(where, f"is not a valid ONNX model: {reason}", hint="export it again")) from error


def _check_names(graph: Any, where: str) -> None:
    """Raise InputError unless all names are text: protobuf hands out bytes for what is not UTF-8."""
    names: list[Any] = []
    for item in (*graph.input, *graph.output, *getattr(graph, "initializer", ())):
        names.append(item if isinstance(item, str | bytes) else item.name)
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        for attribute in node.attribute:
            names += [attribute.name, attribute.ref_attr_name]
            for inner in (attribute.g, *attribute.graphs):
                _check_names(inner, where)
    broken = [name for name in names if not isinstance(name, str)]
    if broken:
        raise InputError(Problem(where, f"holds the name {broken[0]!r}", "names are UTF-8", "export the model again"))


def _opsets(proto: Any, where: str) -> dict[str, int]:
    found = opsets(proto.opset_import)
    if "" not in found:
        rule = "opset_import states the version of the standard operators; without it their meaning is unknown"
        raise InputError(Problem(where, "imports no standard operator set", rule, "export the model again"))
    if found[""] < OLDEST_OPSET:
        hint = "`onnx.version_converter.convert_version(model, 13)` raises it"
        raise UnsupportedError(Problem(where, f"uses opset {found['']}", f"opset {OLDEST_OPSET} or newer", hint))
    return found
