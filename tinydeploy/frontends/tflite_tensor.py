"""One tensor of a TFLite file as a plain, checked record: type, quantisation and content.

Legacy uint8 tensors are read as the int8 tensors they equal, shifted by 128. Constants of fewer than 8 bits become
int8, brain floats float32, and sparse ones are expanded.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import checked_shape, short
from tinydeploy.frontends.tflite_flatbuffer import Reader, Table
from tinydeploy.frontends.tflite_schema import ELEMENT_NAMES, ELEMENTS
from tinydeploy.frontends.tflite_sparse import expand
from tinydeploy.ir import Array, Elem, Quant, Type

# Stored as: bits each, is signed. They are packed from the low end of each byte.
_PACKED = {"INT4": (4, True), "UINT4": (4, False), "INT2": (2, True)}
_STORED = {**ELEMENTS, "UINT4": Elem.S8, "INT2": Elem.S8, "BFLOAT16": Elem.F32}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One tensor of the file.

    ``fixed``: the file states its whole shape. ``open_axes``: dimensions it leaves open. ``variable``: it keeps its
    content between runs. ``shifted``: uint8 in the file, int8 here. ``resource``: a handle of a variable, not data.
    """

    name: str
    type: Type
    data: Array | None
    open_axes: tuple[int, ...] = ()
    fixed: bool = False
    variable: bool = False
    shifted: bool = False
    resource: bool = False


def tensor_name(table: Table, index: int) -> str:
    """Its name, or one made of its number."""
    return table.string(3) or f"tensor_{index}"


def read_tensor(reader: Reader, table: Table, buffers: list[Table], index: int, *, shapeless: bool = False) -> Tensor:
    """Tensor number ``index``. ``shapeless``: it only tells a scale, and whatever its shape is does not matter.

    Raises: InputError if it is malformed, UnsupportedError if its type or storage is not supported.
    """
    name = tensor_name(table, index)
    where = f"tensor {index} '{short(name)}'"
    number = int(table.scalar(1, "b"))
    word = ELEMENT_NAMES[number] if 0 <= number < len(ELEMENT_NAMES) else f"number {number}"
    if word == "RESOURCE":
        return Tensor(name, Type((), Elem.S32), None, resource=True)
    if word not in _STORED:
        raise UnsupportedError(Problem(where, f"has the element type {word}", f"types are {', '.join(_STORED)}"))
    if table.scalar(10, "I"):
        raise UnsupportedError(Problem(where, "is in a second file", hint="convert the model into one file"))
    dims = [] if shapeless or (shape := table.numbers(0, "<i4")) is None else [int(d) for d in shape[:64]]
    signature = table.numbers(7, "<i4")
    known = dims if signature is None or len(signature) != len(dims) else [int(d) for d in signature[:64]]
    open_axes = tuple(axis for axis, (d, s) in enumerate(zip(dims, known, strict=True)) if s < 0 or d < 0)
    fixed = not open_axes and (bool(dims) or bool(table.scalar(8, "?", False)))
    stated = checked_shape((1 if axis in open_axes and d <= 0 else d for axis, d in enumerate(dims)), where)
    kind = Type(stated, _STORED[word], None)
    quant = _quant(reader, table.table(4), kind, where, word)
    raw = _bytes(reader, buffers, int(table.scalar(2, "I")), where)
    data = None if raw is None else _content(reader, raw, word, kind, table.table(6), where)
    variable = bool(table.scalar(5, "?", False))
    if variable and data is not None:
        raise reader.error(f"{where} is a variable and has a content")
    shifted = word == "UINT8" and quant is not None
    if shifted:
        assert quant is not None
        quant = dataclasses.replace(quant, zero_point=tuple(z - 128 for z in quant.zero_point))
        kind = Type(stated, Elem.S8)
        data = None if data is None else (data ^ 0x80).view(np.int8)
    elif word in _PACKED:
        if data is None:
            raise UnsupportedError(Problem(where, f"is computed as {word}", "only constants have fewer than 8 bits"))
        kind = Type(stated, Elem.S8)
    return Tensor(name, dataclasses.replace(kind, quant=quant), data, open_axes, fixed, variable, shifted)


