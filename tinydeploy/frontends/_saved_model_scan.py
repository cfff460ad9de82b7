"""What a SavedModel would do if TensorFlow ran it: the operators of its graphs, read from the file's bytes alone.

Source: tensorflow/core/protobuf/saved_model.proto, meta_graph.proto; graph.proto, function.proto, node_def.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tinydeploy.errors import InputError, Problem, UnsupportedError

MAX_NODES = 1 << 20
# Fields that lead from SavedModel to its nodes: graphs, the graph, its nodes, its functions and theirs.
_META_GRAPH, _GRAPH, _NODE, _LIBRARY, _FUNCTION, _SIGNATURE, _FUNCTION_NODE = 2, 2, 1, 2, 1, 1, 3
_NODE_NAME, _NODE_OP = 1, 2
_SIGNATURE_DEF = 5
# Operators that read or write files, load code, talk to the network or call back into Python.
_FORBIDDEN = re.compile(
    "PyFunc|ReadFile|WriteFile|MatchingFiles|Dataset|Reader|Iterator|Summary|TextFile|Checkpoint|Restore|Save(?!d)|"
    "LoadAndRemap|DecodeProto|EncodeProto|^Debug|^Print|Queue|Rpc|Worker|Server|Send|Recv|TRTEngine|CustomCall|"
    "FileSystem|Library|^Tpu|TPU|Xla(?!Dot|Pad|Gather|Dynamic)|RemoteCall|TfLite|Pywrap|Audio|Tape|Wav"
)
# Saving itself is an operator of every SavedModel, in a function or a scope of its own, which no signature calls.
_SAVER_OPERATORS = ("SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename")
_SAVER_PLACES = re.compile(r"^(save(_\d+)?/|__inference__traced_(save|restore)_\d+$)")


def check(folder: Path, data: bytes) -> None:
    """Refuse a SavedModel that could do anything but compute.

    ``data``: content of its saved_model.pb. Raises: InputError if it is damaged, or files lie outside the folder;
    UnsupportedError that names every operator that is not let through.
    """
    root = folder.resolve()
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.resolve().is_relative_to(root):
            raise InputError(Problem(str(path), "is a link", "all of a SavedModel is inside its folder"))
    where = str(folder / "saved_model.pb")
    try:
        found = sorted({op for op, place in _operators(data) if _is_forbidden(op, place)})
    except (IndexError, ValueError) as error:
        raise InputError(Problem(where, f"is damaged: {error}", hint="save the model again")) from None
    if found:
        rule = "a model computes; it touches no files and runs no code"
        hint = "save the model as .keras, or convert it to .tflite or .onnx"
        raise UnsupportedError([Problem(where, f"holds the operator {op[:80]}", rule, hint) for op in found])


def signatures(data: bytes) -> list[str]:
    """Names of the signatures, without those by which TensorFlow keeps house ("__saved_model_init_op")."""
    entries = (entry for meta in _messages(data, _META_GRAPH) for entry in _messages(meta, _SIGNATURE_DEF))
    return sorted({name for entry in entries if not (name := _text(_messages(entry, 1))).startswith("__")})


def _is_forbidden(op: str, place: str) -> bool:
    if op in _SAVER_OPERATORS and _SAVER_PLACES.search(place):
        return False
    return _FORBIDDEN.search(op) is not None


def _operators(data: bytes) -> Iterator[tuple[str, str]]:
    """(operator, where it stands: the node's name, or the function's) of every node."""
    count = 0
    for meta in _messages(data, _META_GRAPH):
        for graph in _messages(meta, _GRAPH):
            nodes = [(node, "") for node in _messages(graph, _NODE)]
            for library in _messages(graph, _LIBRARY):
                for function in _messages(library, _FUNCTION):
                    name = "".join(_text(_messages(s, _NODE_NAME)) for s in _messages(function, _SIGNATURE))
                    nodes += [(node, name) for node in _messages(function, _FUNCTION_NODE)]
            for node, function_name in nodes:
                count += 1
                if count > MAX_NODES:
                    raise ValueError(f"it has more than {MAX_NODES} nodes")
                yield _text(_messages(node, _NODE_OP)), function_name or _text(_messages(node, _NODE_NAME))


def _text(parts: Iterator[memoryview]) -> str:
    return bytes(next(parts, memoryview(b""))).decode("utf-8", "replace")


def _messages(data: bytes | memoryview, wanted: int) -> Iterator[memoryview]:
    """The length-delimited fields ``wanted`` of a protobuf message.

    Raises: IndexError, ValueError where the bytes end early or make no message.
    """
    view, at = memoryview(data), 0
    while at < len(view):
        tag, at = _varint(view, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(view, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            length, at = _varint(view, at)
            if length > len(view) - at:
                raise ValueError("a field is longer than the file")
            if tag >> 3 == wanted:
                yield view[at : at + length]
            at += length
        else:
            raise ValueError(f"a field has the unknown wire type {kind}")
    if at != len(view):
        raise ValueError("it ends within a field")


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number has more than ten bytes")
