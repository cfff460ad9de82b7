"""A small HDF5 reader for what Keras writes: groups, string attributes and arrays of floats.

Read are contiguous, compact and chunked data, and the deflate and shuffle filters; `keras_hdf5_objects` says why this
is not left to the HDF5 library.
Source: HDF5 File Format Specification Version 3.0.
"""

from __future__ import annotations

import dataclasses
import math
import zlib

import numpy as np

from tinydeploy.frontends.keras_hdf5_objects import (
    ATTRIBUTE,
    ATTRIBUTE_INFO,
    DATASPACE,
    DATATYPE,
    EXTERNAL,
    FILTERS,
    LAYOUT,
    MAX_DEPTH,
    UNDEFINED,
    Message,
    Objects,
)
from tinydeploy.ir import Array

MAX_UNPACKED_BYTES = 1 << 28
_FLOATS = {(2, 5, 10): "f2", (4, 8, 23): "f4", (8, 11, 52): "f8"}  # bytes, exponent bits, mantissa bits
_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3


@dataclasses.dataclass(frozen=True)
class _String:
    """A string type: fixed ``size`` bytes, or of variable length in the global heap."""

    size: int
    variable: bool


class Hdf5(Objects):
    """An HDF5 file in memory; attributes and arrays are asked for by path, "a/b/c", and the root is ""."""

    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(data, where)
        self._unpacked_left = MAX_UNPACKED_BYTES

    def strings(self, path: str, name: str) -> list[str] | None:
        """An attribute of strings, flattened; None if there is none, or if it holds something else."""
        address = self._object(path)
        if address is None:
            return None
        info = self._find(address, ATTRIBUTE_INFO)
        if info is not None:
            flags = self._number(info.start + 1, 1)
            if self._number(info.start + 2 + (2 if flags & 1 else 0), 8) != UNDEFINED:
                self._unread("indexed attributes")
        for message in self._messages(address):
            if message.kind == ATTRIBUTE:
                found = self._attribute(message, name)
                if found is not None:
                    return found
        return None

    def _attribute(self, message: Message, wanted: str) -> list[str] | None:
        version, flags = self._number(message.start, 1), self._number(message.start + 1, 1)
        if version not in (1, 2, 3) or (version > 1 and flags & 3) or message.flags & 2:
            self._unread(f"attributes of version {version}")
        sizes = [self._number(message.start + 2 + 2 * i, 2) for i in range(3)]
        starts, position = [], message.start + (9 if version == 3 else 8)
        for size in sizes:
            starts.append(position)
            position += -(-size // 8) * 8 if version == 1 else size
        name = self._bytes(starts[0], sizes[0]).split(b"\0")[0].decode("utf-8", "replace")
        if name != wanted:
            return None
        kind = self._type(starts[1])
        count = math.prod(self._shape(starts[2]))
        if not isinstance(kind, _String):
            return [] if count == 0 else None
        if count * kind.size > message.start + message.size - position:
            self._damaged(f"attribute {wanted} is longer than its message")
        items = [self._bytes(position + i * kind.size, kind.size) for i in range(count)]
        return [
            (self._heap(item) if kind.variable else item.rstrip(b"\0")).decode("utf-8", "replace") for item in items
        ]

    def _heap(self, item: bytes) -> bytes:
        """Content of a string of variable length: length, address of its collection, number in it."""
        length, address, index = (int.from_bytes(item[a:b], "little") for a, b in ((0, 4), (4, 12), (12, 16)))
        if length == 0:
            return b""
        self._expect(address, b"GCOL")
        position, end = address + 16, address + self._number(address + 8, 8)
        while position + 16 <= end:
            number, size = self._number(position, 2), self._number(position + 8, 8)
            if number == index:
                return self._bytes(position + 16, min(length, size))
            if number == 0:
                break
            position += 16 + -(-size // 8) * 8
        self._damaged(f"string {index} is not in the collection at {address}")

    # Types, shapes and arrays

    def _type(self, start: int) -> np.dtype[np.generic] | _String | None:
        """A float type, a string type, or None for anything else."""
        head, bits, size = self._number(start, 1), self._number(start + 1, 3), self._number(start + 4, 4)
        kind = head & 15
        if kind == 3:
            return _String(size, variable=False)
        if kind == 9:
            return _String(size, variable=True) if bits & 15 == 1 and size == 16 else None
        if kind == 1 and not bits & 0x40:
            exponent, mantissa = self._number(start + 13, 1), self._number(start + 15, 1)
            code = _FLOATS.get((size, exponent, mantissa))
            return None if code is None else np.dtype((">" if bits & 1 else "<") + code)
        return None

    def _shape(self, start: int) -> tuple[int, ...]:
        version, rank = self._number(start, 1), self._number(start + 1, 1)
        if version not in (1, 2) or rank > 32:
            self._damaged(f"a shape has version {version} and rank {rank}")
        first = start + (8 if version == 1 else 4)
        if version == 2 and self._number(start + 3, 1) == 2:
            return (0,)
        return tuple(self._number(first + 8 * axis, 8) for axis in range(rank))

    def is_floats(self, path: str) -> bool:
        """True if there is a dataset of floats at ``path``; counters and seeds are integers."""
        address = self._object(path)
        datatype = None if address is None else self._find(address, DATATYPE)
        return datatype is not None and isinstance(self._type(datatype.start), np.dtype)

    def array(self, path: str) -> Array | None:
        """A dataset of floats as float32; None if there is no object at ``path``.

        Raises: InputError if it is too large or outside the file, UnsupportedError if it holds no floats.
        """
        address = self._object(path)
        if address is None:
            return None
        parts = [self._find(address, kind) for kind in (DATASPACE, DATATYPE, LAYOUT)]
        if any(part is None for part in parts):
            return None
        if self._find(address, EXTERNAL) is not None:
            self._unread(f"{path} is stored in another file")
        space, datatype, layout = (part.start for part in parts if part is not None)
        shape, kind = self._shape(space), self._type(datatype)
        if not isinstance(kind, np.dtype):
            self._unread(f"{path} holds no floats")
        count = math.prod(shape)
        version, storage = self._number(layout, 1), self._number(layout + 1, 1)
        if version not in (3, 4) or storage > 2 or (version == 4 and storage == 2):
            self._unread(f"{path} has data layout {version}.{storage}")
        if storage == 2:
            return self._chunked(address, layout, shape, kind)
        start, size = layout + 4, self._number(layout + 2, 2)
        if storage == 1:
            start, size = self._number(layout + 2, 8), self._number(layout + 10, 8)
        if size != count * kind.itemsize or (start == UNDEFINED and size):
            self._damaged(f"{path} has {size} bytes for shape {list(shape)}")
        raw = self._bytes(start, size) if size else b""
        return np.frombuffer(raw, kind).astype(np.float32).reshape(shape)

    def _chunked(self, address: int, layout: int, shape: tuple[int, ...], kind: np.dtype[np.generic]) -> Array:
        rank = len(shape)
        if self._number(layout + 2, 1) != rank + 1:
            self._damaged("a chunk has another rank than its data")
        chunk = tuple(self._number(layout + 11 + 4 * axis, 4) for axis in range(rank))
        size, piece = math.prod(shape) * kind.itemsize, math.prod(chunk) * kind.itemsize
        self._unpacked_left -= size
        if self._unpacked_left < 0 or piece > MAX_UNPACKED_BYTES or 0 in chunk:
            self._damaged(f"it claims arrays of more than {MAX_UNPACKED_BYTES} bytes")
        target = np.zeros(shape, np.float32)
        root = self._number(layout + 3, 8)
        pieces: list[tuple[tuple[int, ...], int, int, int]] = []
        if root != UNDEFINED:
            self._chunk_tree(root, rank, pieces, 0)
        filters = self._filters(address)
        for offset, mask, start, length in pieces:
            self._unpacked_left -= piece
            if self._unpacked_left < 0 or any(o >= s or o % c for o, s, c in zip(offset, shape, chunk, strict=True)):
                self._damaged("a chunk is outside its data, or there are too many")
            raw = self._bytes(start, length)
            for index in reversed(range(len(filters))):
                if not mask >> index & 1:
                    raw = self._unfilter(filters[index], raw, piece, kind.itemsize)
            if len(raw) != piece:
                self._damaged(f"a chunk has {len(raw)} bytes, not {piece}")
            block = np.frombuffer(raw, kind).reshape(chunk)
            window = tuple(slice(o, min(o + c, s)) for o, c, s in zip(offset, chunk, shape, strict=True))
            target[window] = block[tuple(slice(0, w.stop - w.start) for w in window)]
        return target

    def _chunk_tree(
        self, address: int, rank: int, pieces: list[tuple[tuple[int, ...], int, int, int]], depth: int
    ) -> None:
        self._expect(address, b"TREE")
        if depth > MAX_DEPTH:
            self._damaged("an index of chunks is nested too deeply")
        level, count = self._number(address + 5, 1), self._number(address + 6, 2)
        stride = 8 + 8 * (rank + 1) + 8
        for index in range(count):
            key = address + 24 + stride * index
            child = self._number(key + stride - 8, 8)
            if level:
                self._chunk_tree(child, rank, pieces, depth + 1)
            else:
                offset = tuple(self._number(key + 8 + 8 * axis, 8) for axis in range(rank))
                pieces.append((offset, self._number(key + 4, 4), child, self._number(key, 4)))

    def _filters(self, address: int) -> list[int]:
        message = self._find(address, FILTERS)
        if message is None:
            return []
        version, count = self._number(message.start, 1), self._number(message.start + 1, 1)
        position, found = message.start + (8 if version == 1 else 2), []
        for _ in range(count):
            code = self._number(position, 2)
            named = version == 1 or code >= 256
            length = self._number(position + 2, 2) if named else 0
            values = self._number(position + (6 if named else 4), 2)
            position += (8 if named else 6) + (-(-length // 8) * 8 if version == 1 else length) + 4 * values
            position += 4 if version == 1 and values % 2 else 0
            found.append(code)
        return found

    def _unfilter(self, code: int, raw: bytes, size: int, width: int) -> bytes:
        if code == _DEFLATE:
            try:
                return zlib.decompressobj().decompress(raw, size + 4)
            except zlib.error as error:
                self._damaged(f"a chunk cannot be unpacked: {error}")
        if code == _SHUFFLE and len(raw) % width == 0:
            return bytes(np.frombuffer(raw, np.uint8).reshape(width, -1).T.tobytes())
        if code == _FLETCHER32:
            return raw[:-4]
        self._unread(f"filter {code}")
