"""The processors code is generated for: their kernel class, compiler flags, and the features their class needs."""

from __future__ import annotations

import dataclasses
from typing import Literal

from tinydeploy.errors import Problem, UsageError, did_you_mean

CpuClass = Literal["plain", "dsp", "mve"]


@dataclasses.dataclass(frozen=True)
class Cpu:
    """One processor.

    ``klass`` names the kernels it runs (plain, dsp, mve). ``needs`` are the features (names of ``features.FEATURES``)
    without which code generated for it does not run. ``flags`` select it in GCC, ``fallback_flags`` in a GCC that does
    not know its name. On MVE cores -mfloat-abi=soft would switch MVE off, so it is never used there.
    """

    name: str
    klass: CpuClass
    flags: tuple[str, ...]
    needs: tuple[str, ...] = ()
    fallback_flags: tuple[str, ...] = ()


def _arm(
    name: str, klass: CpuClass, fpu: str = "", needs: tuple[str, ...] = (), fallback: str = "", core: str = ""
) -> Cpu:
    floats = ("-mfloat-abi=hard", f"-mfpu={fpu}") if fpu else ("-mfloat-abi=soft",)
    return Cpu(
        name=name,
        klass=klass,
        flags=(f"-mcpu={core or name}", "-mthumb", *floats),
        needs=needs,
        fallback_flags=(f"-march={fallback}", "-mthumb", *floats) if fallback else (),
    )


_CPUS = (
    _arm("cortex-m0", "plain"),
    _arm("cortex-m0plus", "plain"),
    _arm("cortex-m3", "plain", needs=("thumb2",)),
    _arm("cortex-m4", "dsp", needs=("thumb2", "dsp")),
    _arm("cortex-m4f", "dsp", "fpv4-sp-d16", needs=("thumb2", "dsp", "fpu"), core="cortex-m4"),
    _arm("cortex-m7", "dsp", "fpv5-sp-d16", needs=("thumb2", "dsp", "fpu")),
    _arm("cortex-m23", "plain"),
    _arm("cortex-m33", "dsp", "fpv5-sp-d16", needs=("thumb2", "dsp", "fpu")),
    _arm("cortex-m55", "mve", "auto", needs=("thumb2", "dsp", "fpu", "mve", "mve_fp")),
    _arm(
        "cortex-m85",
        "mve",
        "auto",
        needs=("thumb2", "dsp", "fpu", "mve", "mve_fp"),
        fallback="armv8.1-m.main+mve.fp+fp.dp",
    ),
    Cpu("host", "plain", ()),
)
CPUS: dict[str, Cpu] = {cpu.name: cpu for cpu in _CPUS}


def get_cpu(name: str) -> Cpu:
    """Return the CPU of that name.

    Raises: UsageError naming the nearest ones.
    """
    if name in CPUS:
        return CPUS[name]
    rule = "one of: " + " ".join(CPUS)
    raise UsageError(Problem(f"cpu {name!r}", "is not known", rule, did_you_mean(name, CPUS)))
