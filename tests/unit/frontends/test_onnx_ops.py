"""Each ONNX operator, over versions and shapes, against ONNX Runtime; plain and optimised."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import OPSET, check, model
from tinydeploy.ir import Array

need_module("onnx", "onnxruntime")
RNG = np.random.default_rng(7)


def floats(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def ints(*values: int) -> Array:
    return np.asarray(values, np.int64)


@dataclasses.dataclass
class Case:
    """One node: attributes, run-time inputs (shapes) and constant inputs by position, all else absent."""

    op: str
    inputs: dict[int, tuple[int, ...]]
    constants: dict[int, Array] = dataclasses.field(default_factory=dict)
    opset: int = OPSET
    outputs: int = 1
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        shapes = "+".join("x".join(map(str, s)) for s in self.inputs.values())
        consts = "+".join("x".join(map(str, c.shape)) or "scalar" for c in self.constants.values())
        words = ",".join(f"{k}={v}" for k, v in self.attributes.items()).replace(" ", "")
        return f"{self.op}-{self.opset}({shapes};{consts};{words})"


def case(op: str, *inputs: Any, opset: int = OPSET, outputs: int = 1, **attributes: Any) -> Case:
    """Inputs: a tuple is a run-time shape, an array a constant, None an absent input."""
    dynamic = {i: entry for i, entry in enumerate(inputs) if isinstance(entry, tuple)}
    constants = {i: entry for i, entry in enumerate(inputs) if isinstance(entry, np.ndarray)}
    return Case(op, dynamic, constants, opset, outputs, attributes)


def conv(x: tuple[int, ...], w: tuple[int, ...], bias: bool = True, opset: int = OPSET, **attributes: Any) -> Case:
    return case("Conv", x, floats(*w), floats(w[0]) if bias else None, opset=opset, **attributes)


CONVOLUTIONS = [
    conv((1, 3, 8, 9), (4, 3, 3, 3)),
    conv((1, 3, 8, 9), (4, 3, 3, 3), bias=False, pads=[1, 2, 0, 1], strides=[2, 1]),
    conv((1, 3, 8, 9), (4, 3, 3, 2), auto_pad="SAME_UPPER", strides=[2, 2]),
    conv((1, 3, 8, 9), (4, 3, 2, 4), auto_pad="SAME_LOWER", strides=[3, 2]),
    conv((1, 3, 8, 9), (4, 3, 3, 3), auto_pad="VALID", opset=7),
    conv((1, 3, 9, 9), (4, 3, 3, 2), dilations=[2, 3], pads=[2, 1, 2, 1], opset=11),
    conv((1, 4, 6, 6), (4, 1, 3, 3), group=4, pads=[1, 1, 1, 1]),
    conv((1, 4, 6, 6), (8, 1, 3, 3), group=4, strides=[2, 2]),
    conv((1, 6, 6, 5), (4, 3, 3, 3), group=2, kernel_shape=[3, 3]),
    conv((1, 1, 6, 5), (1, 1, 1, 1)),
    conv((1, 1, 6, 5), (3, 1, 2, 2)),
    conv((2, 3, 5, 5), (4, 3, 3, 3)),
    conv((1, 3, 10), (4, 3, 3)),
    conv((1, 3, 10), (6, 1, 3), group=3, pads=[2, 1], dilations=[2]),
    conv((1, 3, 10), (5, 3, 4), auto_pad="SAME_UPPER", strides=[2]),
    conv((1, 3, 1, 10), (5, 3, 1, 4), strides=[1, 2]),
    conv((1, 2, 3, 3), (5, 2, 3, 3)),
    conv((1, 2, 5, 5), (5, 2, 3, 3), opset=22),
]

LINEAR = [
    case("MatMul", (1, 5), floats(5, 3)),
    case("MatMul", (2, 3, 5), floats(5, 3)),
    case("MatMul", (5,), floats(5, 3)),
    case("MatMul", (2, 5), floats(5)),
    case("MatMul", (5,), floats(5)),
    case("MatMul", (2, 3, 5), floats(1, 5, 4)),
    case("MatMul", floats(3, 5), (5, 2)),
    case("MatMul", floats(3, 5), (2, 5, 4)),
    case("MatMul", floats(5), (2, 5, 4)),
    case("MatMul", floats(3, 5), (5,)),
    case("MatMul", floats(5), (5,)),
    case("Gemm", (1, 5), floats(5, 3), floats(3)),
    case("Gemm", (4, 5), floats(3, 5), floats(1, 3), transB=1, alpha=0.5, beta=-2.0),
    case("Gemm", (4, 5), floats(3, 5), floats(4, 1), transB=1),
    case("Gemm", (4, 5), floats(3, 5), floats(4, 3), transB=1, beta=0.25),
    case("Gemm", (4, 5), floats(5, 3), floats(), beta=3.0),
    case("Gemm", (4, 5), floats(5, 3), floats(1)),
    case("Gemm", (5, 4), floats(5, 3), floats(3), transA=1),
    case("Gemm", (4, 5), floats(5, 3)),
    case("Gemm", (4, 5), floats(5, 3), (3,), beta=2.0),
    case("Gemm", (4, 5), floats(5, 3), (4, 1)),
    case("Gemm", (1, 5), floats(5, 3), floats(3), opset=7),
]

ELEMENTWISE = [
    *(case(op, (1, 3, 4), (1, 3, 4)) for op in ("Add", "Sub", "Mul")),
    *(case(op, (1, 3, 4), (4,), opset=7) for op in ("Add", "Sub", "Mul")),
    *(case(op, (2, 3, 4), floats(3, 1)) for op in ("Add", "Sub", "Mul", "Div")),
    *(case(op, (2, 3), floats()) for op in ("Add", "Sub", "Mul", "Div")),
    *(case(op, floats(4, 1), (1, 5)) for op in ("Add", "Sub", "Mul")),
    case("Sub", (), ()),
    case("Relu", (1, 3, 4)),
    case("Relu", ()),
    case("Clip", (1, 30), opset=7),
    case("Clip", (1, 30), opset=7, min=-0.5, max=0.75),
    case("Clip", (1, 30), opset=10, max=0.75),
    case("Clip", (1, 30), np.float32(-0.25).reshape(()), np.float32(1).reshape(())),
    case("Clip", (1, 30), None, np.float32(0.5).reshape(())),
    case("Clip", (1, 30), np.float32(0.1).reshape(())),
    case("Clip", (1, 30)),
    case("Clip", (1, 30), np.float32(1).reshape(()), np.float32(-1).reshape(())),
    case("Sigmoid", (2, 3)),
    case("Tanh", (2, 3)),
    case("Identity", (2, 3)),
    case("Dropout", (2, 3)),
    case("Dropout", (2, 3), opset=7, ratio=0.3),
    case("Dropout", (2, 3), np.float32(0.3).reshape(()), np.asarray(False)),
    *(case("Softmax", (2, 3, 4), axis=axis) for axis in (0, 1, 2, -1, -3)),
    *(case("Softmax", (2, 3, 4), axis=axis, opset=11) for axis in (0, 1, 2, -2)),
    case("Softmax", (2, 3, 4)),
    case("Softmax", (2, 3, 4), opset=8),
    case("Softmax", (1, 3, 1, 1), opset=8),
    case("Cast", (2, 3), to=1),
]

POOLING = [
    case("MaxPool", (1, 3, 8, 9), kernel_shape=[2, 3]),
    case("MaxPool", (1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1]),
    case("MaxPool", (1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    case("MaxPool", (1, 3, 8, 8), kernel_shape=[3, 3], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1),
    case("MaxPool", (1, 3, 8, 9), kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    case("MaxPool", (1, 3, 8, 9), kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_LOWER", opset=8),
    case("MaxPool", (1, 3, 9, 9), kernel_shape=[2, 2], dilations=[2, 3]),
    case("MaxPool", (1, 3, 9), kernel_shape=[3], strides=[2], pads=[1, 1], storage_order=1),
    case("MaxPool", (1, 2, 6, 6), kernel_shape=[1, 1], strides=[4, 4], ceil_mode=1),
    case("AveragePool", (1, 3, 8, 9), kernel_shape=[2, 3]),
    case("AveragePool", (1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1]),
    case("AveragePool", (1, 3, 8, 9), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    case("AveragePool", (1, 3, 8, 9), kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    case("AveragePool", (1, 3, 8, 9), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, opset=19),
    case("AveragePool", (1, 3, 8, 8), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, count_include_pad=1, opset=19),
    case("AveragePool", (1, 3, 9), kernel_shape=[4], strides=[2], opset=7),
    case("AveragePool", (1, 3, 4, 4), kernel_shape=[1, 1]),
    case("GlobalAveragePool", (1, 3, 4, 5)),
    case("GlobalAveragePool", (1, 3, 7)),
    case("GlobalAveragePool", (2, 3, 1, 1)),
    case("GlobalMaxPool", (1, 3, 4, 5)),
    case("GlobalMaxPool", (1, 3, 7)),
]

MEANS_AND_NORMS = [
    case("ReduceMean", (1, 3, 4, 5), axes=[2, 3]),
    case("ReduceMean", (1, 3, 4, 5), axes=[-1], keepdims=0),
    case("ReduceMean", (2, 3), opset=11),
    case("ReduceMean", (1, 3, 4), ints(1), opset=18, keepdims=0),
    case("ReduceMean", (1, 3, 4), opset=18, noop_with_empty_axes=1),
    case("ReduceMean", (1, 3, 4), opset=18),
    *(
        case("BatchNormalization", shape, floats(3), floats(3), floats(3), np.abs(floats(3)) + 0.1, opset=opset)
        for shape, opset in (((1, 3, 4, 5), 9), ((1, 3, 7), 14), ((2, 3), 15), ((1, 3, 4, 5), 7))
    ),
    case(
        "BatchNormalization", (1, 2, 3, 3), floats(2), floats(2), floats(2), floats(2) ** 2, epsilon=0.01, momentum=0.5
    ),
]

SHAPES = [
    case("Reshape", (1, 3, 4), ints(1, 12)),
    case("Reshape", (1, 3, 4), ints(0, -1)),
    case("Reshape", (1, 3, 4), ints(-1, 1, 0)),
    case("Reshape", (1, 3, 4), ints(4, 3), opset=14, allowzero=1),
    case("Reshape", (1,), ints()),
    *(case("Flatten", (2, 3, 4), axis=axis) for axis in (0, 1, 2, 3, -1)),
    case("Flatten", (2, 3, 4)),
    case("Transpose", (2, 3, 4)),
    case("Transpose", (2, 3, 4), perm=[1, 2, 0]),
    case("Transpose", (1, 3, 4), perm=[1, 0, 2]),
    case("Squeeze", (1, 3, 1, 4)),
    case("Squeeze", (1, 3, 1, 4), ints(-2)),
    case("Squeeze", (1, 3, 1, 4), opset=11, axes=[0, 2]),
    case("Unsqueeze", (3, 4), ints(0, -1)),
    case("Unsqueeze", (3, 4), opset=11, axes=[3, 0]),
    case("Unsqueeze", (), ints(0)),
    case("Concat", (1, 2, 3), (1, 4, 3), axis=1),
    case("Concat", (1, 2), (1, 2), axis=-1),
    case("Concat", (1, 2, 3), floats(1, 1, 3), axis=1),
    case("Concat", (1, 2, 3), axis=1),
    case("Split", (1, 6, 2), axis=1, outputs=3),
    case("Split", (1, 6, 2), ints(1, 5), axis=1, outputs=2),
    case("Split", (6, 2), opset=11, outputs=2, split=[4, 2]),
    case("Split", (7, 2), opset=18, outputs=3, num_outputs=3),
    case("Split", (4, 2), opset=11, outputs=2),
    case("Slice", (4, 5, 6), ints(1), ints(3)),
    case("Slice", (4, 5, 6), ints(-3, 1), ints(100, -1), ints(2, 0)),
    case("Slice", (4, 5, 6), ints(0), ints(6), ints(-1), ints(2)),
    case("Slice", (4, 5, 6), ints(-1), ints(-100), ints(1), ints(-2)),
    case("Slice", (4, 5, 6), opset=9, starts=[1, 0], ends=[3, -1]),
    case("Slice", (4, 5, 6), opset=9, starts=[1], ends=[1000], axes=[1]),
    case("Pad", (1, 2, 3), ints(0, 1, 2, 0, 0, 1)),
    case("Pad", (1, 2, 3), ints(0, 1, 2, 0, 0, 1), np.float32(1.5).reshape(())),
    case("Pad", (1, 2, 3), opset=7, pads=[0, 0, 1, 0, 0, 1], value=2.0),
    case("Pad", (1, 4, 5), ints(0, -1, 1, 0, 1, -2)),
    case("Pad", (1, 4, 5), ints(1, 2), None, ints(-1), opset=18),
    case("Gather", (2, 5, 3), ints(1, 2), axis=1),
    case("Gather", (2, 5, 3), np.asarray(-1), axis=1),
    case("Gather", (2, 5, 3), ints(0, 2, 4), axis=1),
]

CASES = [*CONVOLUTIONS, *LINEAR, *ELEMENTWISE, *POOLING, *MEANS_AND_NORMS, *SHAPES]


@pytest.mark.parametrize("one", CASES, ids=str)
def test_matches_onnx_runtime(one: Case, tmp_path) -> None:
    from onnx import helper

    count = max((*one.inputs, *one.constants)) + 1
    given = [f"in{i}" if i in one.inputs or i in one.constants else "" for i in range(count)]
    outputs = [f"out{i}" for i in range(one.outputs)]
    node = helper.make_node(one.op, given, outputs, **one.attributes)
    inputs = {f"in{i}": shape for i, shape in one.inputs.items()}
    constants = {f"in{i}": data for i, data in one.constants.items()}
    check(model([node], inputs, outputs, constants, opset=one.opset), tmp_path)
