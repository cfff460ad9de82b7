"""The disassembly of a firmware, as data: instructions by address, grouped by function."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

from tinydeploy.target.elf import Elf
from tinydeploy.target.tools import require_tool

_LABEL = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)\s*(.*)$")
_TARGET = re.compile(r"\b([0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>")
_BRANCH = re.compile(r"^b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.[nw])?$")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One instruction; ``size`` in bytes. ``target`` is the address a direct branch or call goes to."""

    address: int
    size: int
    mnemonic: str
    operands: str
    target: int | None

    @property
    def is_call(self) -> bool:
        """A direct or indirect call."""
        return self.mnemonic in ("bl", "blx")

    @property
    def is_branch(self) -> bool:
        """A direct branch, conditional or not (not CBZ, not loop ends)."""
        return _BRANCH.match(self.mnemonic) is not None


@dataclasses.dataclass(frozen=True)
class Function:
    """The code from one function symbol to the next."""

    name: str
    address: int
    instructions: tuple[Instruction, ...]


@dataclasses.dataclass(frozen=True)
class Listing:
    """All functions of a firmware by address."""

    functions: dict[int, Function]

    def at(self, address: int) -> Function | None:
        """Return the function that starts at ``address``."""
        return self.functions.get(address)

    def return_addresses(self, caller: int, callee: int) -> list[int]:
        """Return the addresses behind every direct call of ``callee`` in the function at ``caller``."""
        function = self.functions.get(caller)
        if function is None:
            return []
        return [i.address + i.size for i in function.instructions if i.is_call and i.target == callee]


def disassemble(path: Path, elf: Elf) -> Listing:
    """Disassemble every code section of the file ``path``, whose symbols are ``elf``. Literal pools are left out.

    Raises: ToolError if objdump is missing.
    """
    objdump = require_tool("arm-none-eabi-objdump")
    text = subprocess.run(
        [objdump, "-d", "-z", str(path)], capture_output=True, encoding="utf-8", errors="replace", check=True
    ).stdout
    # Assembly kernels have labels of their own inside; only function symbols start a function.
    starts = {symbol.address for symbol in elf.functions()}
    functions: dict[int, Function] = {}
    name, start = "", 0
    found: list[Instruction] = []

    def close() -> None:
        if name:
            functions[start] = Function(name, start, tuple(found))

    for line in text.splitlines():
        label = _LABEL.match(line)
        if label and int(label.group(1), 16) not in starts:
            continue
        if label:
            close()
            start, name, found = int(label.group(1), 16), label.group(2), []
            continue
        parts = _LINE.match(line)
        if not parts or parts.group(3).startswith("."):
            continue
        operands = parts.group(4)
        goal = _TARGET.search(operands)
        found.append(
            Instruction(
                address=int(parts.group(1), 16),
                size=len(parts.group(2).replace(" ", "")) // 2,
                mnemonic=parts.group(3),
                operands=operands,
                target=int(goal.group(1), 16) if goal else None,
            )
        )
    close()
    return Listing(functions)
