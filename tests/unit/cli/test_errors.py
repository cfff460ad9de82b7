"""Wrong inputs end in a clear message and the exit code the contract names, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.conftest import REPO, need_tool
from tinydeploy import pipeline

DIGITS = REPO / "examples" / "digits"
CONVERT = ("convert", DIGITS / "digits.tflite", "--no-check")
Run = Callable[..., tuple[int, str, str]]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def bad_models(folder: Path) -> dict[str, tuple[Path, str]]:
    whole = (DIGITS / "digits_int8.tflite").read_bytes()
    not_keras = folder / "other.h5"
    with h5py.File(not_keras, "w") as file:
        file["x"] = np.zeros(3)
    return {
        "missing": (folder / "nothing.onnx", "does not exist"),
        "folder": (folder, ""),
        "empty": (write(folder / "empty.tflite", b""), "empty"),
        "suffix": (write(folder / "model.pt", b"abc"), ".onnx"),
        "text as onnx": (write(folder / "text.onnx", b"hello, I am a text file\n" * 20), "ONNX"),
        "truncated tflite": (write(folder / "cut.tflite", whole[: len(whole) // 2]), "cut.tflite"),
        "h5 not keras": (not_keras, "Keras"),
        "h5 not hdf5": (write(folder / "no.h5", b"hello" * 100), "HDF5"),
        "keras not zip": (write(folder / "no.keras", b"hello" * 100), ""),
    }


@pytest.mark.parametrize("case", [
    "missing", "folder", "empty", "suffix", "text as onnx", "truncated tflite",
    "h5 not keras", "h5 not hdf5", "keras not zip",
])  # fmt: skip
def test_unusable_model(run: Run, tmp_path: Path, case: str) -> None:
    model, word = bad_models(tmp_path)[case]
    code, _, err = run("convert", model, "-o", tmp_path / "out")
    assert code == 1, err
    assert err.startswith("error: ") or "\nerror: " in err
    assert word.lower() in err.lower()
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def calibrations() -> dict[str, tuple[dict[str, object], str]]:
    good = np.random.default_rng(0).random((40, 8, 8, 1)).astype(np.float32)
    nan = good.copy()
    nan[3, 2, 1, 0] = np.nan
    return {
        "shape": ({"x": good[:, :7]}, "8"),
        "dtype": ({"x": np.array(["a"] * 40)}, ""),
        "nan": ({"x": nan}, "nan"),
        "empty": ({"x": good[:0]}, ""),
        "name": ({"z": good}, "z"),
    }


@pytest.mark.parametrize("case", sorted(calibrations()))
def test_unusable_calibration(run: Run, tmp_path: Path, case: str) -> None:
    arrays, word = calibrations()[case]
    np.savez(tmp_path / "calibration.npz", **arrays)
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--calibration", tmp_path / "calibration.npz")
    assert code == 1, err
    assert word.lower() in err.lower()
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_pickled_data_is_refused(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "calibration.npz", x=np.array([object()], dtype=object))
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--calibration", tmp_path / "calibration.npz")
    assert code == 1, err


def test_float_model_without_calibration(run: Run, tmp_path: Path) -> None:
    code, _, err = run("convert", DIGITS / "digits.tflite", "-o", tmp_path / "out", "--no-check")
    assert code == 2
    assert "--calibration" in err


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("--board", "mps2-an999"), 2, "mps2-an386"),
        (("--cpu", "cortex-m99"), 2, "cortex-m4"),
        (("--quantize", "int9"), 2, "int8"),
        (("--max-ram", "0"), 2, "--max-ram"),
        (("--max-ram", "100"), 1, "--max-ram"),
        (("--max-flash", "100"), 1, "--max-flash"),
        (("--dump-after", "no_such_pass"), 2, "fold_batch_norm"),
        (("--input-shape", "x=0"), 2, "shape"),
        (("--state", "a=b"), 2, "no input"),
        (("--frobnicate",), 2, "frobnicate"),
    ],
)
def test_wrong_options(run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, word: str) -> None:
    got, _, err = run("convert", DIGITS / "digits_int8.tflite", "-o", tmp_path / "out", "--no-check", *arguments)
    assert got == code, err
    assert word in err
    assert not (tmp_path / "out").exists()


def test_board_too_small_says_by_how_much(run: Run, tmp_path: Path) -> None:
    board = (REPO / "boards" / "mps2-an386" / "board.toml").read_text("utf-8")
    lines = board.splitlines()
    small = tmp_path / "small" / "board.toml"
    small.parent.mkdir()
    section = ""
    for index, line in enumerate(lines):
        section = line.strip() if line.startswith("[") else section
        if (section == "[memory.ram]" and line.startswith("size")) or line.startswith("ram"):
            lines[index] = "size = 0x400" if line.startswith("size") else line.rpartition("size")[0] + "size = 0x400 }"
    small.write_text("\n".join(lines), "utf-8")
    need_tool("arm-none-eabi-gcc")
    out = tmp_path / "out"
    assert run("convert", DIGITS / "digits_int8.tflite", "-o", out, "--cpu", "cortex-m4", "--no-check")[0] == 0
    code, _, err = run("build", out, "--board", small)
    assert code == 1, err
    assert "ram" in err.lower()
    assert any(char.isdigit() for char in err)


@pytest.mark.parametrize(("command", "tool"), [("build", "arm-none-eabi-gcc"), ("validate", "qemu-system-arm")])
def test_missing_tool(run: Run, tmp_path: Path, monkeypatch, command: str, tool: str) -> None:
    need_tool("arm-none-eabi-gcc")
    out = tmp_path / "out"
    assert run("convert", DIGITS / "digits_int8.tflite", "-o", out, "--board", "mps2-an386", "--no-check")[0] == 0
    if command == "validate":
        assert run("build", out, "--board", "mps2-an386")[0] == 0
    monkeypatch.setenv("PATH", "/nonexistent")
    more = ("--random", "2") if command == "validate" else ()
    code, _, err = run(command, out, "--board", "mps2-an386", *more)
    assert code == 3, err
    assert "apt-get install" in err


def test_folder_that_is_not_ours(run: Run, tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine")
    code, _, err = run("convert", DIGITS / "digits_int8.tflite", "-o", tmp_path, "--no-check")
    assert code != 0
    assert (tmp_path / "keep.txt").read_text() == "mine"
    code, _, err = run("validate", tmp_path, "--board", "host", "--random", "2")
    assert code == 1
    assert "a project folder is what" in err


def test_relative_paths_work(run: Run, tmp_path: Path, monkeypatch) -> None:
    need_tool("arm-none-eabi-gcc")
    monkeypatch.chdir(tmp_path)
    assert run("convert", DIGITS / "digits_int8.tflite", "-o", "a/b c", "--board", "mps2-an386", "--no-check")[0] == 0
    assert run("build", "a/b c", "--board", "mps2-an386")[0] == 0


def test_the_host_has_no_firmware_to_build(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("convert", DIGITS / "digits_int8.tflite", "-o", out, "--cpu", "host", "--no-check")[0] == 0
    code, _, err = run("build", out, "--board", "host")
    assert code == 2
    assert "tinydeploy validate" in err


def test_a_path_beyond_ascii_in_an_ascii_locale(tmp_path: Path) -> None:
    """What compilers and QEMU print of it is read whatever the locale says."""
    need_tool("arm-none-eabi-gcc")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    environment = {**os.environ, "PYTHONPATH": str(REPO), **plain}
    for command in (
        ("convert", str(DIGITS / "digits_int8.tflite"), "-o", "tü ß 日", "--no-check"),
        ("build", "tü ß 日", "--board", "mps2-an386"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "tinydeploy", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")


def test_a_full_disk_is_said_with_what_helps(run: Run, tmp_path: Path, monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pipeline, "load", full)
    code, _, err = run("inspect", DIGITS / "digits.onnx")
    assert code == 1
    assert "No space left on device\n  hint: make room" in err
