"""Starting a program on a set of samples, and what comes back, whatever the machine."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import resource
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinydeploy.errors import Problem, ValidationError
from tinydeploy.target.elf import Elf
from tinydeploy.validation.cycles import MODEL as CYCLE_MODEL
from tinydeploy.validation.stream import STATUS


@dataclasses.dataclass(frozen=True)
class NodeCount:
    """Executed instructions and estimated cycles (None: no model applies) of one node in the first inference."""

    name: str
    op: str
    function: str
    instructions: int
    cycles: int | None


@dataclasses.dataclass(frozen=True)
class HotFunction:
    """A function's own share (callees not included) of the first inference."""

    name: str
    instructions: int
    cycles: int | None


@dataclasses.dataclass(frozen=True)
class Instructions:
    """Executed instructions: ``per_inference`` from the call of NAME_run to its return, for the first sample.

    ``least`` and ``most`` span all runs. ``overhead`` is NAME_run's own, outside its nodes; ``init`` is NAME_reset.
    ``method``: ``tcg-plugin``, or ``icount`` (coarse ticks, no nodes). ``cycles``: a static model's estimate.
    """

    per_inference: int
    least: int
    most: int
    overhead: int
    init: int
    per_node: tuple[NodeCount, ...]
    hot: tuple[HotFunction, ...]
    method: str
    cycles: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return ``{per_inference, min, max, overhead, init, per_node [...], hot [...], method}``."""
        return {
            "per_inference": self.per_inference,
            "min": self.least,
            "max": self.most,
            "overhead": self.overhead,
            "init": self.init,
            "per_node": [dataclasses.asdict(node) for node in self.per_node],
            "hot": [dataclasses.asdict(function) for function in self.hot],
            "method": self.method,
        }


@dataclasses.dataclass(frozen=True)
class RunResult:
    """Outputs ``[samples, (steps,) ...]`` by name, stack of NAME_run in bytes (None on the host), counts.

    ``events``: of a trace build, the bytes of every event asked for, ``[samples * steps, bytes]``.
    """

    outputs: dict[str, NDArray[np.generic]]
    stack_bytes: int | None
    counts: Instructions | None = None
    events: tuple[NDArray[np.uint8], ...] = ()

    @property
    def instructions(self) -> dict[str, Any] | None:
        """The counts as `validate --json` shows them; None where nothing was counted."""
        return self.counts.as_json() if self.counts else None

    @property
    def cycles_estimated(self) -> dict[str, Any] | None:
        """Estimated cycles as `validate --json` shows them; None where nothing was counted or no model applies."""
        if self.counts is None or self.counts.cycles is None:
            return None
        return {"per_inference": self.counts.cycles, "model": CYCLE_MODEL}


def run_program(
    command: Sequence[str], cwd: Path, timeout: float, where: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process group of its own; after ``timeout`` seconds the whole group is killed.

    Raises: ValidationError when it does not end in time.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        env=env,
    )
    if hasattr(resource, "prlimit"):
        # Should we be killed ourselves, the system ends the program, even in an endless loop.
        seconds = int(2 * timeout) + 10
        with contextlib.suppress(OSError):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds))
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        what = f"did not end within {timeout:g} s and was stopped"
        hint = "an endless loop, or too little time: raise the time-out or give fewer samples"
        raise ValidationError(Problem(where, what, hint=hint)) from error
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


def failure(done: subprocess.CompletedProcess[str], where: str, elf: Elf | None = None) -> ValidationError:
    """Return the error for a program that ended with a status other than 0: its meaning, and what it printed.

    ``elf``: a firmware whose functions are named where a fault's registers point into them.
    """
    text = (done.stdout + done.stderr).strip()
    status = done.returncode
    if status < 0:
        meaning = f"was ended by signal {-status}"
    else:
        meaning = f"ended with status {status}" + (f": {STATUS[status]}" if status in STATUS else "")
    return ValidationError(Problem(where, meaning, rule=text[-2000:], hint=_fault_hint(text, elf)))


def _fault_hint(text: str, elf: Elf | None) -> str:
    if "stack-overflow" in text or "Lockup" in text:
        return "the stack probably ran out of RAM: see ram in build.json"
    places = []
    for register, value in re.findall(r"\b(PC|LR)=0x([0-9a-f]{8})", text):
        symbol = elf.containing(int(value, 16)) if elf else None
        if symbol is not None:
            places.append(f"{register} is in {symbol.name}+0x{int(value, 16) - symbol.address:x}")
    return ", ".join(places)
