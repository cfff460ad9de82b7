"""A static cost model of the Cortex-M pipelines, applied to execution counts: an estimate, not a measurement.

Source: the cost table of the Cortex-M4 technical reference manual without wait states: LDR 2 (1 behind another load),
LDM and STM n + 1, LDRD and STRD 3, STR 1, multiplies 1, SDIV and UDIV 6, taken branch 3, untaken 1, BL 3, POP with PC
n + 4, all else 1. FPU: VLDR 2, VDIV and VSQRT 14, VFMA and VMLA 3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tinydeploy.target.disasm import Instruction
from tinydeploy.target.stack import count_registers

MODEL = "cortex-m4, no wait states"

_LOAD = re.compile(r"^ldr(s?[bh]|ex[bh]?)?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?t?(\.[nw])?$")
_REGISTERS = re.compile(r"\{([^}]*)\}")
_TAKEN = 3


def _is_load(instruction: Instruction) -> bool:
    return _LOAD.match(instruction.mnemonic) is not None or instruction.mnemonic.startswith("vldr")


def _static_cost(instruction: Instruction, behind_load: bool) -> int:
    """Cycles of an instruction that does not branch."""
    name = instruction.mnemonic
    base = name.split(".")[0]
    listed = _REGISTERS.search(instruction.operands)
    if base.startswith(("ldrd", "strd")):
        return 3
    if _is_load(instruction):
        return 1 if behind_load else 2
    if listed and base.startswith(("ldm", "stm", "push", "pop", "vldm", "vstm", "vpush", "vpop")):
        registers = count_registers(listed.group(1))
        words = 2 * registers if listed.group(1).lstrip().startswith("d") else registers
        return words + 1 + (_TAKEN if "pc" in listed.group(1) else 0)
    if base.startswith(("sdiv", "udiv")):
        return 6
    if base.startswith(("vdiv", "vsqrt")):
        return 14
    if base.startswith(("vfma", "vfms", "vmla", "vmls", "vfnma", "vfnms")):
        return 3
    if instruction.is_call or base in ("bx", "tbb", "tbh") or (base == "b" and instruction.is_branch):
        return _TAKEN
    return 1


def _is_conditional(instruction: Instruction) -> bool:
    base = instruction.mnemonic.split(".")[0]
    return base in ("cbz", "cbnz") or (instruction.is_branch and base != "b")


class CycleModel:
    """Costs of one firmware's instructions; ``code`` is in address order."""

    def __init__(self, code: Sequence[Instruction]) -> None:
        self._costs: dict[int, int] = {}
        self._behind_branch: dict[int, int] = {}
        behind_load = False
        for instruction in code:
            self._costs[instruction.address] = _static_cost(instruction, behind_load)
            behind_load = _is_load(instruction)
            if _is_conditional(instruction):
                self._behind_branch[instruction.address] = instruction.address + instruction.size

    def cycles(self, executed: Mapping[int, int]) -> dict[int, int]:
        """Return estimated cycles by address, for ``executed`` instruction counts by address.

        A conditional branch was passed, not taken, as often as the instruction behind it ran: exact where nothing else
        leads there, as behind a loop, else a low estimate.
        """
        cycles = {}
        for address, times in executed.items():
            behind = self._behind_branch.get(address)
            if behind is None:
                cycles[address] = self._costs[address] * times
            else:
                passed = min(times, executed.get(behind, 0))
                cycles[address] = passed + _TAKEN * (times - passed)
        return cycles
