"""What the commands say: names people know are understood, and nothing is run for options that cannot be met."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_tool

DIGITS = REPO / "examples" / "digits"
CONVERT = ("convert", DIGITS / "digits_int8.tflite", "--no-check")


def test_help_lists_every_command_in_a_whole_sentence(run):
    code, out, _ = run("--help")
    assert code == 0
    commands = out[out.index("Commands:") : out.index("Exit codes")].strip().splitlines()[1:]
    rows = [line for line in commands if line.strip()]
    assert len(rows) >= 9
    assert all(line.endswith(".") and not line.endswith("...") for line in rows)


@pytest.mark.parametrize(
    ("name", "ours"), [("Gemm", "fully_connected"), ("FULLY_CONNECTED", "fully_connected"), ("Sigmoid", "logistic")]
)
def test_ops_knows_the_names_of_the_files(run, name, ours):
    code, out, err = run("ops", name)
    assert code == 0, err
    assert f"{name} is read" in out
    assert f"\n{ours}: " in out
    assert ours in [item["name"] for item in json.loads(run("ops", name, "--json")[1])]


def test_ops_lists_what_each_format_may_hold(run):
    out = run("ops")[1]
    assert "``" not in out
    assert all(name in out for name in ("Gemm", "CONV_2D", "SeparableConv1D"))
    assert run("ops", "Nonsense")[0] == 2


def test_a_board_is_shown_with_its_memory(run):
    code, out, _ = run("boards", "mps3-an547")
    assert code == 0
    assert "cortex-m55" in out
    assert "itcm" in out


def test_cpu_that_the_board_cannot_run(run, tmp_path):
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--cpu", "cortex-m4", "--board", "microbit")
    assert code == 2
    assert "lacks thumb2, dsp" in err
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--cpu", "cortex-m0", "--board", "mps2-an386")
    assert code == 0, err


def test_next_step_can_be_pasted(run, tmp_path):
    code, out, err = run(*CONVERT, "-o", tmp_path / "a b", "--board", "microbit")
    assert code == 0, err
    assert f"tinydeploy build '{tmp_path}/a b' --board microbit\n" in out


def test_name_that_c_does_not_take_is_said(run, tmp_path):
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--name", "int")
    assert code == 0
    assert "warning: --name int" in err
    assert (tmp_path / "out" / "model_int.h").is_file()


def test_output_is_looked_at_first(run, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = run("convert", tmp_path / "nothing.onnx", "-o", tmp_path)
    assert code == 2
    assert "did not write" in err


@pytest.fixture
def folder(run, tmp_path) -> Path:
    need_tool("gcc")
    assert run(*CONVERT, "-o", tmp_path / "out")[0] == 0
    generator = np.random.default_rng(0)
    np.savez(tmp_path / "x.npz", x=generator.random((6, 8, 8, 1)).astype("f4"))
    np.savez(tmp_path / "xy.npz", x=generator.random((6, 8, 8, 1)).astype("f4"), y=np.arange(6))
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("metric", "data", "code", "word"),
    [
        ("accuracy", "xy", 2, "top1, topk:K"),
        ("topk", "xy", 2, "no positive number"),
        ("no_such_module:f", "xy", 2, "cannot be loaded"),
        ("top1", "x", 1, "needs labels"),
    ],
)
def test_metric_is_refused_before_the_run(run, folder, metric, data, code, word):
    got, _, err = run(
        "validate", folder, "--board", "host", "--data", folder.parent / f"{data}.npz", "--metric", metric
    )
    assert got == code
    assert word in err
    assert "compiling" not in err


def test_what_a_metric_of_ones_own_raises_is_no_bug_of_ours(run, folder):
    path = folder.parent / "mine.py"
    path.write_text("def score(outputs, labels, inputs):\n    raise ValueError('seven')\n")
    code, _, err = run(
        "validate", folder, "--board", "host", "--data", folder.parent / "xy.npz", "--metric", f"{path}:score"
    )
    assert code == 2
    assert "raised ValueError: seven" in err


@pytest.mark.parametrize(
    ("body", "word"),
    [("raise SystemExit(0)", "SystemExit"), ("return None", "no finite"), ("return float('nan')", "no finite")],
)
def test_a_metric_of_ones_own_cannot_end_well_without_a_number(run, folder, body, word):
    path = folder.parent / "mine.py"
    path.write_text(f"def score(outputs, labels, inputs):\n    {body}\n")
    data = ("--data", folder.parent / "xy.npz")
    code, _, err = run("validate", folder, "--board", "host", *data, "--metric", f"{path}:score")
    assert code == 2
    assert word in err


def test_stdout_holds_the_json_alone(run, folder):
    path = folder.parent / "mine.py"
    path.write_text("print('at the top')\ndef score(outputs, labels, inputs):\n    print('inside')\n    return 1\n")
    data = ("--data", folder.parent / "xy.npz")
    code, out, err = run("validate", folder, "--board", "host", *data, "--metric", f"{path}:score", "--json", "-")
    assert code == 0, err
    assert json.loads(out)["metric"]["float"] == 1
    assert "at the top\ninside\n" in err
    code, out, err = run(*CONVERT, "-o", folder, "--dump-after", "fuse_clamp", "--json", "-")
    assert code == 0, err
    assert json.loads(out)["name"] == "digits_int8"
    assert "conv2d(" in err


def test_sanitizers_are_the_hosts(run, folder):
    code, _, err = run("validate", folder, "--board", "mps2-an386", "--random", "2", "--sanitize")
    assert code == 2
    assert "--board host" in err


def test_calibration_that_is_not_used_is_said(run, tmp_path):
    code, _, err = run(*CONVERT, "-o", tmp_path / "out", "--calibration", tmp_path / "none.npz")
    assert code == 0
    assert "warning: --calibration is not read" in err


def test_summary_tells_random_inputs_from_samples(run, folder):
    need_tool("gcc")
    out = run("validate", folder, "--board", "host", "--random", "3")[1]
    assert "3 random inputs: bit-exact" in out
    assert "--data EVAL" in out
    out = run("validate", folder, "--board", "host", "--data", folder.parent / "x.npz", "--metric", "mse")[1]
    assert "6 samples: bit-exact" in out
    assert "mse: float 0, quantised " in out
    assert "quantised 0.00," not in out
    assert "stack" not in out


def test_bench_without_keras_names_what_is_missing(run, monkeypatch, tmp_path):
    monkeypatch.setenv("TD_SHARED", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = run("bench", "--only", "ad", "--cpus", "cortex-m0")
    assert code == 3
    assert "keras" in err
    assert "--models DIR" in err
