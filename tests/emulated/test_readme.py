"""What the README shows is run as it stands there: the shell commands, the C and the Python."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_tool
from tinydeploy.target.toolchain import WARNINGS

README = (REPO / "README.md").read_text("utf-8")
CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-std=c99", "-O2")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found.group(1)


def run(command: list[str], cwd: Path) -> str:
    path = f"{cwd / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(REPO)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's user has: a model, calibration and evaluation data, ``tinydeploy`` on the PATH."""
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        need_tool(tool)
    place = tmp_path_factory.mktemp("readme")
    shutil.copy(REPO / "examples" / "digits" / "digits.onnx", place / "model.onnx")
    x = np.random.default_rng(0).random((40, 1, 8, 8)).astype(np.float32)
    np.savez(place / "samples.npz", x=x)
    np.savez(place / "eval.npz", x=x, y=np.arange(40) % 10)
    command = place / "bin" / "tinydeploy"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tinydeploy "$@"\n')
    command.chmod(0o755)
    return place


def test_shell_commands(place: Path) -> None:
    commands = re.findall(r"^    (tinydeploy .*)$", README, re.MULTILINE)
    assert [line.split()[1] for line in commands] == ["inspect", "convert", "build", "validate"]
    said = [run(shlex.split(line), place) for line in commands]
    assert "bit-exact with the integer twin" in said[-1]
    inline = re.findall(r"`(tinydeploy (?:deploy|boards|ops|doctor)[^`]*)`", README)
    assert len(inline) >= 5
    for line in inline:
        run(shlex.split(line.replace("NAME", "mine")), place)
    assert (place / "model-mps2-an386" / "build" / "mps2-an386" / "firmware.elf").is_file()
    assert (place / "mine" / "board.toml").is_file()


def test_python_and_the_c_on_what_it_writes(place: Path) -> None:
    (place / "mine.py").write_text(block("python"))
    assert run([sys.executable, "mine.py"], place).startswith("True {")
    folder = place / "out" / "model"
    (place / "firmware.c").write_text("int classify(const float *samples);\n" + block("c"))
    sources = [str(path) for path in (place / "firmware.c", folder / "model.c", *folder.glob("runtime/src/*.c"))]
    include = [f"-I{folder}", f"-I{folder / 'runtime' / 'include'}"]
    (place / "objects").mkdir()
    run(["arm-none-eabi-gcc", *CORE, *WARNINGS, *include, "-c", *sources], place / "objects")


def test_links_lead_somewhere() -> None:
    for text in (REPO / "README.md", *(REPO / "docs").glob("*.md"), *(REPO / "examples").glob("*/README.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", text.read_text("utf-8")):
            assert (text.parent / target).exists(), f"{text}: {target}"
