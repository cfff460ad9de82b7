"""Quantised ONNX: operators between dequantise and quantise run in integers, a step at most from ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conformance import many_models
from tests.conftest import need_module, need_shared, need_tool
from tinydeploy import frontends, pipeline
from tinydeploy.ir import Array, Elem, Graph
from tinydeploy.ops.execute import run_float, run_integer

need_module("onnx", "onnxruntime")
RNG = np.random.default_rng(11)
INT8, UINT8, INT16 = np.int8, np.uint8, np.int16
SAMPLES = 4


class Model:
    """Writes a QDQ model node by node; values are names."""

    def __init__(self, domain: str = "") -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self.domain = domain

    def hold(self, data: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(data)
        return name

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name

    def quantise(self, x: str, scale: float, zero: int, dtype: Any = INT8) -> str:
        operands = (self.hold(np.float32(scale)), self.hold(dtype(zero)))
        return self.node("QuantizeLinear", x, *operands, domain=self.domain)

    def dequantise(self, q: str, scale: Any, zero: Any, **attributes: Any) -> str:
        operands = (self.hold(np.asarray(scale, np.float32)), self.hold(zero))
        return self.node("DequantizeLinear", q, *operands, domain=self.domain, **attributes)

    def both(self, x: str, scale: float, zero: int, dtype: Any = INT8) -> str:
        return self.dequantise(self.quantise(x, scale, zero, dtype), scale, dtype(zero))

    def weights(self, shape: tuple[int, ...], axis: int | None) -> str:
        scale = np.float32(0.02) if axis is None else RNG.uniform(0.01, 0.03, shape[axis]).astype(np.float32)
        zero = INT8(0) if axis is None else np.zeros(shape[axis], INT8)
        data = self.hold(RNG.integers(-127, 128, shape).astype(INT8))
        return self.dequantise(data, scale, zero, **({} if axis is None else {"axis": axis}))

    def save(self, folder: Path, shape: tuple[int, ...], output: str, opset: int = 17) -> Path:
        from onnx import TensorProto, helper, numpy_helper

        graph = helper.make_graph(
            self.nodes,
            "quantised",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(data, name) for name, data in self.constants.items()],
        )
        imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        path = folder / "quantised.onnx"
        path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
        return path


def conv(m: Model, dtype: Any) -> tuple[str, tuple[int, ...]]:
    zero = 0 if dtype is not UINT8 else 128
    y = m.node("Conv", m.both("x", 0.05, zero, dtype), m.weights((5, 3, 3, 3), 0), pads=[1, 1, 1, 1])
    y = m.both(m.node("Relu", y), 0.04, 0 if dtype is UINT8 else -128, dtype)
    y = m.both(m.node("Conv", y, m.weights((5, 1, 3, 3), None), group=5), 0.1, zero, dtype)
    return y, (1, 3, 7, 8)


def residual(m: Model, dtype: Any) -> tuple[str, tuple[int, ...]]:
    x = m.both("x", 0.05, 3, dtype)
    y = m.both(m.node("Conv", x, m.weights((3, 3, 1, 1), None)), 0.0713, 5, dtype)
    y = m.both(m.node("Add", y, x), 0.1037, 7, dtype)
    pooled = m.both(m.node("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2]), 0.0971, 1, dtype)
    highest = m.both(m.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), 0.1113, 2, dtype)
    y = m.both(m.node("Concat", pooled, highest, axis=1), 0.1231, 4, dtype)
    return m.both(m.node("GlobalAveragePool", y), 0.1091, 9, dtype), (1, 3, 6, 4)


def dense(m: Model, dtype: Any) -> tuple[str, tuple[int, ...]]:
    y = m.node("Transpose", m.both("x", 0.05, 10, dtype), perm=[0, 2, 1])
    y = m.node("Reshape", y, m.hold(np.asarray([1, 12])))
    bias = m.dequantise(m.hold(RNG.integers(-900, 900, 6).astype(np.int32)), 0.05 * 0.02, np.int32(0))
    y = m.both(m.node("Gemm", y, m.weights((12, 6), None), bias), 0.1, 12, dtype)
    y = m.node("Add", m.node("MatMul", y, m.weights((6, 4), None)), m.hold(RNG.normal(size=4).astype(np.float32)))
    return m.both(y, 0.09, 20, dtype), (1, 3, 4)


def functions(m: Model, dtype: Any) -> tuple[str, tuple[int, ...]]:
    y = m.both("x", 0.05, 100 if dtype is UINT8 else 0, dtype)
    y = m.both(m.node("Sigmoid", y), 1 / 256, 0 if dtype is UINT8 else -128, dtype)
    y = m.both(m.node("Mul", y, m.both("x", 0.05, 100 if dtype is UINT8 else 0, dtype)), 0.05, 50, dtype)
    return m.both(m.node("Softmax", y, axis=-1), 1 / 256, 0 if dtype is UINT8 else -128, dtype), (2, 9)


FLOATS = {"dequantize", "reshape", "transpose"}  # behind the last of them
BUILDERS = [conv, residual, dense, functions]


def runtime(path: Path, feeds: dict[str, Array]) -> list[Array]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    integer = b"QLinear" in path.read_bytes()
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if integer else levels.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.x64quantprecision", "1")  # or products saturate on some processors
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rows = [session.run(None, {n: a[i] for n, a in feeds.items()}) for i in range(len(next(iter(feeds.values()))))]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def last_step(graph: Graph, name: str) -> float:
    """The scale in which an output was last held, 1 for integers."""
    writer = graph.producer(name)
    while writer is not None and writer.op.name in ("reshape", "transpose"):
        writer = graph.producer(str(writer.inputs[0]))
    if writer is None or writer.op.name != "dequantize":
        return 1.0
    return graph.type(str(writer.inputs[0])).scale


def steps(path: Path, graph: Graph, feeds: dict[str, Array]) -> float:
    """How far the outputs are from ONNX Runtime's at most, in steps of their last scale."""
    ours = run_integer(graph, feeds)
    distances = [
        float(np.abs(ours[name].astype(np.float64) - theirs).max()) / last_step(graph, name)
        for name, theirs in zip(graph.outputs, runtime(path, feeds), strict=True)
    ]
    return max(distances)


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
@pytest.mark.parametrize("dtype", [INT8, UINT8])
@pytest.mark.parametrize("build", BUILDERS)
def test_all_of_it_runs_in_integers(tmp_path: Path, build: Any, dtype: Any, domain: str) -> None:
    m = Model(domain)
    output, shape = build(m, dtype)
    path = m.save(tmp_path, shape, output)
    graph = pipeline.optimise(frontends.load(path, input_shapes={}))
    floats = {n.op.name for n in graph.nodes if graph.type(n.outputs[0]).elem is Elem.F32}
    assert floats <= FLOATS
    assert all(value.type.elem is not Elem.U8 for value in graph.values.values())
    feeds = {"x": RNG.normal(0, 2, (SAMPLES, *shape)).astype(np.float32)}
    assert steps(path, graph, feeds) <= 1.01


