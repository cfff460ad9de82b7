"""Runs a model's host program on samples."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinydeploy.target.project import parse_manifest
from tinydeploy.validation.run import RunResult, failure, run_program
from tinydeploy.validation.stream import Event, layout_of, read_output, write_input


def run_host(
    program: Path,
    manifest: Mapping[str, Any],
    inputs: Mapping[str, NDArray[np.generic]],
    *,
    timeout: float = 600.0,
    events: Sequence[Event] = (),
) -> RunResult:
    """Run a program of ``build_host`` on ``inputs`` (``[samples, (steps,) ...]`` by name, in the model's types).

    ``manifest`` is what the project's manifest.json holds; ``events`` what a trace build records in each run.

    Raises: InputError (the arrays do not fit the model), ValidationError (a crash, a sanitiser's finding, a time-out).
    """
    project = parse_manifest(manifest, program.parent)
    layout = layout_of(project, inputs)
    where = f"{project.name} on host"
    # A leak report would need ptrace, which containers often forbid; the program allocates nothing.
    env = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=0:exitcode=99",
        "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99",
    }
    with tempfile.TemporaryDirectory(prefix="tinydeploy-") as name:
        folder = Path(name)
        write_input(folder, project, inputs, layout)
        done = run_program([str(program.resolve())], folder, timeout, where, env)
        if done.returncode != 0:
            raise failure(done, where)
        read = read_output(folder, project, layout, events)
    return RunResult(read.outputs, read.trailer.stack_bytes, events=read.events)
