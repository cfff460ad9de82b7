"""A proven bound on stack use: frames the compiler states, along the calls that the linked code makes."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from tinydeploy.target.disasm import Function, Instruction, Listing
from tinydeploy.target.elf import Elf

#: Assembly functions state their use by an absolute symbol: ``.set __td_stack_NAME, BYTES`` (and ``.global``). With it
#: they promise that a ``bx`` stays inside or returns: the computed jump into an unrolled loop is no call.
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
        self._starts = sorted(listing.functions)
        self._done: dict[int, StackBound] = {}

    def _declaration(self, function: Function) -> int | None:
        names = self._names.get(function.address, [function.name])
        return next((self._declared[name] for name in names if name in self._declared), None)

    def _frame(self, function: Function) -> int:
        declared = self._declaration(function)
        if declared is not None:
            return declared
        names = self._names.get(function.address, [function.name])
        stated = [
            self._frames[key] for name in names for key in (name, name.split(".")[0]) if self._frames.get(key, 0) != 0
        ]
        # GCC states 0 for naked functions, whatever they push: then the code itself is asked.
        return stated[0] if stated else _frame_from_code(function)

    def _edges(self, function: Function) -> tuple[list[tuple[int, bool]], list[str]]:
        """Functions that may run on this one's frame, each with whether it is called; and calls without a target."""
        last = function.instructions[-1].address if function.instructions else function.address
        edges, unknown = [], []
        trusted = self._declaration(function) is not None
        for instruction in function.instructions:
            goal = instruction.target
            if instruction.is_call and goal is not None:
                edges.append((goal, True))
            elif instruction.is_call or (
                instruction.mnemonic == "bx" and instruction.operands.strip() != "lr" and not trusted
            ):
                unknown.append(f"{function.name} calls through a pointer at 0x{instruction.address:x}")
            elif instruction.is_branch and goal is not None and not function.address <= goal <= last:
                # libgcc's routines jump into each other; the whole function around the goal is charged.
                edges.append((self._around(goal), False))
        return edges, unknown

    def _around(self, address: int) -> int:
        place = bisect.bisect_right(self._starts, address) - 1
        return self._starts[place] if place >= 0 else address

    def bound(self, address: int) -> StackBound:
        """Return the bound of the function at ``address``, callees included."""
        return self._bound(((address, True),))[0]

    def _bound(self, path: tuple[tuple[int, bool], ...]) -> tuple[StackBound, set[int]]:
        """Bound the last function of ``path``, which holds the functions on the stack and whether each was called.

        Also returned: functions higher up that are jumped back into; their frames are counted there.
        """
        address = path[-1][0]
        if address in self._done:
            return self._done[address], set()
        function = self._listing.at(address)
        if function is None:
            return StackBound(None, (f"no code is known at 0x{address:x}",)), set()
        frame = self._frame(function)
        edges, reasons = self._edges(function)
        if frame == _DYNAMIC:
            reasons.append(f"{function.name} has a frame of unknown size")
        deepest = 0
        jumps_back: set[int] = set()
        above = [entry[0] for entry in path]
        for target, called in edges:
            if target in above:
                since = path[above.index(target) + 1 :]
                if called or any(by_call for _, by_call in since):
                    reasons.append(f"{function.name} is recursive")
                jumps_back.add(target)
                continue
            below, further = self._bound((*path, (target, called)))
            jumps_back |= further
            reasons += [reason for reason in below.reasons if reason not in reasons]
            deepest = max(deepest, below.bytes or 0)
        result = StackBound(None if reasons else frame + deepest, tuple(reasons))
        jumps_back.discard(address)
        # A bound that leaves out frames counted higher up holds on this path only.
        if not jumps_back:
            self._done[address] = result
        return result, jumps_back