def test_what_has_no_integer_form_stays_in_float(tmp_path: Path) -> None:
    m = Model()
    path = m.save(tmp_path, (1, 8), m.both(m.node("Erf", m.both("x", 0.05, 0)), 0.01, 0))
    graph = pipeline.optimise(frontends.load(path, input_shapes={}))
    assert [n.op.name for n in graph.nodes] == ["quantize", "dequantize", "erf", "quantize", "dequantize"]
    assert steps(path, graph, {"x": RNG.normal(size=(SAMPLES, 1, 8)).astype(np.float32)}) <= 1.01


def test_dilation_of_average_pooling(tmp_path: Path) -> None:
    m = Model()
    y = m.node("AveragePool", m.both("x", 0.05, 3), kernel_shape=[2, 2], dilations=[2, 3], strides=[1, 2])
    path = m.save(tmp_path, (1, 3, 7, 9), m.both(y, 0.04, -5), opset=19)
    graph = pipeline.optimise(frontends.load(path, input_shapes={}))
    assert steps(path, graph, {"x": RNG.normal(0, 2, (SAMPLES, 1, 3, 7, 9)).astype(np.float32)}) <= 1.01


def test_a_relu_that_quantising_does_is_there_in_real_numbers_too(tmp_path: Path) -> None:
    """Runtimes leave it out where the zero point is the lowest integer: the float reference must not lose it."""
    m = Model()
    y = m.node("Conv", m.both("x", 0.05, 0), m.weights((4, 3, 1, 1), None))
    path = m.save(tmp_path, (1, 3, 4, 4), m.both(y, 0.04, -128))
    graph = pipeline.optimise(frontends.load(path, input_shapes={}))
    result = run_float(graph, {"x": RNG.normal(0, 2, (SAMPLES, 1, 3, 4, 4)).astype(np.float32)})[graph.outputs[0]]
    assert result.min() == 0
    assert result.max() > 0


@pytest.fixture(scope="module")
def shared() -> list[Path]:
    folder = need_shared("models")
    names = ["ort_quantised/*.onnx", "tf2onnx/*int8.onnx", "tf2onnx/*_q*.onnx", "tract/qrelu*.onnx"]
    return [path for name in names for path in sorted(folder.glob(name))]


# On noise, one step of the scores before a softmax becomes some of the probabilities behind it.
BEHIND_A_SOFTMAX = 16.0


def test_shared_files_are_steps_from_onnx_runtime_and_equal_in_c(shared: list[Path], tmp_path: Path) -> None:
    need_tool("gcc")
    projects, feeds, twins = {}, {}, {}
    for number, path in enumerate(shared):
        graph = pipeline.optimise(frontends.load(path, input_shapes={}))
        given: dict[str, Array] = {}
        for name in graph.inputs:
            kind = graph.type(name)
            noise = np.abs(RNG.normal(0, 2, (2, *kind.shape)))
            given[name] = noise.astype(np.float32) if kind.elem.is_float else (noise * 40).astype(kind.elem.dtype)
        behind = any(node.op.name == "softmax" for node in graph.nodes)
        wide = any(value.type.elem is Elem.S16 for value in graph.values.values())
        distance = steps(path, graph, given)
        limit = (BEHIND_A_SOFTMAX if behind else 1.01) * (256 if wide else 1)  # in steps of 8 bits
        assert distance <= limit, path.name
        options = pipeline.ConvertOptions(quantize="float32", cpu="host", name=f"q{number}")
        projects[f"q{number}"] = pipeline.compile_graph(graph, graph, options, None)
        feeds[f"q{number}"] = {name: array[0] for name, array in given.items()}
        twins[f"q{number}"] = {name: array[0] for name, array in run_integer(graph, given).items()}
    results = many_models.run_all(projects, feeds, tmp_path)
    for name, outputs in results.items():
        assert not isinstance(outputs, str), outputs
        for output, array in outputs.items():
            np.testing.assert_array_equal(array, twins[name][output], err_msg=name)
