"""The wheel, built through the sdist and installed alone in an empty environment, converts and builds a model."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from tests.conftest import REPO, need_module, need_tool


def test_wheel_through_sdist_works_alone(tmp_path: Path) -> None:
    need_module("build", "hatchling")
    need_tool("arm-none-eabi-gcc")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist")]
    # without --wheel or --sdist, build makes the sdist first and the wheel from it
    subprocess.run([*build, str(REPO)], check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True, env=env, cwd=tmp_path)
    model, out = REPO / "examples" / "digits" / "digits_int8.tflite", tmp_path / "digits"
    command = tmp_path / "venv" / "bin" / "tinydeploy"
    convert = [command, "convert", str(model), "-o", str(out), "--board", "mps2-an386"]
    done = subprocess.run(convert, check=True, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert "not compared" in done.stderr or "no oracle" in done.stderr.lower() or "warning" in done.stderr
    subprocess.run([command, "build", str(out), "--board", "mps2-an386"], check=True, env=env, cwd=tmp_path)
    assert (out / "build" / "mps2-an386" / "firmware.elf").is_file()
