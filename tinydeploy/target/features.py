"""What a compile target really has: asked of the compiler, because names and options may mean less than they say."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence

from tinydeploy.errors import BoardError, Problem, ToolError
from tinydeploy.target.cpu import CPUS, Cpu

FEATURES = ("thumb2", "dsp", "fpu", "mve", "mve_fp", "unaligned", "divide")


def _number(macros: dict[str, str], name: str) -> int:
    try:
        return int(macros.get(name, "0"), 0)
    except ValueError:
        return 0


@functools.cache
def _predefined(command: tuple[str, ...]) -> dict[str, str]:
    done = subprocess.run(
        [*command, "-dM", "-E", "-x", "c", "-"],
        input="",
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise ToolError(
            Problem(command[0], "does not take these options: " + " ".join(command[1:]), rule=done.stderr.strip())
        )
    lines = (line.split(maxsplit=2) for line in done.stdout.splitlines())
    return {words[1]: words[2] if len(words) > 2 else "" for words in lines if len(words) > 1}


def compiler_features(compiler: str, flags: Sequence[str]) -> frozenset[str]:
    """Return which of ``FEATURES`` the compiler has under ``flags``.

    Macros are tested by value: some compilers define a feature as 0. Raises: ToolError if it rejects the flags.
    """
    macros = _predefined((compiler, *flags))
    mve = _number(macros, "__ARM_FEATURE_MVE")
    has = {
        "thumb2": _number(macros, "__ARM_ARCH_ISA_THUMB") >= 2,
        "dsp": _number(macros, "__ARM_FEATURE_DSP") != 0,
        "fpu": _number(macros, "__ARM_FP") & 4 != 0,
        "mve": mve & 1 != 0,
        "mve_fp": mve & 2 != 0,
        "unaligned": _number(macros, "__ARM_FEATURE_UNALIGNED") != 0,
        "divide": _number(macros, "__ARM_FEATURE_IDIV") != 0,
    }
    return frozenset(name for name in FEATURES if has[name])


def cpu_flags(cpu: Cpu, compiler: str) -> tuple[str, ...]:
    """Return the flags that select ``cpu``: by its name, or by its architecture where the compiler is too old."""
    if not cpu.fallback_flags:
        return cpu.flags
    try:
        _predefined((compiler, *cpu.flags))
    except ToolError:
        return cpu.fallback_flags
    return cpu.flags


def check_runs(made_for: str, target: Cpu, has: frozenset[str]) -> None:
    """Check that a folder generated for CPU ``made_for`` runs on ``target``, which has the features ``has``.

    Raises: BoardError naming the missing features. The host always passes: it takes the plain twins.
    """
    maker = CPUS.get(made_for)
    if maker is None or target.name == "host":
        return
    missing = [feature for feature in maker.needs if feature not in has]
    if missing:
        raise BoardError(
            Problem(
                f"cpu {target.name}",
                f"lacks {', '.join(missing)}, which code generated for {made_for} needs",
                hint=f"convert again with --cpu {target.name}",
            )
        )
