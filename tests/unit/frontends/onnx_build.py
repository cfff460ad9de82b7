"""Builds tiny ONNX models and compares their import, plain and optimised, with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import need_module
from tinydeploy import passes
from tinydeploy.frontends.onnx import load
from tinydeploy.ir import Array, Graph
from tinydeploy.ir.verify import verify
from tinydeploy.ops.execute import run_float

OPSET = 17
SAMPLES = 3


def model(
    nodes: list[Any],
    inputs: dict[str, tuple[Any, ...]],
    outputs: list[str],
    constants: dict[str, Array] | None = None,
    *,
    opset: int = OPSET,
) -> Any:
    """A model with float32 inputs; dimensions may be numbers, symbols or None. Output shapes are left to inference."""
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in (constants or {}).items()],
    )
    for output in graph.output:
        output.type.tensor_type.elem_type = TensorProto.FLOAT
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def save(proto: Any, folder: Path) -> Path:
    """Write a model to a file of ``folder``."""
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def random_feeds(graph: Graph, seed: int = 0, samples: int = SAMPLES) -> dict[str, Array]:
    """Normally distributed samples for every input."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(samples, *graph.type(name).shape)).astype(np.float32) for name in graph.inputs}


def runtime_results(path: Path, feeds: dict[str, Array], names: list[str]) -> dict[str, Array]:
    """What ONNX Runtime computes, sample by sample."""
    need_module("onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    count = len(next(iter(feeds.values())))
    rows = [session.run(names, {name: np.asarray(data[i]) for name, data in feeds.items()}) for i in range(count)]
    return {name: np.stack([row[i] for row in rows]) for i, name in enumerate(names)}


def assert_close(have: dict[str, Array], want: dict[str, Array], tolerance: float) -> None:
    """Compare relative to the largest magnitude of each output."""
    for name, expected in want.items():
        assert have[name].shape == expected.shape, name
        np.testing.assert_allclose(have[name], expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def check(proto: Any, folder: Path, *, tolerance: float = 1e-5, **shapes: tuple[int, ...]) -> tuple[Graph, Graph]:
    """Import, compare, optimise, compare; return both graphs."""
    path = save(proto, folder)
    graph = load(path, shapes)
    verify(graph)
    feeds = random_feeds(graph)
    want = runtime_results(path, feeds, graph.outputs)
    assert_close(run_float(graph, feeds), want, tolerance)
    better = passes.optimise(graph)
    assert (better.inputs, better.outputs) == (graph.inputs, graph.outputs)
    assert_close(run_float(better, feeds), want, tolerance)
    return graph, better


def operators(graph: Graph) -> list[str]:
    """Names of the operators, in order."""
    return [node.op.name for node in graph.nodes]
