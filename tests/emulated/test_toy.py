"""The toy (state, two inputs, two outputs, sequences) from its ONNX file to the boards and the host, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_module, need_tool
from tests.mlperf import BOARDS
from tinydeploy import pipeline
from tinydeploy.data import load_data
from tinydeploy.ir import Graph
from tinydeploy.ops.execute import run_integer
from tinydeploy.validation import check

STATE = {"h_in": "h_out"}
SAMPLES = 4


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with toy.onnx and toy_calibration.npz."""
    need_module("onnx")
    folder = tmp_path_factory.mktemp("toy")
    subprocess.run([sys.executable, REPO / "examples" / "toy" / "make_toy.py", "-o", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def graphs(toy: Path) -> tuple[Graph, Graph]:
    """The optimised graph and its int8 form."""
    optimised = pipeline.optimise(pipeline.load(toy / "toy.onnx", states=STATE))
    data = load_data(toy / "toy_calibration.npz", optimised)
    return optimised, pipeline.quantise(optimised, "int8", data.x)


def folder_for(graphs: tuple[Graph, Graph], cpu: str, tmp_path: Path) -> pipeline.Folder:
    optimised, quantised = graphs
    options = pipeline.ConvertOptions(cpu=cpu, name="toy", check=False, integer_only=True)
    pipeline.compile_graph(quantised, optimised, options, None).write(tmp_path / "toy")
    return pipeline.open_folder(tmp_path / "toy")


def sequences(toy: Path, graph: Graph, samples: int = SAMPLES) -> check.Samples:
    data = load_data(toy / "toy_calibration.npz", graph)
    prepared = check.prepare(graph, {name: array[:samples] for name, array in data.x.items()}, None)
    assert prepared.steps
    return prepared


def as_one(samples: check.Samples) -> check.Samples:
    """The same steps as a single sequence: nothing is reset on the way."""
    fed, real = (
        {name: array.reshape(1, -1, *array.shape[2:]) for name, array in arrays.items()}
        for arrays in (samples.fed, samples.real)
    )
    return check.Samples(fed, real, None, True)


def test_reset_shows_in_the_results(toy: Path, graphs: tuple[Graph, Graph]) -> None:
    """Without it the runs below would prove nothing about NAME_reset."""
    quantised = graphs[1]
    apart = sequences(toy, quantised)
    scores = run_integer(quantised, apart.fed, steps=True)["scores"]
    together = run_integer(quantised, as_one(apart).fed, steps=True)["scores"].reshape(scores.shape)
    np.testing.assert_array_equal(scores[0], together[0])
    assert all((scores[i] != together[i]).any() for i in range(1, SAMPLES))


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
def test_host_under_sanitizers(toy: Path, graphs: tuple[Graph, Graph], cpu: str, tmp_path: Path) -> None:
    need_tool("gcc")
    folder = folder_for(graphs, cpu, tmp_path)
    drawn = check.prepare(folder.quantised, check.random_samples(folder.quantised, 200), None)
    for samples in (sequences(toy, folder.quantised, 32), as_one(sequences(toy, folder.quantised)), drawn):
        result = pipeline.validate(folder, "host", samples, sanitize=True)
        assert result["bit_exact"], result["first_mismatch"]


QUICK = [("cortex-m0", "microbit"), ("cortex-m4f", "mps2-an386"), ("cortex-m55", "mps3-an547")]
SLOW = [pytest.param(*pair, marks=pytest.mark.slow) for pair in BOARDS.items() if pair not in QUICK]


@pytest.mark.qemu
@pytest.mark.parametrize(("cpu", "board"), [*QUICK, *SLOW])
def test_boards(toy: Path, graphs: tuple[Graph, Graph], cpu: str, board: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    folder = folder_for(graphs, cpu, tmp_path)
    apart = sequences(toy, folder.quantised)
    for samples in (apart, as_one(apart)):
        result = pipeline.validate(folder, board, samples)
        assert result["bit_exact"], result["first_mismatch"]
    assert result["float"]["sqnr_db"] > 30


@pytest.mark.qemu
def test_deploy(toy: Path, tmp_path: Path) -> None:
    """The command of the example's README; the import is compared with ONNX Runtime, state and all."""
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    need_module("onnxruntime")
    data = toy / "toy_calibration.npz"
    command = [sys.executable, "-m", "tinydeploy", "deploy", toy / "toy.onnx", "--state", "h_in=h_out"]
    command += ["--board", "mps2-an386", "--calibration", data, "--data", data, "--samples", "3"]
    command += ["-o", tmp_path / "out", "--json", tmp_path / "result.json"]
    ran = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "warning" not in ran.stderr
    assert json.loads((tmp_path / "result.json").read_text("utf-8"))["bit_exact"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["checked_against"].startswith("onnxruntime")
    assert manifest["state_bytes"] == 8
