"""ONNX operators that move, pick, reduce and resize, over versions and attributes, against ONNX Runtime."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import check, model
from tests.unit.frontends.test_onnx_ops import Case, case, floats, ints

need_module("onnx", "onnxruntime")
X = (2, 3, 4, 5)
NONE = np.zeros(0, np.float32)


def reals(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


REDUCTIONS = [
    case(op, X, opset=opset, keepdims=keep, **({} if axes is None else {"axes": axes}))
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2")
    for opset, keep, axes in ((11, 1, [1, -1]), (11, 0, [2]), (11, 0, None))
]
REDUCTIONS += [
    case(op, X, ints(1, -1), opset=18, keepdims=keep)
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceSumSquare", "ReduceLogSumExp", "ReduceL2")
    for keep in (0, 1)
]
REDUCTIONS += [
    case("ReduceSum", X, opset=13, noop_with_empty_axes=1),
    case("ReduceSum", X, None, opset=13, keepdims=0),
    case("CumSum", X, np.asarray(-2), exclusive=1, reverse=1),
]
MOVES = [
    case("Pad", X, ints(0, 0, 1, 2, 0, 1, 3, 4), mode="reflect"),
    case("Pad", X, ints(0, 0, 1, 2, 0, 1, 3, 4), mode="edge"),
    case("Pad", X, ints(0, 0, -1, 2, 0, 1, 3, -2), mode="edge"),
    case("Pad", X, ints(0, 0, 1, 2, 0, 1, 3, 4), mode="wrap", opset=19),
    case("Pad", X, opset=9, pads=[0, 0, 1, 2, 0, 1, 3, 4], mode="reflect"),
    case("Gather", X, np.asarray([[2, 0], [1, -1]]), axis=1),
    case("Gather", X, np.asarray([2, 0, 1]), axis=-2),
    case("GatherElements", (3, 4), np.asarray([[1, 2, -1, 0]]), axis=0),
    case("GatherND", X, np.asarray([[0, 1], [1, 2]])),
    case("GatherND", X, np.asarray([[[0], [1]], [[2], [0]]]), batch_dims=1),
    case("ScatterElements", (3, 4), np.asarray([[1, 0, 2, 0]]), (1, 4), axis=0, opset=18),
    case("ScatterElements", (3, 4), np.asarray([[1, 0, 2, 0], [1, 0, 2, 1]]), (2, 4), reduction="add", opset=18),
    case("ScatterND", (4, 3), np.asarray([[1], [1], [3]]), (3, 3), reduction="max", opset=18),
    case("Scatter", (3, 4), np.asarray([[1, 0, 2, 0]]), (1, 4), axis=0, opset=10),
    case("Tile", (2, 3, 2), ints(2, 3, 2)),
    case("Tile", (2, 3, 2, 2), ints(2, 3, 2, 1)),
    case("Expand", (3, 1), ints(2, 1, 4)),
    case("Expand", (1, 3, 1), ints(3, 4)),
    case("DepthToSpace", (1, 8, 2, 3), blocksize=2),
    case("DepthToSpace", (1, 8, 2, 3), blocksize=2, mode="CRD"),
    case("SpaceToDepth", (1, 2, 4, 6), blocksize=2),
    case("ReverseSequence", (4, 3, 2), ints(2, 4, 1), time_axis=0, batch_axis=1),
    case("ReverseSequence", (3, 4, 2), ints(2, 4, 1), time_axis=1, batch_axis=0),
    case("Compress", X, np.asarray([True, False, True]), axis=1),
    case("Compress", (2, 3), np.asarray([False, True, True, False, False, True])),
    case("Trilu", (3, 4), upper=0),
    case("Trilu", (2, 4, 3), np.asarray(-1)),
    case("CenterCropPad", X, ints(6, 3), axes=[1, 3], opset=18),
    case("Col2Im", (2, 12, 12), ints(4, 5), ints(2, 2), opset=18),
    case("Col2Im", (1, 12, 9), ints(5, 6), ints(2, 3), opset=18, strides=[2, 2], pads=[1, 0, 0, 1]),
    case("Col2Im", (1, 8, 12), ints(5, 6), ints(2, 2), opset=18, dilations=[2, 2]),
    case("Split", (2, 7), opset=18, outputs=3, axis=1, num_outputs=3),
]
TRANSFORMS = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
RESIZES = [
    case("Resize", (1, 2, 4, 5), None, reals(1, 1, 1.5, 2), mode=mode, coordinate_transformation_mode=transform)
    for mode, transform in itertools.product(("nearest", "linear", "cubic"), TRANSFORMS)
]
RESIZES += [
    case("Resize", (1, 2, 6, 8), None, reals(1, 1, 0.5, 0.6), mode=mode, coordinate_transformation_mode=transform)
    for mode, transform in itertools.product(("nearest", "linear", "cubic"), TRANSFORMS)
    if transform != "align_corners"  # ONNX Runtime divides by the rounded size, ONNX's own cases by 4.8
]
RESIZES += [
    case("Resize", (1, 2, 4, 5), None, None, ints(1, 2, 7, 3), mode="nearest", nearest_mode=mode)
    for mode in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
]
RESIZES += [
    case("Resize", (1, 2, 4, 5), None, None, ints(1, 2, 7, 3), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1),
    case("Resize", (1, 2, 8, 8), None, None, ints(1, 2, 3, 5), mode="linear", antialias=1, opset=18),
    case("Resize", (1, 2, 8, 8), None, None, ints(3, 5), mode="linear", axes=[2, 3], opset=18),
    case("Resize", (1, 2, 8, 6), None, None, ints(4, 4), axes=[2, 3], opset=18, keep_aspect_ratio_policy="not_larger"),
    case("Resize", (1, 2, 4, 5), reals(1, 1, 2, 1.2), opset=10, mode="linear"),
    case("Resize", (1, 2, 4, 5), reals(1, 1, 2, 2), opset=10, mode="nearest"),
    case("Resize", (1, 2, 4, 5), NONE, reals(1, 1, 2, 2), opset=11, mode="nearest"),
    case("Upsample", (1, 2, 4, 5), reals(1, 1, 2, 3), opset=9, mode="nearest"),
    case("Upsample", (1, 2, 4, 5), reals(1, 1, 2, 2), opset=9, mode="linear"),
    case("Upsample", (1, 2, 4, 5), opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]),
    case("Resize", (3, 8), None, reals(1, 1.7), mode="linear"),
    case("Resize", (1, 2, 3, 4, 5), None, reals(1, 1, 2, 2, 1.5), mode="linear"),
]


@pytest.mark.parametrize("one", [*REDUCTIONS, *MOVES, *RESIZES], ids=str)
def test_matches_onnx_runtime(one: Case, tmp_path) -> None:
    from onnx import helper

    count = max((*one.inputs, *one.constants)) + 1
    given = [f"in{i}" if i in one.inputs or i in one.constants else "" for i in range(count)]
    outputs = [f"out{i}" for i in range(one.outputs)]
    node = helper.make_node(one.op, given, outputs, **one.attributes)
    inputs = {f"in{i}": shape for i, shape in one.inputs.items()}
    constants = {f"in{i}": data for i, data in one.constants.items()}
    check(model([node], inputs, outputs, constants, opset=one.opset), tmp_path)


def test_a_chain_of_shape_arithmetic_is_a_constant(tmp_path) -> None:
    """What exporters write for x.view(x.size(0), -1): Shape, Gather, Unsqueeze, Concat, Reshape."""
    from onnx import helper

    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Slice", ["s", "one", "end"], ["rest"]),
        helper.make_node("ReduceProd", ["rest"], ["product"], keepdims=1),
        helper.make_node("Concat", ["n1", "product"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    constants = {"zero": np.asarray(0), "axes": ints(0), "one": ints(1), "end": ints(9)}
    graph, _ = check(model(nodes, {"x": X}, ["y"], constants), tmp_path)
    assert [node.op.name for node in graph.nodes] == ["reshape"]
    assert graph.type("y").shape == (2, 60)


@pytest.mark.parametrize("shape", [(4, 3), (1, 4, 3)])
def test_scatter_into_a_constant(shape: tuple[int, ...], tmp_path) -> None:
    from onnx import helper

    node = helper.make_node("ScatterND", ["data", "places", "x"], ["y"])
    constants = {"data": floats(4, 3), "places": np.asarray([[0], [1], [2], [3]]).reshape(*shape[:-1], 1)}
    check(model([node], {"x": shape}, ["y"], constants), tmp_path)
