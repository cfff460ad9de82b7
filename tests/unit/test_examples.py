"""The examples: their scripts run, their models are what the README says, their shapes are the benchmark's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO, need_module, need_shared
from tinydeploy import frontends, passes
from tinydeploy.data import load_data
from tinydeploy.ir import Graph
from tinydeploy.ir.types import dequantise, quantise
from tinydeploy.ops._op import Signature
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.passes.order import SHAPING
from tinydeploy.quant import quantise as to_level

EXAMPLES = REPO / "examples"
WEIGHTED = ("conv2d", "depthwise_conv2d", "fully_connected")
MACS = {"ad": 264_192, "kws": 2_656_768, "sww": 826_368, "ic_resnet8": 12_501_632, "vww": 7_489_664}


def run_script(script: str, *arguments: str | Path) -> str:
    """Run an example's script and return what it prints."""
    command = [sys.executable, str(EXAMPLES / script), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=EXAMPLES.parent).stdout


def load(path: Path) -> Graph:
    return passes.optimise(frontends.load(path), stages=SHAPING)  # trained ones have channels that are constant


def layers(graph: Graph) -> list[tuple[object, ...]]:
    """Operator, output shape, geometry and multiply-accumulates of every weighted node."""
    found = []
    for node in graph.nodes:
        if node.op.name in WEIGHTED:
            kinds = tuple(None if name is None else graph.type(name) for name in node.inputs)
            outputs = tuple(graph.type(name) for name in node.outputs)
            attributes = node.op.attributes()
            geometry = tuple(attributes.get(key) for key in ("stride", "padding", "dilation"))
            found.append((node.op.name, outputs[0].shape, geometry, node.op.macs(Signature(kinds, outputs))))
    return found


def test_digits_data_are_disjoint_and_balanced(tmp_path: Path) -> None:
    need_module("sklearn")
    run_script("digits/make_data.py", "-o", tmp_path)
    calibration, evaluation = (np.load(tmp_path / f"digits_{name}.npz") for name in ("calibration", "eval"))
    for file, count in ((calibration, 100), (evaluation, 500)):
        assert file["x"].shape == (count, 8, 8, 1)
        assert file["x"].dtype == np.float32
        assert (file["x"].min(), file["x"].max()) == (0, 1)
        assert np.bincount(file["y"]).min() >= 0.09 * count
    samples = {x.tobytes() for x in calibration["x"]}
    assert not samples & {x.tobytes() for x in evaluation["x"]}


def test_digits_formats_hold_the_same_network(tmp_path: Path) -> None:
    need_module("sklearn")
    run_script("digits/make_data.py", "-o", tmp_path)
    outputs = []
    for suffix in ("keras", "onnx", "tflite"):
        graph = load(EXAMPLES / "digits" / f"digits.{suffix}")
        data = load_data(tmp_path / "digits_eval.npz", graph)
        outputs.append(run_float(graph, data.x)[graph.outputs[0]].reshape(data.count, 10))
        assert (outputs[-1].argmax(axis=1) == data.y).mean() == pytest.approx(0.984)
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-5)
    np.testing.assert_allclose(outputs[0], outputs[2], atol=1e-5)


def test_digits_readme_knows_the_number_of_parameters() -> None:
    graph = frontends.load(EXAMPLES / "digits" / "digits.keras")
    count = sum(
        value.type.size for value in graph.values.values() if value.data is not None and value.type.elem.is_float
    )
    readme = (EXAMPLES / "digits" / "README.md").read_text("utf-8")
    assert f"{count:,} parameters" in readme


def test_readmes_name_files_that_exist() -> None:
    for readme in EXAMPLES.glob("*/README.md"):
        for name in re.findall(r"`([\w.]+\.(?:py|onnx|keras|tflite))`", readme.read_text("utf-8")):
            assert (readme.parent / name).is_file() or name == "toy.onnx", f"{readme}: {name}"


def test_toy_has_state_two_inputs_and_two_outputs(tmp_path: Path) -> None:
    from tinydeploy.passes.bind_states import bind_states

    run_script("toy/make_toy.py", "-o", tmp_path)
    graph = passes.optimise(bind_states(frontends.load(tmp_path / "toy.onnx"), {"h_in": "h_out"}))
    assert (graph.inputs, graph.outputs, len(graph.states)) == (["audio", "gain"], ["scores", "energy"], 1)
    data = load_data(tmp_path / "toy_calibration.npz", graph)
    quantised = to_level(graph, "int8", data.x)
    real = run_float(graph, data.x, steps=True)
    twin = run_integer(quantised, {n: quantise(x, quantised.type(n)) for n, x in data.x.items()}, steps=True)
    for name in graph.outputs:
        noise = dequantise(twin[name], quantised.type(name)) - real[name]
        assert 10 * np.log10((real[name] ** 2).sum() / (noise**2).sum()) > 35


@pytest.mark.slow
def test_mlperf_shapes_are_the_benchmarks(tmp_path: Path) -> None:
    need_module("keras", "tensorflow")
    run_script("mlperf_tiny/build.py", "-o", tmp_path)
    for name, macs in MACS.items():
        graph = load(tmp_path / f"{name}.h5")
        assert layers(graph) == layers(load(tmp_path / f"{name}.keras"))
        assert sum(int(str(layer[-1])) for layer in layers(graph)) == macs
        data = load_data(tmp_path / f"{name}_calibration.npz", graph)
        assert to_level(graph, "int8", data.x).nodes
        assert layers(graph) == layers(load(need_shared("models", "mlperf_tiny", f"{name}_int8.tflite")))
