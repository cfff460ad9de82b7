"""Operators that move, pick and reduce, quantised by us: which run in int8, and that the C has the twin's bits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.conformance import many_models
from tests.conftest import need_tool
from tests.unit.passes.graphs import Maker
from tinydeploy import pipeline
from tinydeploy.ir import Elem, Graph
from tinydeploy.ops.execute import run_float, run_integer

X = (1, 6, 8, 4)
PLACES = np.array([3, 0, 0, 5, 2])
IN_INT8 = {
    "gather": lambda m, y: m.op("gather", y, m.places(PLACES), axis=1),
    "gather_nd": lambda m, y: m.op("gather_nd", y, m.places([[0, 1], [0, 5]])),
    "tile": lambda m, y: m.op("tile", y, repeats=(1, 2, 1, 2)),
    "broadcast_to": lambda m, y: m.op("broadcast_to", m.op("mean", y, axes=(1,), keep_dims=True), shape=X),
    "reduce_max": lambda m, y: m.op("reduce_max", y, axes=(1, 2)),
    "reduce_min": lambda m, y: m.op("reduce_min", y, axes=(3,), keep_dims=True),
    "reduce_sum": lambda m, y: m.op("reduce_sum", y, axes=(2,)),
    "resize_bilinear": lambda m, y: m.op("resize_bilinear", y, size=(9, 5), half_pixel_centers=True),
    "top_k": lambda m, y: m.ops("top_k", y, k=3, axis=3, elem=Elem.S32)[0],
    "arg_max": lambda m, y: m.op("arg_max", y, axis=3, elem=Elem.S32),
}
IN_FLOAT = {
    "reduce_prod": lambda m, y: m.op("reduce_prod", y, axes=(3,)),
    "cumsum": lambda m, y: m.op("cumsum", y, axis=1),
    "resample": lambda m, y: m.op("resample", y, m.places(PLACES.reshape(-1, 1)), m.random(5, 1), axis=2),
}
CASES = {**IN_INT8, **IN_FLOAT}


def quantised(name: str) -> tuple[Graph, Graph, dict[str, np.ndarray]]:
    """The float graph, the int8 one and samples."""
    make = Maker(3)
    y = make.op("mul", make.input(*X), make.random(4))
    graph = make.done(CASES[name](make, y))
    samples = {"x": np.random.default_rng(4).normal(size=(16, *X)).astype(np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return graph, pipeline.quantise(graph, "int8", samples), samples


@pytest.mark.parametrize("name", CASES)
def test_meaning(name: str) -> None:
    graph, integer, samples = quantised(name)
    node = next(node for node in integer.nodes if node.op.name == name)
    kind = integer.type(str(node.inputs[0]))
    assert (kind.elem is Elem.S8) == (name in IN_INT8)
    (wanted,), (kind,) = run_float(graph, samples).values(), [integer.type(integer.outputs[0])]
    (result,) = run_integer(integer, {n: quantise_input(integer, n, a) for n, a in samples.items()}).values()
    if name == "arg_max":
        assert np.mean(result == wanted) > 0.9
        return
    real = (result.astype(np.float64) - kind.zero_point) * kind.scale if kind.quant else result
    assert np.abs(real - wanted).max() < 0.05 * np.abs(wanted).max()


def quantise_input(graph: Graph, name: str, data: np.ndarray) -> np.ndarray:
    kind = graph.type(name)
    return np.clip(np.rint(data / kind.scale) + kind.zero_point, -128, 127).astype(np.int8)


def test_c(tmp_path) -> None:
    need_tool("gcc")
    projects, feeds, twins = {}, {}, {}
    for number, name in enumerate(CASES):
        graph, integer, samples = quantised(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = pipeline.ConvertOptions(quantize="int8", cpu="host", name=f"m{number}")
            projects[name] = pipeline.compile_graph(integer, graph, options, None)
        fed = {n: quantise_input(integer, n, a[:1]) for n, a in samples.items()}
        feeds[name], twins[name] = {n: a[0] for n, a in fed.items()}, run_integer(integer, fed)
    named = {projects[name].name: name for name in CASES}
    results = many_models.run_all(
        {p.name: p for p in projects.values()}, {projects[n].name: feeds[n] for n in CASES}, tmp_path
    )
    for own, name in named.items():
        assert not isinstance(results[own], str), (name, results[own])
        for array, twin in zip(results[own].values(), twins[name].values(), strict=True):
            np.testing.assert_array_equal(array, twin[0], err_msg=name)
