"""Tensors of an ONNX file as arrays: element types that are widened, sparse and external data, sizes checked first."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import MAX_FILE_BYTES, MAX_RANK, short
from tinydeploy.ir import Array

MAX_CONSTANT = 1 << 28  # elements of one tensor of a file
# float32 holds every value of the narrower ones; of float64 it keeps 24 bits
WIDENED = ("float16", "bfloat16")
_NARROW = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}
_KNOWN = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32")


def checked_rank(rank: int, where: str) -> None:
    """Raise InputError if a tensor has more dimensions than the graph holds."""
    if rank > MAX_RANK:
        raise InputError(Problem(where, f"has {rank} dimensions", f"a tensor has at most {MAX_RANK}"))


def _checked(dims: Sequence[int], where: str) -> tuple[int, ...]:
    """Dimensions of a constant; those of size 0 are allowed: optional inputs are given that way."""
    checked_rank(len(dims), where)
    shape = tuple(int(d) for d in dims)
    if min(shape, default=0) < 0 or math.prod(shape) > MAX_CONSTANT:
        raise InputError(Problem(where, f"has shape {list(shape)}", f"a constant has at most {MAX_CONSTANT} elements"))
    return shape


def array(tensor: Any, where: str) -> Array:
    """A TensorProto's content; int4 and narrower in int8 or uint8, floats of any other width in float32.

    Raises: InputError if it is damaged or too large, UnsupportedError for texts and complex numbers.
    """
    from onnx import numpy_helper

    _checked(tensor.dims, where)
    try:
        data = np.asarray(numpy_helper.to_array(tensor))
    except Exception as error:  # ValueError, TypeError and others, by the way in which the tensor is broken
        raise InputError(Problem(where, f"cannot be read: {error}", hint="export the model again")) from error
    name = data.dtype.name
    if name in _KNOWN:
        return data
    if name in _NARROW:
        return data.astype(_NARROW[name])
    if name == "float64" or name in WIDENED or name.startswith("float"):
        with np.errstate(over="ignore"):
            return data.astype(np.float32)
    raise UnsupportedError(Problem(where, f"holds {name}", "numbers or bool", "remove it from the model"))


def held_otherwise(tensor: Any) -> str:
    """ONNX's name of an element type that `array` holds in another, else an empty text."""
    from onnx import TensorProto

    known = tensor.data_type in TensorProto.DataType.values()
    name = TensorProto.DataType.Name(tensor.data_type).lower() if known else ""
    return "" if name in (*_KNOWN, "float") else name


def sparse(tensor: Any, where: str) -> Array:
    """A SparseTensorProto as a dense array. Source: ONNX IR, "SparseTensorProto": linear or one index an axis.

    Raises: InputError if an index is outside the shape, given twice, or there are not as many as values.
    """
    shape = _checked(tensor.dims, where)
    values, indices = array(tensor.values, where), array(tensor.indices, where)
    if indices.ndim == 2 and indices.shape[1] == len(shape):
        inside = bool(np.all((indices >= 0) & (indices < np.asarray(shape))))
        linear = np.ravel_multi_index(tuple(indices.T), shape) if inside and shape else np.full(len(indices), -1)
    else:
        linear = indices.ravel()
    size = math.prod(shape)
    sound = len(linear) == values.size and np.all((linear >= 0) & (linear < size))
    if not sound or len(np.unique(linear)) != len(linear) or indices.dtype.kind != "i":
        rule = "one index a value, each once and within the shape"
        raise InputError(Problem(where, "is a sparse tensor whose indices do not fit", rule, "export dense weights"))
    dense = np.zeros(size, values.dtype)
    dense[linear] = values.ravel()
    return dense.reshape(shape)


class External:
    """Reads tensors that are kept in other files, which lie in the model's folder and are no links."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.left = MAX_FILE_BYTES

    def take_in(self, tensors: Iterable[Any], where: str) -> None:
        """Put the content of every external tensor into the tensor itself.

        Raises: InputError with every one that cannot be used.
        """
        from onnx import TensorProto

        problems: list[Problem] = []
        for tensor in tensors:
            if tensor.data_location != TensorProto.EXTERNAL:
                continue
            place = f"{where}: tensor {short(tensor.name)!r}"
            fields = {entry.key: entry.value for entry in tensor.external_data}
            try:
                tensor.raw_data = self._read(fields, tensor, place)
            except InputError as error:
                problems += error.problems
            else:
                del tensor.external_data[:]
                tensor.data_location = TensorProto.DEFAULT
        if problems:
            raise InputError(problems)

    def _read(self, fields: dict[str, str], tensor: Any, where: str) -> bytes:
        from onnx import helper

        size = math.prod(_checked(tensor.dims, where))
        try:
            bits = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
            wanted = (size * bits.get(dtype.name, dtype.itemsize * 8) + 7) // 8
            offset, length = (int(fields.get(key) or default) for key, default in (("offset", 0), ("length", wanted)))
        except (KeyError, ValueError, TypeError):
            raise InputError(Problem(where, "has an unreadable offset, length or element type")) from None
        if length != wanted or offset < 0:
            what = f"takes {length} bytes from offset {offset} of another file"
            raise InputError(Problem(where, what, f"its shape needs {wanted}", "save the model again"))
        if wanted > self.left:
            raise InputError(Problem(where, "makes the model too large", f"at most {MAX_FILE_BYTES} bytes"))
        self.left -= wanted
        return _piece(self._path(fields.get("location", ""), where), offset, length, where)

    def _path(self, location: str, where: str) -> Path:
        folder = Path(os.path.realpath(self.folder))
        what = f"is kept in the file {short(location)!r}"
        rule = "other files lie in the folder of the model, and neither they nor their folders are links"
        parts = location.replace("\\", "/").split("/")
        if not location or "\0" in location or ".." in parts or location.startswith(("/", "\\")) or ":" in parts[0]:
            raise InputError(Problem(where, what, rule))
        path = folder.joinpath(*parts)
        if Path(os.path.realpath(path)) != path:
            raise InputError(Problem(where, what, rule))
        return path


def _piece(path: Path, offset: int, length: int, where: str) -> bytes:
    """Bytes of a plain file that has one name only."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        what = f"is kept in the file {path.name!r}, which cannot be opened: {error.strerror}"
        raise InputError(Problem(where, what, hint="keep the model and its data files together")) from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            raise InputError(Problem(where, f"is kept in {path.name!r}", "an ordinary file that is no link"))
        if offset + length > facts.st_size:
            what = f"ends at byte {offset + length} of {path.name!r}, which has {facts.st_size}"
            raise InputError(Problem(where, what, hint="the file was cut off: copy it again"))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            file.seek(offset)
            return file.read(length)
    finally:
        os.close(descriptor)
