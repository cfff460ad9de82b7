"""A small reader of 32-bit little-endian ELF files: the sections and symbols of firmware that we linked ourselves."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

from tinydeploy.errors import InternalError, Problem

_SHT_SYMTAB, _SHT_NOBITS = 2, 8
_SHF_ALLOC = 2
_STT_FUNC = 2
_SHN_ABS = 0xFFF1


@dataclasses.dataclass(frozen=True)
class Section:
    """A section: start and size in bytes, whether it takes memory on the target, whether the file holds its bytes."""

    name: str
    address: int
    size: int
    allocated: bool
    has_bytes: bool


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A symbol, its Thumb bit removed if it is a function; ``absolute`` and ``undefined`` ones lie in no section."""

    name: str
    address: int
    size: int
    is_function: bool
    absolute: bool
    undefined: bool


@dataclasses.dataclass(frozen=True)
class Elf:
    """Sections and symbols of one file, in file order."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    def functions(self) -> list[Symbol]:
        """Return the defined functions, sorted by address, then name."""
        found = (symbol for symbol in self.symbols if symbol.is_function and not symbol.undefined)
        return sorted(found, key=lambda symbol: (symbol.address, symbol.name))

    def containing(self, address: int) -> Symbol | None:
        """Return the function whose code holds ``address``."""
        return next((s for s in self.functions() if s.address <= address < s.address + max(s.size, 1)), None)

    def function(self, name: str) -> Symbol | None:
        """Return a function by its C name, else GCC's clone of it (``name.constprop.0``)."""
        functions = self.functions()
        for symbol in functions:
            if symbol.name == name:
                return symbol
        for symbol in functions:
            if symbol.name.startswith(name + ".") and ".part." not in symbol.name and ".cold" not in symbol.name:
                return symbol
        return None


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode("utf-8", "replace")


def read_elf(path: Path) -> Elf:
    """Read ``path``.

    Raises: InternalError if it is not a 32-bit little-endian ELF file.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise InternalError(Problem(str(path), "is not a 32-bit little-endian ELF file"))
    (table_at,) = struct.unpack_from("<I", data, 0x20)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x2E)
    headers = [struct.unpack_from("<10I", data, table_at + i * entry_size) for i in range(count)]

    def content(index: int) -> bytes:
        return data[headers[index][4] : headers[index][4] + headers[index][5]]

    names = content(names_index)
    sections = []
    symbols = []
    for index, (name, kind, flags, address, _, size, link, *_) in enumerate(headers):
        sections.append(Section(_text(names, name), address, size, bool(flags & _SHF_ALLOC), kind != _SHT_NOBITS))
        if kind != _SHT_SYMTAB:
            continue
        strings, table = content(link), content(index)
        for at in range(16, size, 16):  # the first entry is no symbol
            label, value, extent, info, _, where = struct.unpack_from("<IIIBBH", table, at)
            function = info & 15 == _STT_FUNC
            address_of = value & ~1 if function else value
            symbols.append(Symbol(_text(strings, label), address_of, extent, function, where == _SHN_ABS, where == 0))
    return Elf(tuple(sections), tuple(symbols))
