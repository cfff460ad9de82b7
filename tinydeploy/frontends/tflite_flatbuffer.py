"""Reads flatbuffers without trusting them: every offset, length and total is checked before it is used."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Array


class Reader:
    """The bytes of one file.

    Vectors may share bytes, so a small file can describe an endless amount of work. The bytes read through vectors and
    strings are therefore counted; an honest file stays below its own size, a hostile one is stopped at 16 times that.
    """

    def __init__(self, data: bytes, where: str) -> None:
        self.data = data
        self.where = where
        self._budget = 16 * len(data) + (1 << 16)

    def error(self, what: str) -> InputError:
        """An error that says the file is damaged."""
        return InputError(Problem(self.where, f"damaged file: {what}", hint="download or export the model again"))

    def unpack(self, code: str, position: int) -> Any:
        """One little-endian scalar of struct type ``code``."""
        if position < 0 or position + struct.calcsize(code) > len(self.data):
            raise self.error(f"offset {position} is outside its {len(self.data)} bytes")
        return struct.unpack_from(f"<{code}", self.data, position)[0]

    def follow(self, position: int) -> int:
        """Where the unsigned offset stored at ``position`` leads."""
        target = position + int(self.unpack("I", position))
        if target >= len(self.data):
            raise self.error(f"the offset at {position} leads outside its {len(self.data)} bytes")
        return target

    def extent(self, position: int, item_bytes: int, *, counted: bool = True) -> tuple[int, int]:
        """(start, length) of the vector at ``position``; its bytes are known to lie inside the file."""
        length = int(self.unpack("I", position))
        if length * item_bytes > len(self.data) - position - 4:
            raise self.error(f"the vector at {position} has {length} elements, more than the file holds")
        if counted:
            self._budget -= length * item_bytes + 4
            if self._budget < 0:
                raise self.error("its parts overlap so often that they are many times its size")
        return position + 4, length

    def root(self) -> Table:
        """The outermost table."""
        return Table(self, self.follow(0))


class Table:
    """One table. Fields are asked for by their number in the schema; an absent field gives its default."""

    def __init__(self, reader: Reader, position: int) -> None:
        self._reader = reader
        self._position = position
        self._vtable = position - int(reader.unpack("i", position))
        self._vtable_bytes = int(reader.unpack("H", self._vtable))
        self._bytes = int(reader.unpack("H", self._vtable + 2))
        if self._vtable_bytes < 4 or self._vtable_bytes % 2 or self._bytes < 4:
            raise reader.error(f"the table at {position} has an impossible layout")
        if self._vtable + self._vtable_bytes > len(reader.data) or position + self._bytes > len(reader.data):
            raise reader.error(f"the table at {position} ends outside the file")

    def place(self, field: int, size: int) -> int | None:
        """Where in the file a field of ``size`` bytes is; None if it is absent."""
        slot = 4 + 2 * field
        if slot + 2 > self._vtable_bytes:
            return None
        offset = int(self._reader.unpack("H", self._vtable + slot))
        if offset == 0:
            return None
        if offset + size > self._bytes:
            raise self._reader.error(f"field {field} of the table at {self._position} is outside the table")
        return self._position + offset

    def scalar(self, field: int, code: str, default: Any = 0) -> Any:
        """A number; ``code`` is its struct type."""
        position = self.place(field, struct.calcsize(code))
        return default if position is None else self._reader.unpack(code, position)

    def table(self, field: int) -> Table | None:
        """A table, or None if the field is absent."""
        position = self.place(field, 4)
        return None if position is None else Table(self._reader, self._reader.follow(position))

    def tables(self, field: int) -> list[Table]:
        """A vector of tables; absent is empty."""
        position = self.place(field, 4)
        if position is None:
            return []
        start, length = self._reader.extent(self._reader.follow(position), 4)
        return [Table(self._reader, self._reader.follow(start + 4 * i)) for i in range(length)]

    def numbers(self, field: int, dtype: str) -> Array | None:
        """A vector of numbers (a view of the file), or None if the field is absent. ``dtype``: NumPy's, like "<i4"."""
        position = self.place(field, 4)
        if position is None:
            return None
        kind = np.dtype(dtype)
        # Buffers of weights are not counted: they are never copied, and one may serve many tensors.
        start, length = self._reader.extent(self._reader.follow(position), kind.itemsize, counted=kind.itemsize > 1)
        return np.frombuffer(self._reader.data, kind, length, start)

    def string(self, field: int) -> str:
        """A string; absent is empty, bytes that are not UTF-8 are replaced."""
        position = self.place(field, 4)
        if position is None:
            return ""
        start, length = self._reader.extent(self._reader.follow(position), 1)
        return self._reader.data[start : start + length].decode("utf-8", "replace")
