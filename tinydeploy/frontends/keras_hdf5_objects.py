"""The structure of an HDF5 file, read without trusting it: object headers, groups and links by path.

The HDF5 library hangs, crashes or fills the memory on damaged files, and a model file may be hostile. Here every offset
and length is checked, and the work done is bounded by the size of the file. Read are superblocks 0 to 3, object headers
1 and 2, symbol tables and compact links.
Source: HDF5 File Format Specification Version 3.0.
"""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from tinydeploy.errors import InputError, Problem, UnsupportedError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
UNDEFINED = (1 << 64) - 1
MAX_DEPTH = 16
DATASPACE, DATATYPE, EXTERNAL, LAYOUT, FILTERS, ATTRIBUTE, ATTRIBUTE_INFO = 0x01, 0x03, 0x07, 0x08, 0x0B, 0x0C, 0x15
_LINK_INFO, _LINK, _CONTINUATION, _SYMBOLS = 0x02, 0x06, 0x10, 0x11


@dataclasses.dataclass(frozen=True)
class Message:
    """One message of an object header: its kind, flags, and where its content is."""

    kind: int
    flags: int
    start: int
    size: int


class Objects:
    """An HDF5 file in memory; objects are asked for by path, "a/b/c", and the root is ""."""

    def __init__(self, data: bytes, where: str) -> None:
        self._data = data
        self._where = where
        self._left = 8 * len(data) + (1 << 20)  # parts may overlap, so the work is counted; honest files need 1x
        self._links: dict[int, dict[str, int]] = {}
        self._headers: dict[int, list[Message]] = {}
        version = self._number(8, 1)
        if version < 2:
            sizes, base, root = self._bytes(13, 2), 24 + 4 * version, 24 + 4 * version + 32 + 8
        else:
            sizes, base, root = self._bytes(9, 2), 12, 12 + 24
        if version > 3 or sizes != b"\x08\x08" or self._number(base, 8) != 0:
            self._unread(f"it has superblock {version} with unusual sizes")
        if self._number(base + 16, 8) > len(data):
            self._damaged(f"it ends after {len(data)} of {self._number(base + 16, 8)} bytes")
        self._root = self._number(root, 8)

    def _damaged(self, what: str) -> NoReturn:
        raise InputError(Problem(self._where, f"damaged HDF5 file: {what}", hint="download or save the model again"))

    def _unread(self, what: str) -> NoReturn:
        hint = "save the model again with Keras' own model.save()"
        raise UnsupportedError(Problem(self._where, f"HDF5 feature that is not read: {what}", hint=hint))

    def _spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            self._damaged("its parts overlap so often that they are many times its size")

    def _bytes(self, start: int, size: int) -> bytes:
        if start < 0 or size < 0 or start + size > len(self._data):
            self._damaged(f"{size} bytes at {start} are outside its {len(self._data)} bytes")
        self._spend(size + 32)
        return self._data[start : start + size]

    def _number(self, start: int, size: int) -> int:
        return int.from_bytes(self._bytes(start, size), "little")

    def _expect(self, start: int, signature: bytes) -> None:
        if self._bytes(start, len(signature)) != signature:
            self._damaged(f"no {signature.decode()} at {start}")

    # Objects and groups

    def _messages(self, address: int) -> list[Message]:
        """All messages of an object header, with its continuation blocks."""
        if address not in self._headers:
            modern = self._bytes(address, 4) == b"OHDR"
            self._headers[address] = self._modern_header(address) if modern else self._classic_header(address)
        return self._headers[address]

    def _classic_header(self, address: int) -> list[Message]:
        if self._number(address, 1) != 1:
            self._damaged(f"no object at {address}")
        blocks = [(address + 16, self._number(address + 8, 4))]
        found: list[Message] = []
        for start, size in blocks:  # grows while it is walked
            position, end = start, start + size
            while position + 8 <= end:
                kind, length, flags = (self._number(position + o, n) for o, n in ((0, 2), (2, 2), (4, 1)))
                self._take(Message(kind, flags, position + 8, length), end, found, blocks)
                position += 8 + length
        return found

    def _modern_header(self, address: int) -> list[Message]:
        flags = self._number(address + 5, 1)
        position = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        blocks = [(position + width, self._number(position, width))]
        ordered = 2 if flags & 4 else 0
        found: list[Message] = []
        for index, (start, size) in enumerate(blocks):
            if index:
                self._expect(start, b"OCHK")
            position, end = start + (4 if index else 0), start + size - (4 if index else 0)
            while position + 4 + ordered <= end:
                kind, length, state = (self._number(position + o, n) for o, n in ((0, 1), (1, 2), (3, 1)))
                self._take(Message(kind, state, position + 4 + ordered, length), end, found, blocks)
                position += 4 + ordered + length
        return found

    def _take(self, message: Message, end: int, found: list[Message], blocks: list[tuple[int, int]]) -> None:
        if message.start + message.size > end:
            self._damaged(f"a message at {message.start} is longer than its block")
        if message.kind == _CONTINUATION:
            block = (self._number(message.start, 8), self._number(message.start + 8, 8))
            if block in blocks:
                self._damaged("an object continues in itself")
            self._bytes(*block)
            blocks.append(block)
        elif message.kind:
            found.append(message)

    def _find(self, address: int, kind: int) -> Message | None:
        message = next((m for m in self._messages(address) if m.kind == kind), None)
        if message is not None and message.flags & 2:
            self._unread("shared messages")
        return message

    def _object(self, path: str) -> int | None:
        """Address of an object, or None."""
        address = self._root
        for part in path.split("/") if path else ():
            links = self._group(address)
            if links is None or part not in links:
                return None
            address = links[part]
        return address

    def _group(self, address: int) -> dict[str, int] | None:
        """Members of a group by name; None if the object is no group. Links to other places or files are left out."""
        if address not in self._links:
            symbols = self._find(address, _SYMBOLS)
            info = self._find(address, _LINK_INFO)
            if symbols is None and info is None:
                return None
            links: dict[str, int] = {}
            if symbols is not None:
                heap = self._number(symbols.start + 8, 8)
                self._expect(heap, b"HEAP")
                names = self._bytes(self._number(heap + 24, 8), self._number(heap + 8, 8))
                self._tree(self._number(symbols.start, 8), names, links, 0)
            if info is not None:
                flags = self._number(info.start + 1, 1)
                if self._number(info.start + 2 + (8 if flags & 1 else 0), 8) != UNDEFINED:
                    self._unread("groups with indexed links")
                for message in self._messages(address):
                    if message.kind == _LINK:
                        self._link(message, links)
            self._links[address] = links
        return self._links[address]

    def _tree(self, address: int, names: bytes, links: dict[str, int], depth: int) -> None:
        self._expect(address, b"TREE")
        if depth > MAX_DEPTH:
            self._damaged("a group is nested too deeply")
        level, count = self._number(address + 5, 1), self._number(address + 6, 2)
        for index in range(count):
            child = self._number(address + 24 + 8 + 16 * index, 8)
            if level:
                self._tree(child, names, links, depth + 1)
                continue
            self._expect(child, b"SNOD")
            for entry in range(self._number(child + 6, 2)):
                at = child + 8 + 40 * entry
                if self._number(at + 16, 4) != 2:  # 2 is a symbolic link
                    start = self._number(at, 8)
                    end = names.find(b"\0", start)
                    self._spend(max(end - start, 0))
                    links[names[start : max(end, start)].decode("utf-8", "replace")] = self._number(at + 8, 8)

    def _link(self, message: Message, links: dict[str, int]) -> None:
        flags = self._number(message.start + 1, 1)
        position = message.start + 2
        kind = self._number(position, 1) if flags & 8 else 0
        position += (1 if flags & 8 else 0) + (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
        width = 1 << (flags & 3)
        length = self._number(position, width)
        name = self._bytes(position + width, length).decode("utf-8", "replace")
        if kind == 0:
            links[name] = self._number(position + width + length, 8)

    def is_group(self, path: str) -> bool:
        """True if there is a group at ``path``."""
        address = self._object(path)
        return address is not None and self._group(address) is not None
