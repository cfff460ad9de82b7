"""Writes graphs to bytes and reads them back: what a project folder keeps so that it can be validated later.

The form is a ZIP (stored, fixed dates, so that equal graphs give equal bytes) with ``graphs.json`` and one raw
little-endian array a constant. Reading trusts nothing: sizes, names and operators are checked.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Source, State, Type, Value
from tinydeploy.ir.verify import verify
from tinydeploy.ops import registry

FORMAT = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAX_JSON = 64 << 20
_MAX_ARRAY = 1 << 30


def to_bytes(graphs: dict[str, Graph]) -> bytes:
    """Pack named graphs into one file. Constants shared between them are stored once."""
    arrays: dict[str, bytes] = {}
    document = {"format": FORMAT, "graphs": {key: _encode(graph, arrays) for key, graph in sorted(graphs.items())}}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("graphs.json", _EPOCH), json.dumps(document, sort_keys=True))
        for name in sorted(arrays):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), arrays[name])
    return buffer.getvalue()


def from_bytes(data: bytes, where: str) -> dict[str, Graph]:
    """Read what `to_bytes` wrote. ``where`` names the file in messages.

    Raises: InputError if the bytes are not such a file or do not describe whole graphs.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            if sizes.get("graphs.json", _MAX_JSON + 1) > _MAX_JSON or max(sizes.values()) > _MAX_ARRAY:
                raise ValueError("a part is missing or too large")
            document = json.loads(archive.read("graphs.json"))
            if document["format"] != FORMAT:
                raise ValueError(f"format {document['format']}, this version reads {FORMAT}")
            graphs = {str(key): _decode(entry, archive, sizes) for key, entry in document["graphs"].items()}
        for graph in graphs.values():
            verify(graph)
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, RecursionError) as error:
        raise InputError(
            Problem(where, f"not a graph file of this version: {error}", hint="run `tinydeploy convert` again")
        ) from error
    return graphs


def _encode(graph: Graph, arrays: dict[str, bytes]) -> dict[str, Any]:
    def store(data: Array) -> str:
        raw = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False).tobytes()
        name = hashlib.sha256(raw).hexdigest()
        arrays[name] = raw
        return name

    return {
        "name": graph.name,
        "source": None if graph.source is None else vars(graph.source),
        "values": [
            [value.name, _encode_type(value.type), None if value.data is None else store(value.data)]
            for value in graph.values.values()
        ],
        "nodes": [
            [node.name, node.op.name, _plain(node.op.attributes()), node.inputs, node.outputs, node.origin]
            for node in graph.nodes
        ],
        "inputs": graph.inputs,
        "outputs": graph.outputs,
        "states": [[state.name, state.read, state.write, store(state.initial)] for state in graph.states],
    }


def _encode_type(kind: Type) -> list[Any]:
    quant = kind.quant
    packed = None if quant is None else [quant.scale, quant.zero_point, quant.axis, quant.levels]
    return [kind.shape, kind.elem.value, packed]


def _plain(value: Any) -> Any:
    """JSON form of an attribute: infinities and element types become tagged strings."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Elem):
        return f"elem:{value.value}"
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return f"float:{value}"
    return value


def _attribute(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_attribute(item) for item in value)
    if isinstance(value, str) and value.startswith("elem:"):
        return Elem(value[5:])
    if isinstance(value, str) and value.startswith("float:"):
        return float(value[6:])
    return value


def _decode(entry: dict[str, Any], archive: zipfile.ZipFile, sizes: dict[str, int]) -> Graph:
    def fetch(name: str, kind: Type) -> Array:
        if sizes[name] != kind.size * kind.elem.dtype.itemsize:
            raise ValueError(f"array of {sizes[name]} bytes for {kind}")
        raw = np.frombuffer(archive.read(name), kind.elem.dtype.newbyteorder("<"))
        return raw.astype(kind.elem.dtype).reshape(kind.shape)

    graph = Graph(str(entry["name"]))
    if entry["source"] is not None:
        graph.source = Source(**entry["source"])
    for name, packed, data in entry["values"]:
        kind = _decode_type(packed)
        graph.values[name] = Value(name, kind, None if data is None else fetch(data, kind))
    operators = registry()
    for name, op_name, attributes, inputs, outputs, origin in entry["nodes"]:
        op = operators[op_name](**{key: _attribute(item) for key, item in attributes.items()})
        graph.nodes.append(Node(name, op, tuple(inputs), tuple(outputs), origin))
    graph.inputs, graph.outputs = list(entry["inputs"]), list(entry["outputs"])
    for name, read, write, initial in entry["states"]:
        graph.states.append(State(name, read, write, fetch(initial, graph.values[read].type)))
    return graph


def _decode_type(packed: list[Any]) -> Type:
    shape, elem, quant = packed
    parsed = None
    if quant is not None:
        scale, zero_point, axis, levels = quant
        parsed = Quant(
            tuple(float(s) for s in scale),
            tuple(int(z) for z in zero_point),
            None if axis is None else int(axis),
            None if levels is None else tuple(int(level) for level in levels),
        )
    return Type(tuple(int(d) for d in shape), Elem(elem), parsed)
