"""The first subgraph of a TFLite file as plain, checked records: tensors and operators."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import checked_shape, short
from tinydeploy.frontends.tflite_flatbuffer import Reader, Table
from tinydeploy.frontends.tflite_schema import BUILTINS, ELEMENT_NAMES, ELEMENTS
from tinydeploy.ir import Array, Elem, Quant, Type

MAX_TENSORS = 1 << 16
MAX_OPERANDS = 1 << 12


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One tensor of the file. ``fixed``: the file states its whole shape. ``open_axes``: dimensions it leaves open."""

    name: str
    type: Type
    data: Array | None
    open_axes: tuple[int, ...]
    fixed: bool


@dataclasses.dataclass(frozen=True)
class Operator:
    """One operator of the file; inputs and outputs are tensor numbers, -1 an absent input.

    ``first``, ``second``: (number in the union, table) of its builtin options, and of those of later operators.
    ``intermediates``: tensors that only tell how a quantised LSTM scales what it computes inside.
    """

    index: int
    kind: str
    custom: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    first: tuple[int, Table | None]
    second: tuple[int, Table | None]
    intermediates: tuple[int, ...]


class Model:
    """Lazy view of a file: a tensor is read, and complained about, only when something uses it."""

    def __init__(self, data: bytes, where: str) -> None:
        if len(data) < 8 or data[4:8] != b"TFL3":
            raise InputError(
                Problem(where, "is not a TensorFlow Lite model", "bytes 4 to 7 are 'TFL3'", "is the suffix right?")
            )
        self._reader = Reader(data, where)
        root = self._reader.root()
        version = root.scalar(0, "I")
        if version != 3:
            raise UnsupportedError(Problem(where, f"has schema version {version}", "version 3 is read"))
        subgraphs = root.tables(2)
        if not subgraphs:
            raise self._reader.error("it has no subgraph")
        main = subgraphs[0]
        self._buffers = root.tables(4)
        self._tensors = main.tables(0)
        if len(self._tensors) > MAX_TENSORS:
            raise self._reader.error(f"it has {len(self._tensors)} tensors")
        self._cache: dict[int, Tensor] = {}
        self.inputs = self._indices(main, 1)
        self.outputs = self._indices(main, 2)
        codes = [self._code(code) for code in root.tables(1)]
        self.operators = [self._operator(i, table, codes) for i, table in enumerate(main.tables(3))]

    def _indices(self, table: Table, field: int, *, optional: bool = False) -> tuple[int, ...]:
        numbers = table.numbers(field, "<i4")
        indices = () if numbers is None else tuple(int(i) for i in numbers[: MAX_OPERANDS + 1])
        if len(indices) > MAX_OPERANDS:
            raise self._reader.error(f"a list names more than {MAX_OPERANDS} tensors")
        for index in indices:
            if not (-1 if optional else 0) <= index < len(self._tensors):
                raise self._reader.error(f"it uses tensor {index} of {len(self._tensors)}")
        return indices

    @staticmethod
    def _code(table: Table) -> tuple[str, str, int]:
        # Old files hold the number in a byte; new ones store 127 there once the number no longer fits.
        number = max(int(table.scalar(0, "b")), int(table.scalar(3, "i")))
        kind = BUILTINS[number] if 0 <= number < len(BUILTINS) else f"builtin operator {number}"
        return kind, table.string(1), int(table.scalar(2, "i", 1))

    def _operator(self, index: int, table: Table, codes: list[tuple[str, str, int]]) -> Operator:
        code = int(table.scalar(0, "I"))
        if code >= len(codes):
            raise self._reader.error(f"operator {index} has kind {code} of {len(codes)}")
        kind, custom, version = codes[code]
        inputs = self._indices(table, 1, optional=True)
        outputs = self._indices(table, 2)
        first = int(table.scalar(3, "B")), table.table(4)
        second = int(table.scalar(11, "B")), table.table(12)
        intermediates = self._indices(table, 8)
        return Operator(index, kind, custom, version, inputs, outputs, first, second, intermediates)

    def tensor(self, index: int) -> Tensor:
        """Tensor number ``index``.

        Raises: InputError if it is malformed, UnsupportedError if its type or storage is not supported.
        """
        if index not in self._cache:
            self._cache[index] = self._read_tensor(index)
        return self._cache[index]

    def _read_tensor(self, index: int) -> Tensor:
        table = self._tensors[index]
        name = table.string(3) or f"tensor_{index}"
        where = f"tensor {index} '{short(name)}'"
        number = int(table.scalar(1, "b"))
        word = ELEMENT_NAMES[number] if 0 <= number < len(ELEMENT_NAMES) else f"number {number}"
        if word not in ELEMENTS:
            raise UnsupportedError(Problem(where, f"has the element type {word}", f"types are {', '.join(ELEMENTS)}"))
        if table.scalar(5, "?", False):
            raise UnsupportedError(
                Problem(where, "is a variable that lives between runs", hint="convert the model with constant states")
            )
        if table.table(6) is not None:
            raise UnsupportedError(
                Problem(
                    where, "is stored in TFLite's sparse format", hint="convert without sparsity; see --sparsity 2:4"
                )
            )
        dims = [] if (shape := table.numbers(0, "<i4")) is None else [int(d) for d in shape[:64]]
        signature = table.numbers(7, "<i4")
        known = dims if signature is None or len(signature) != len(dims) else [int(d) for d in signature[:64]]
        open_axes = tuple(axis for axis, (d, s) in enumerate(zip(dims, known, strict=True)) if s < 0 or d < 0)
        fixed = not open_axes and (bool(dims) or bool(table.scalar(8, "?", False)))
        stated = checked_shape((1 if axis in open_axes and d <= 0 else d for axis, d in enumerate(dims)), where)
        elem = ELEMENTS[word]
        kind = Type(stated, elem, self._quant(table.table(4), stated, elem, where))
        return Tensor(name, kind, self._data(int(table.scalar(2, "I")), kind, where), open_axes, fixed)

    def _data(self, buffer: int, kind: Type, where: str) -> Array | None:
        if buffer >= len(self._buffers):
            raise self._reader.error(f"{where} is in buffer {buffer} of {len(self._buffers)}")
        if buffer == 0:
            return None
        table = self._buffers[buffer]
        raw = table.numbers(0, "u1")
        start, size = int(table.scalar(1, "Q")), int(table.scalar(2, "Q"))
        if raw is None and start > 1:
            file = self._reader.data
            if start + size > len(file):
                raise self._reader.error(f"{where} lies outside the file")
            raw = np.frombuffer(file, "u1", size, start)
        if raw is None or raw.size == 0:
            return None
        if raw.size != kind.nbytes:
            raise self._reader.error(f"{where} is {kind} but has {raw.size} bytes")
        if kind.elem is Elem.S4:
            # Two a byte, low half first; shifting up and down again extends the sign.
            halves = np.stack([raw << 4, raw & 0xF0], axis=-1).ravel()[: kind.size].view("i1") >> 4
            return np.asarray(halves.reshape(kind.shape))
        if kind.elem is Elem.BOOL:
            return np.asarray(raw != 0).reshape(kind.shape)
        native = raw.view(kind.elem.dtype.newbyteorder("<")).astype(kind.elem.dtype, copy=False)
        return np.asarray(native.reshape(kind.shape))

    def _quant(self, table: Table | None, shape: tuple[int, ...], elem: Elem, where: str) -> Quant | None:
        scales = None if table is None else table.numbers(2, "<f4")
        if table is None or ((scales is None or scales.size == 0) and not table.scalar(4, "B")) or elem.is_float:
            return None
        if table.scalar(4, "B"):
            raise UnsupportedError(Problem(where, "has a custom quantisation", "scale and zero point are supported"))
        assert scales is not None
        points = table.numbers(3, "<i8")
        zero_points = np.zeros(scales.size, "<i8") if points is None or points.size == 0 else points
        if zero_points.size == 1:
            zero_points = np.repeat(zero_points, scales.size)
        # TOCO wrote the axis of the weights into the bias, which has one axis only.
        axis = None if scales.size == 1 else 0 if len(shape) == 1 else int(table.scalar(6, "i"))
        if axis is not None and not (0 <= axis < len(shape) and shape[axis] == scales.size):
            raise self._reader.error(f"{where} has {scales.size} scales on axis {axis} of {list(shape)}")
        if zero_points.size != scales.size:
            raise self._reader.error(f"{where} has {scales.size} scales and {zero_points.size} zero points")
        low, high = elem.limits
        if not all(math.isfinite(s) and s > 0 for s in scales.tolist()):
            raise self._reader.error(f"{where} has a scale that is not above 0")
        if not all(low <= z <= high for z in zero_points.tolist()):
            raise self._reader.error(f"{where} has a zero point outside {low} to {high}")
        return Quant(tuple(float(s) for s in scales), tuple(int(z) for z in zero_points), axis)
