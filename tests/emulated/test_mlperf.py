"""The five MLPerf Tiny int8 models, whole: converted for every core, run on its board and on the host, bit for bit.

The host runs every real input (up to 1,000) and 100 random ones, with sanitizers; the boards run a named subset.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests import mlperf
from tests.conftest import need_module, need_shared, need_tool
from tinydeploy import pipeline
from tinydeploy.ir import Graph
from tinydeploy.validation import check, compare

# how many real inputs a board runs (emulation is slow; the first ones of the set), and as many random ones / 4
SUBSET = {"ad": 40, "kws": 20, "sww": 20, "ic_resnet8": 8, "vww": 8}
# what TFLM needs: instructions by cpu, and all RAM, total flash in bytes (M4); the factor is this project's own goal
FACTOR = {"cortex-m0": 1.0, "cortex-m3": 1.0, "cortex-m4f": 0.7, "cortex-m55": 1.5}


@pytest.fixture(scope="session")
def graphs() -> dict[str, Graph]:
    """Optimised graphs by model name, filled as they are asked for."""
    return {}


def graph_of(graphs: dict[str, Graph], name: str) -> Graph:
    if name not in graphs:
        path = need_shared("models", "mlperf_tiny", f"{name}_int8.tflite")
        graphs[name] = pipeline.optimise(pipeline.load(path))
    return graphs[name]


def folder_for(graph: Graph, cpu: str, name: str, tmp_path: Path) -> pipeline.Folder:
    project = pipeline.compile_graph(graph, graph, pipeline.ConvertOptions(cpu=cpu, name=name, check=False), None)
    project.write(tmp_path / name)
    return pipeline.open_folder(tmp_path / name)


def some_inputs(graph: Graph, name: str, limit: int, random: int) -> check.Samples:
    only = graph.inputs[0]
    drawn = check.random_samples(graph, random)[only]
    return check.prepare(graph, {only: np.concatenate([mlperf.real_inputs(name, graph, limit), drawn])}, None)


def on_board(graphs: dict[str, Graph], name: str, cpu: str, board: str, tmp_path: Path) -> dict:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    graph = graph_of(graphs, name)
    folder = folder_for(graph, cpu, name, tmp_path)
    samples = some_inputs(graph, name, SUBSET[name], max(1, SUBSET[name] // 4))
    return pipeline.validate(folder, board, samples)


@pytest.mark.qemu
@pytest.mark.parametrize(("name", "cpu"), [("kws", "cortex-m4f"), ("sww", "cortex-m0"), ("ad", "cortex-m55")])
def test_quick(graphs, name: str, cpu: str, tmp_path: Path) -> None:
    assert on_board(graphs, name, cpu, mlperf.BOARDS[cpu], tmp_path)["bit_exact"]


@pytest.mark.slow
@pytest.mark.qemu
@pytest.mark.parametrize("cpu", mlperf.BOARDS)
@pytest.mark.parametrize("name", mlperf.MODELS)
def test_boards(graphs, name: str, cpu: str, tmp_path: Path) -> None:
    from tinydeploy.bench import TFLM_INSTRUCTIONS

    result = on_board(graphs, name, cpu, mlperf.BOARDS[cpu], tmp_path)
    assert result["bit_exact"], result["first_mismatch"]
    peer = TFLM_INSTRUCTIONS[cpu].get(name)
    if peer is not None and cpu in FACTOR and result["instructions"]["method"] == "tcg-plugin":
        assert result["instructions"]["per_inference"] <= FACTOR[cpu] * peer


@pytest.mark.slow
@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f"])
@pytest.mark.parametrize("name", mlperf.MODELS)
def test_older_folders_run_on_m55(graphs, name: str, cpu: str, tmp_path: Path) -> None:
    assert on_board(graphs, name, cpu, "mps3-an547", tmp_path)["bit_exact"]


@pytest.mark.slow
@pytest.mark.parametrize("cpu", mlperf.BOARDS)
@pytest.mark.parametrize("name", mlperf.MODELS)
def test_host_under_sanitizers(graphs, name: str, cpu: str, tmp_path: Path) -> None:
    need_tool("gcc")
    graph = graph_of(graphs, name)
    folder = folder_for(graph, cpu, name, tmp_path)
    limit, random = (1000, 100) if cpu == "cortex-m4f" else (50, 10)  # the three classes share their plain C twins
    result = pipeline.validate(folder, "host", some_inputs(graph, name, limit, random), sanitize=True)
    assert result["bit_exact"], result["first_mismatch"]


@pytest.mark.slow
@pytest.mark.parametrize("name", mlperf.MODELS)
def test_twin_equals_litert_reference(graphs, name: str) -> None:
    need_module("ai_edge_litert")
    from tinydeploy.ops import execute
    from tinydeploy.validation.oracle import run_oracle

    graph = graph_of(graphs, name)
    samples = some_inputs(graph, name, 1000, 100)
    outputs = run_oracle(need_shared("models", "mlperf_tiny", f"{name}_int8.tflite"), samples.fed)
    wanted = dict(zip(graph.outputs, outputs, strict=True))
    assert compare.exactness(wanted, execute.run_integer(graph, samples.fed)).bit_exact


@pytest.mark.slow
@pytest.mark.qemu
@pytest.mark.parametrize("opt", ["-O0", "-Os"])
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
def test_other_optimisation_levels(graphs, cpu: str, opt: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    graph = graph_of(graphs, "kws")
    folder = folder_for(graph, cpu, "kws", tmp_path)
    assert pipeline.validate(folder, mlperf.BOARDS[cpu], some_inputs(graph, "kws", 4, 2), opt=opt)["bit_exact"]
