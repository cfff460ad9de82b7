"""A proven bound on stack use: frames the compiler states, along the calls that the linked code makes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from tinydeploy.target.disasm import Function, Instruction, Listing
from tinydeploy.target.elf import Elf

#: Assembly functions state their use by an absolute symbol: ``.set __td_stack_NAME, BYTES`` (and ``.global``).
DECLARED_PREFIX = "__td_stack_"

_REGISTERS = re.compile(r"\{([^}]*)\}")
_IMMEDIATE = re.compile(r"#(-?\d+)")
_DYNAMIC = -1


@dataclasses.dataclass(frozen=True)
class StackBound:
    """``bytes`` below the stack pointer at entry, None when there is no proof; ``reasons`` then say why."""

    bytes: int | None
    reasons: tuple[str, ...] = ()


def read_su(paths: Iterable[Path]) -> dict[str, int]:
    """Read GCC's ``.su`` files: function -> frame in bytes, -1 where it grows at run time. Equal names: the largest."""
    frames: dict[str, int] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            where, size, kind = line.rsplit("\t", 2)
            name = where.rsplit(":", 1)[1]
            frame = _DYNAMIC if kind == "dynamic" else int(size)
            known = frames.get(name, 0)
            frames[name] = _DYNAMIC if _DYNAMIC in (known, frame) else max(known, frame)
    return frames


def count_registers(text: str) -> int:
    """Count the registers of a list such as ``r4, r6-r8, lr``."""
    total = 0
    for item in text.split(","):
        low, _, high = item.strip().partition("-")
        total += int(high[1:]) - int(low[1:]) + 1 if high and high[1:].isdigit() and low[1:].isdigit() else 1
    return total


def _pushed(instruction: Instruction) -> int:
    """Bytes by which one instruction may lower the stack pointer; -1 if unknown."""
    name, operands = instruction.mnemonic, instruction.operands
    base = name.split(".")[0]
    registers = _REGISTERS.search(operands)
    if base == "push" and registers:
        return 4 * count_registers(registers.group(1))
    if base == "vpush" and registers:
        return (8 if registers.group(1).startswith("d") else 4) * count_registers(registers.group(1))
    if base in ("stmdb", "stmfd") and operands.startswith("sp!") and registers:
        return 4 * count_registers(registers.group(1))
    if base in ("sub", "subs", "subw") and operands.startswith("sp,"):
        amount = _IMMEDIATE.search(operands)
        return int(amount.group(1)) if amount else _DYNAMIC
    if base in ("add", "addw") and operands.startswith("sp,"):
        amount = _IMMEDIATE.search(operands)
        return max(0, -int(amount.group(1))) if amount else _DYNAMIC
    if base in ("str", "strd", "strb", "strh") and "[sp, #-" in operands and operands.rstrip().endswith("!"):
        amount = _IMMEDIATE.search(operands)
        return -int(amount.group(1)) if amount else _DYNAMIC
    if base in ("mov", "msr") and re.match(r"(sp|msp|psp),", operands, re.IGNORECASE):
        return _DYNAMIC
    return 0


def _frame_from_code(function: Function) -> int:
    """An upper bound from the code alone, for functions without a statement: every push counts, pops do not."""
    total = 0
    for instruction in function.instructions:
        pushed = _pushed(instruction)
        if pushed == _DYNAMIC:
            return _DYNAMIC
        total += pushed
    return total


class StackAnalysis:
    """Bounds for any function of one firmware."""

    def __init__(self, elf: Elf, listing: Listing, frames: dict[str, int]) -> None:
        self._listing = listing
        self._frames = frames
        self._names: dict[int, list[str]] = {}
        for symbol in elf.functions():
            self._names.setdefault(symbol.address, []).append(symbol.name)
        self._declared = {
            symbol.name[len(DECLARED_PREFIX) :]: symbol.address
            for symbol in elf.symbols
            if symbol.absolute and symbol.name.startswith(DECLARED_PREFIX)
        }
        self._done: dict[int, StackBound] = {}

    def _frame(self, function: Function) -> int:
        names = self._names.get(function.address, [function.name])
        for name in names:
            if name in self._declared:
                return self._declared[name]
        stated = [
            self._frames[key] for name in names for key in (name, name.split(".")[0]) if self._frames.get(key, 0) != 0
        ]
        # GCC states 0 for naked functions, whatever they push: then the code itself is asked.
        return stated[0] if stated else _frame_from_code(function)

    def _calls(self, function: Function) -> tuple[list[int], list[str]]:
        """Functions that may run on top of this one's frame, and the calls that cannot be followed."""
        last = function.instructions[-1].address if function.instructions else function.address
        targets, unknown = [], []
        for instruction in function.instructions:
            goal = instruction.target
            if instruction.is_call and goal is not None:
                targets.append(goal)
            elif instruction.is_call or (instruction.mnemonic == "bx" and instruction.operands.strip() != "lr"):
                unknown.append(f"{function.name} calls through a pointer at 0x{instruction.address:x}")
            elif instruction.is_branch and goal is not None and not function.address <= goal <= last:
                targets.append(goal)
        return targets, unknown

    def bound(self, address: int) -> StackBound:
        """Return the bound of the function at ``address``, callees included."""
        return self._bound(address, ())

    def _bound(self, address: int, path: tuple[int, ...]) -> StackBound:
        if address in self._done:
            return self._done[address]
        function = self._listing.at(address)
        if function is None:
            return StackBound(None, (f"no code is known at 0x{address:x}",))
        if address in path:
            return StackBound(None, (f"{function.name} is recursive",))
        frame = self._frame(function)
        reasons = [f"{function.name} has a frame of unknown size"] if frame == _DYNAMIC else []
        targets, unknown = self._calls(function)
        reasons += unknown
        deepest = 0
        for target in targets:
            below = self._bound(target, (*path, address))
            reasons += [reason for reason in below.reasons if reason not in reasons]
            deepest = max(deepest, below.bytes or 0)
        result = StackBound(None if reasons else frame + deepest, tuple(reasons))
        self._done[address] = result
        return result
