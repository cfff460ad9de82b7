"""Runs a firmware on samples in QEMU, with or without counting instructions."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tinydeploy.errors import InternalError, Problem, ToolError
from tinydeploy.target.board import Board
from tinydeploy.target.elf import read_elf
from tinydeploy.target.sizes import BuildResult
from tinydeploy.target.tools import require_tool
from tinydeploy.validation.profile import IcountProfiler, PluginProfiler, choose_profiler
from tinydeploy.validation.run import RunResult, failure, run_program
from tinydeploy.validation.stream import Event, layout_of, read_output, write_input


def qemu_command(board: Board, elf: Path) -> list[str]:
    """Return the command that boots ``elf`` on a board's emulation, with files over semihosting and no windows.

    Raises: ToolError if QEMU is missing.
    """
    if board.kind != "qemu":
        raise InternalError(Problem(f"board {board.name}", "is not emulated"))
    return [
        require_tool("qemu-system-arm"),
        *("-M", board.qemu_machine),
        *board.qemu_args,
        *("-display", "none", "-monitor", "none", "-serial", "none"),
        *("-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(elf.resolve())),
    ]


def run_qemu(
    build: BuildResult,
    board: Board,
    inputs: Mapping[str, NDArray[np.generic]],
    *,
    timeout: float = 600.0,
    profile: bool = False,
    events: Sequence[Event] = (),
) -> RunResult:
    """Run a firmware on ``inputs`` (``[samples, (steps,) ...]`` by name, in the model's types) in one QEMU process.

    With ``profile``, instructions are counted for every inference and node. ``events``: what a trace build records in
    each run.

    Raises: InputError (the arrays do not fit the model), ToolError (no QEMU), ValidationError (a fault with its
    registers, a status other than 0, a time-out after ``timeout`` seconds).
    """
    project = build.project
    layout = layout_of(project, inputs)
    where = f"{project.name} on {board.name}"
    command = qemu_command(board, build.elf)
    profiler: PluginProfiler | IcountProfiler | None = choose_profiler(build, command[0]) if profile else None
    with tempfile.TemporaryDirectory(prefix="tinydeploy-") as name:
        folder = Path(name)
        write_input(folder, project, inputs, layout)
        options = profiler.prepare(folder) if profiler else []
        done = run_program([*command, *options], folder, timeout, where)
        if done.returncode != 0:
            if "unsupported machine type" in done.stderr:
                hint = "a newer qemu-system-arm is needed"
                raise ToolError(Problem(command[0], f"does not know the machine {board.qemu_machine}", hint=hint))
            raise failure(done, where, read_elf(build.elf))
        read = read_output(folder, project, layout, events)
        instructions = profiler.read(folder, read.trailer) if profiler else None
    return RunResult(read.outputs, read.trailer.stack_bytes, instructions, read.events)
