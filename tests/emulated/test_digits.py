"""The digits example from all its files: one accuracy, and the host and every board equal in every bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests import mlperf
from tests.conftest import REPO, need_module, need_tool
from tinydeploy import pipeline
from tinydeploy.ir import Graph
from tinydeploy.ops import execute
from tinydeploy.validation import check

DIGITS = REPO / "examples" / "digits"
FILES = ("digits.keras", "digits.onnx", "digits.tflite")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    need_module("sklearn")
    sys.path.insert(0, str(DIGITS))
    try:
        from make_data import split
    finally:
        sys.path.pop(0)
    _, (calibration, _), (x, y) = split()
    return {"calibration": calibration, "x": x, "y": y}


def quantised(file: str, data: dict[str, np.ndarray]) -> tuple[Graph, Graph]:
    graph = pipeline.optimise(pipeline.load(DIGITS / file))
    kind = graph.type(graph.inputs[0])
    feed = {graph.inputs[0]: data["calibration"].reshape(-1, *kind.shape)}
    return graph, pipeline.quantise(graph, "int8", feed)


def samples(graph: Graph, data: dict[str, np.ndarray], count: int = 500) -> check.Samples:
    kind = graph.type(graph.inputs[0])
    return check.prepare(graph, {graph.inputs[0]: data["x"][:count].reshape(-1, *kind.shape)}, data["y"][:count])


@pytest.fixture(scope="module")
def models(data) -> dict[str, tuple[Graph, Graph]]:
    return {file: quantised(file, data) for file in FILES}


def test_one_accuracy_from_three_files(models, data) -> None:
    floats, integers = [], []
    for file in FILES:
        reference, graph = models[file]
        fed = samples(graph, data)
        floats.append(execute.run_float(reference, fed.real)[reference.outputs[0]])
        integers.append(execute.run_integer(graph, fed.fed)[graph.outputs[0]])
    correct = [float(np.mean(output.reshape(500, 10).argmax(axis=1) == data["y"])) for output in (*floats, *integers)]
    assert len(set(correct[:3])) == 1
    assert correct[0] >= 0.97
    assert len(set(correct[3:])) == 1
    assert abs(correct[3] - correct[0]) <= 0.005
    for output in integers[1:]:
        assert np.array_equal(output.reshape(500, 10), integers[0].reshape(500, 10))


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", [*mlperf.BOARDS, "host"])
def test_every_board_is_bit_exact(models, data, cpu: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm", "gcc")
    reference, graph = models["digits.onnx"]
    options = pipeline.ConvertOptions(cpu=cpu, name="digits", check=False)
    pipeline.compile_graph(graph, reference, options, None).write(tmp_path / "digits")
    folder = pipeline.open_folder(tmp_path / "digits")
    on_host = pipeline.validate(folder, "host", samples(graph, data), sanitize=True)
    assert on_host["bit_exact"], on_host["first_mismatch"]
    if cpu == "host":
        return
    for board in {mlperf.BOARDS[cpu], "microbit"} if cpu == "cortex-m0" else {mlperf.BOARDS[cpu]}:
        result = pipeline.validate(folder, board, samples(graph, data, 100), per_layer=True)
        assert result["bit_exact"], result["first_mismatch"]
        assert result["first_differing_node"] is None
        assert {row["exact"] for row in result["per_layer"]} <= {True, None}
        assert result["instructions"]["method"] == "tcg-plugin"
        assert result["stack_bytes"] > 0


def test_two_conversions_are_identical_in_every_byte(tmp_path: Path) -> None:
    for name in ("a", "b"):
        command = [sys.executable, "-m", "tinydeploy", "convert", str(DIGITS / "digits_int8.tflite"), "--no-check"]
        env = {**os.environ, "PYTHONHASHSEED": "1" if name == "a" else "2"}
        subprocess.run([*command, "-o", str(tmp_path / name)], check=True, capture_output=True, env=env)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(tmp_path / "b") for path in (tmp_path / "b").rglob("*") if path.is_file())
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_killed_half_way_leaves_no_folder(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "tinydeploy", "convert", str(DIGITS / "digits_int8.tflite"), "--no-check"]
    started = time.monotonic()
    subprocess.run([*command, "-o", str(tmp_path / "whole")], check=True, capture_output=True)
    whole = time.monotonic() - started
    manifest = json.loads((tmp_path / "whole" / "manifest.json").read_text())
    for index, share in enumerate((0.5, 0.8, 0.9, 0.95)):
        out = tmp_path / f"out{index}"
        process = subprocess.Popen([*command, "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * share)
        process.send_signal(how)
        process.wait(timeout=60)
        if out.exists():  # it was quicker this time: then the folder is whole
            assert json.loads((out / "manifest.json").read_text()) == manifest
            assert {p.name for p in out.iterdir()} == {p.name for p in (tmp_path / "whole").iterdir()}