def _bytes(reader: Reader, buffers: list[Table], number: int, where: str) -> Array | None:
    """The bytes of a buffer, inside its table or, in large files, behind them; None if it is empty."""
    if number >= len(buffers):
        raise reader.error(f"{where} is in buffer {number} of {len(buffers)}")
    if number == 0:
        return None
    table = buffers[number]
    raw = table.numbers(0, "u1")
    start, size = int(table.scalar(1, "Q")), int(table.scalar(2, "Q"))
    if raw is None and start > 1:
        if start + size > len(reader.data):
            raise reader.error(f"{where} lies outside the file")
        raw = np.frombuffer(reader.data, "u1", size, start)
    return None if raw is None or raw.size == 0 else raw


def _content(reader: Reader, raw: Array, word: str, kind: Type, sparsity: Table | None, where: str) -> Array:
    """The bytes as an array of ``kind`` (for packed types int8)."""
    if sparsity is not None:
        if word in _PACKED or word == "BFLOAT16":
            raise UnsupportedError(Problem(where, f"is sparse {word}", "sparse tensors have 8 bits or more"))
        return expand(reader, raw, kind, sparsity, where)
    packed = _PACKED.get(word)
    bits = 16 if word == "BFLOAT16" else packed[0] if packed else kind.elem.dtype.itemsize * 8
    if raw.size != (kind.size * bits + 7) // 8:
        raise reader.error(f"{where} is {word}{list(kind.shape)} but has {raw.size} bytes")
    if packed:
        return _unpack(raw, *packed)[: kind.size].reshape(kind.shape)
    if word == "BFLOAT16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(kind.shape)
    if kind.elem is Elem.BOOL:
        return np.asarray(raw != 0).reshape(kind.shape)
    native = raw.view(kind.elem.dtype.newbyteorder("<")).astype(kind.elem.dtype, copy=False)
    return np.asarray(native.reshape(kind.shape))


def _unpack(raw: Array, bits: int, signed: bool) -> Array:
    """Fields of ``bits`` bits, the lowest of a byte first, as int8."""
    tops = [(raw << (8 - bits - low)).astype(np.uint8) for low in range(0, 8, bits)]
    fields = np.stack(tops, axis=-1).ravel() & np.uint8(0xFF << (8 - bits) & 0xFF)
    # Shifting down from the top extends the sign, or fills with zeros.
    return np.asarray(fields.view(np.int8) >> (8 - bits) if signed else (fields >> (8 - bits)).view(np.int8))


def _quant(reader: Reader, table: Table | None, kind: Type, where: str, word: str) -> Quant | None:
    scales = None if table is None else table.numbers(2, "<f4")
    if table is None or ((scales is None or scales.size == 0) and not table.scalar(4, "B")) or kind.elem.is_float:
        return None
    if table.scalar(4, "B"):
        raise UnsupportedError(Problem(where, "has a custom quantisation", "scale and zero point are supported"))
    assert scales is not None
    points = table.numbers(3, "<i8")
    zero_points = np.zeros(scales.size, "<i8") if points is None or points.size == 0 else points
    if zero_points.size == 1:
        zero_points = np.repeat(zero_points, scales.size)
    axis = _axis(reader, int(table.scalar(6, "i")), scales.size, kind.shape, where)
    if zero_points.size != scales.size:
        raise reader.error(f"{where} has {scales.size} scales and {zero_points.size} zero points")
    if not all(math.isfinite(s) and s > 0 for s in scales.tolist()):
        raise reader.error(f"{where} has a scale that is not above 0")
    low, high = (0, 255) if word == "UINT8" else kind.elem.limits
    if not all(low <= z <= high for z in zero_points.tolist()):
        raise reader.error(f"{where} has a zero point outside {low} to {high}")
    return Quant(tuple(float(s) for s in scales), tuple(int(z) for z in zero_points), axis)


def _axis(reader: Reader, stated: int, scales: int, shape: tuple[int, ...], where: str) -> int | None:
    """The axis of the scales. TOCO wrote the axis of the weights into the bias, which has one axis only."""
    if scales == 1:
        return None
    axis = 0 if len(shape) == 1 else stated
    if not (0 <= axis < len(shape) and shape[axis] == scales):
        raise reader.error(f"{where} has {scales} scales on axis {axis} of {list(shape)}")
    return axis


def check_readable(tensor: Tensor, where: str) -> None:
    """Raise InputError if the tensor holds no data but a handle."""
    if tensor.resource:
        raise InputError(Problem(where, f"'{short(tensor.name)}' is the handle of a variable, not data"))
