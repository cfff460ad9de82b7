"""GNU ld's map file: which bytes of which object ended up in which section of the firmware."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

_PLACED = re.compile(r"^ (\.[^\s*(]+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")
_OUTPUT = re.compile(r"^(\.[^\s*(]+)(?:\s+0x[0-9a-f]+\s+0x[0-9a-f]+.*)?$")
_START = "Linker script and memory map"


@dataclasses.dataclass(frozen=True)
class Placed:
    """An input section that was kept: where it went, what it was called, its object file and its size in bytes."""

    output: str
    section: str
    object: str
    size: int


def read_map(path: Path) -> list[Placed]:
    """Return the kept input sections of a map file, in address order."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = text[text.index(_START) :] if _START in text else text
    # Long names stand on a line of their own, the numbers on the next.
    text = re.sub(r"^( ?\.\S+)\n\s+0x", r"\1 0x", text, flags=re.MULTILINE)
    placed = []
    output = ""
    for line in text.splitlines():
        header = _OUTPUT.match(line)
        if header:
            output = header.group(1)
            continue
        parts = _PLACED.match(line)
        if parts and int(parts.group(3), 16):
            placed.append(Placed(output, parts.group(1), parts.group(4), int(parts.group(3), 16)))
    return placed
