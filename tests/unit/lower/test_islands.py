"""Operators without an integer kernel run in float between conversions, and say so."""

from __future__ import annotations

import numpy as np
import pytest

from tinydeploy import pipeline
from tinydeploy.errors import UnsupportedError
from tinydeploy.ir import Elem, Graph, Quant, Type
from tinydeploy.lower import island_warnings, lower_with_islands, target_for
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.ops.local_response_norm import LocalResponseNorm
from tinydeploy.ops.reshape import Reshape
from tinydeploy.ops.unary import Exp

KIND = Type((1, 2, 2, 8), Elem.S8, Quant.per_tensor(0.05, 3))


def quantised() -> Graph:
    """int8 in and out, with an operator that has no integer arithmetic."""
    graph = Graph("g")
    graph.inputs = [graph.add_value("x", KIND)]
    graph.outputs = [graph.add_value("y", KIND)]
    graph.add_node("norm", LocalResponseNorm(size=3), ("x",), outputs=("y",), origin="'n'")
    return graph


def test_conversions_stand_around_it_and_a_warning_names_the_cost() -> None:
    graph = quantised()
    project = pipeline.compile_graph(graph, graph, pipeline.ConvertOptions(check=False, name="m"), None)
    assert [node["op"] for node in project.manifest["nodes"]] == ["dequantize", "local_response_norm", "quantize"]
    (line,) = [text for text in project.manifest["warnings"] if "runs in float32" in text]
    assert all(words in line for words in ("'n'", "no integer kernel takes it", "instructions"))
    assert [node.op.name for node in graph.nodes] == ["local_response_norm"], "the graph given is not changed"


def test_it_means_what_it_meant() -> None:
    graph = quantised()
    moved, _ = lower_with_islands(graph, target_for("cortex-m4"))
    x = np.random.default_rng(0).integers(-128, 128, (4, *KIND.shape), np.int8)
    real = (x.astype(np.float32) - 3) * np.float32(0.05)
    result = (run_integer(moved, {"x": x})["y"].astype(np.float32) - 3) * 0.05
    assert np.abs(result - run_float(graph, {"x": real})["y"]).max() <= 0.0251


def test_integer_only_makes_it_an_error() -> None:
    graph = quantised()
    with pytest.raises(UnsupportedError, match="would run in float"):
        pipeline.compile_graph(graph, graph, pipeline.ConvertOptions(check=False, integer_only=True), None)


def test_what_a_model_computes_in_real_numbers_is_called_so_and_views_are_not_named() -> None:
    graph = Graph("g")
    graph.inputs = [graph.add_value("x", KIND)]
    (real,) = graph.add_node("d", Dequantize(), ("x",)).outputs
    (flat,) = graph.add_node("r", Reshape(shape=(1, 32)), (real,)).outputs
    graph.outputs = list(graph.add_node("e", Exp(), (flat,)).outputs)
    same, lowered = lower_with_islands(graph, target_for("cortex-m4"))
    assert same is graph
    (line,) = island_warnings(graph, same, lowered)
    assert line.startswith("e: exp runs in float32, the model computes it in real numbers;")
