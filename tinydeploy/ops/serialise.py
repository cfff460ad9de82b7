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
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from tinydeploy.errors import InputError, Problem, TinydeployError
from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Source, State, Type, Value
from tinydeploy.ir.verify import verify
from tinydeploy.ops import registry
from tinydeploy.ops._op import Op

FORMAT = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAX_BYTES = 1 << 30
_MAX_INTEGER = 1 << 31
_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    TinydeployError,  # of `verify`: here the file is wrong, not we
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)


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
            parts = archive.infolist()
            sizes = {part.filename: part.file_size for part in parts}
            if any(part.compress_type != zipfile.ZIP_STORED for part in parts) or sum(sizes.values()) > _MAX_BYTES:
                raise ValueError("a part is packed or too large")
            document = json.loads(archive.read("graphs.json"))
            if document["format"] != FORMAT:
                raise ValueError(f"format {document['format']}, this version reads {FORMAT}")
            graphs = {str(key): _decode(entry, archive, sizes) for key, entry in document["graphs"].items()}
        for graph in graphs.values():
            verify(graph)
    except _FAULTS as error:
        what = f"not a graph file of this version, or changed: {type(error).__name__}: {str(error)[:400]}"
        raise InputError(Problem(where, what, hint="run `tinydeploy convert` again")) from error
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


def _attribute(value: Any, hint: Any) -> Any:
    """An attribute as its operator declares it: ``hint`` is a type as in the operator's class.

    Raises: TypeError, ValueError for anything else.
    """
    if get_origin(hint) is tuple:
        kinds = get_args(hint)
        kinds = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
        return tuple(_attribute(item, kind) for item, kind in zip(value, kinds, strict=True))
    if hint is Elem:
        return Elem(_text(value).removeprefix("elem:"))
    if hint is float:
        return _real(value.removeprefix("float:") if isinstance(value, str) else value)
    if hint is int:
        return _integer(value)
    if type(value) is not hint:
        raise TypeError(f"{value!r} is no {hint}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int or abs(value) > _MAX_INTEGER:
        raise ValueError(f"{value!r} is no integer of 32 bits")
    return value


def _real(value: Any) -> float:
    real = float(value)
    if math.isnan(real):
        raise ValueError("a number is NaN")
    return real


def _decode(entry: dict[str, Any], archive: zipfile.ZipFile, sizes: dict[str, int]) -> Graph:
    def fetch(name: str, kind: Type) -> Array:
        if sizes[name] != kind.size * kind.elem.dtype.itemsize:
            raise ValueError(f"array of {sizes[name]} bytes for {kind}")
        raw = np.frombuffer(archive.read(name), kind.elem.dtype.newbyteorder("<"))
        return raw.astype(kind.elem.dtype).reshape(kind.shape)

    graph = Graph(_text(entry["name"]))
    if entry["source"] is not None:
        graph.source = Source(**{_text(key): _text(item) for key, item in entry["source"].items()})
    for name, packed, data in entry["values"]:
        kind = _decode_type(packed)
        graph.values[_text(name)] = Value(name, kind, None if data is None else fetch(data, kind))
    for name, op_name, attributes, inputs, outputs, origin in entry["nodes"]:
        names = tuple(None if item is None else _text(item) for item in inputs)
        op = _operator(op_name, attributes)
        graph.nodes.append(Node(_text(name), op, names, tuple(map(_text, outputs)), origin and _text(origin)))
    graph.inputs, graph.outputs = list(map(_text, entry["inputs"])), list(map(_text, entry["outputs"]))
    for name, read, write, initial in entry["states"]:
        content = fetch(initial, graph.values[read].type)
        graph.states.append(State(_text(name), _text(read), _text(write), content))
    return graph


def _operator(name: str, attributes: dict[str, Any]) -> Op:
    kind = registry()[name]
    hints = get_type_hints(kind)
    return kind(**{key: _attribute(item, hints[key]) for key, item in attributes.items()})


def _decode_type(packed: list[Any]) -> Type:
    shape, elem, quant = packed
    parsed = None
    if quant is not None:
        scale, zero_point, axis, levels = quant
        parsed = Quant(
            tuple(map(_real, scale)),
            tuple(map(_integer, zero_point)),
            None if axis is None else _integer(axis),
            None if levels is None else tuple(map(_integer, levels)),
        )
        if not all(0 < s < math.inf for s in parsed.scale) or (axis is None and len(parsed.scale) != 1):
            raise ValueError(f"scales {parsed.scale[:3]}")
        low, high = Elem(elem).limits
        if not all(low <= z <= high for z in parsed.zero_point) or not 0 <= (axis or 0) < max(len(shape), 1):
            raise ValueError("zero points or axis out of range")
    return Type(tuple(map(_integer, shape)), Elem(elem), parsed)
