"""Convolutions, products and pooling that ONNX has in many forms, against ONNX Runtime; plain and optimised."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import check, model
from tests.unit.frontends.test_onnx_ops import Case, case, floats

need_module("onnx", "onnxruntime")

CONVOLUTIONS = [
    case("Conv", (1, 3, 5, 6, 7), floats(4, 3, 3, 2, 3), floats(4), pads=[1, 0, 1, 1, 1, 0], strides=[2, 1, 2]),
    case("Conv", (2, 4, 5, 6, 7), floats(6, 2, 3, 2, 3), None, group=2, dilations=[2, 1, 2]),
    case("Conv", (1, 3, 5, 6, 7), floats(3, 1, 2, 2, 2), None, group=3, auto_pad="SAME_UPPER"),
    case("Conv", (2, 3, 6, 6), (4, 3, 3, 3), (4,), strides=[2, 1]),
    case("Conv", (1, 4, 6, 6), (8, 1, 3, 3), floats(8), group=4),
    case("Conv", (1, 4, 9), (6, 2, 3), group=2, pads=[1, 1]),
    case("Conv", (1, 2, 4, 5, 4), (3, 2, 2, 2, 2)),
]

TRANSPOSED = [
    case("ConvTranspose", (1, 3, 5, 4), floats(3, 4, 3, 3), floats(4)),
    case("ConvTranspose", (2, 3, 5, 4), floats(3, 4, 3, 2), None, strides=[2, 3], pads=[1, 0, 2, 1]),
    case("ConvTranspose", (1, 3, 5, 4), floats(3, 4, 3, 3), None, strides=[3, 2], output_padding=[2, 1]),
    case("ConvTranspose", (1, 3, 3, 3), floats(3, 2, 3, 3), floats(2), strides=[3, 2], output_shape=[10, 8]),
    case("ConvTranspose", (1, 3, 3, 3), floats(3, 2, 3, 3), None, strides=[3, 2], output_shape=[8, 6]),
    case("ConvTranspose", (1, 4, 5, 4), floats(4, 3, 3, 3), floats(6), group=2, dilations=[2, 1]),
    case("ConvTranspose", (1, 4, 5, 4), floats(4, 1, 2, 2), None, group=4, strides=[2, 2]),
    case("ConvTranspose", (1, 3, 5), floats(3, 4, 3), floats(4), strides=[2], pads=[1, 1]),
    case("ConvTranspose", (1, 2, 3, 4, 3), floats(2, 3, 2, 3, 2), floats(3), strides=[2, 1, 2]),
    case("ConvTranspose", (1, 3, 4, 4), floats(3, 2, 3, 3), None, auto_pad="SAME_UPPER", strides=[2, 2], opset=11),
    case("ConvTranspose", (1, 3, 4, 4), floats(3, 2, 4, 3), None, auto_pad="SAME_LOWER", strides=[2, 2], opset=11),
    case("ConvTranspose", (1, 3, 4, 4), floats(3, 2, 3, 3), None, auto_pad="VALID", strides=[2, 2]),
    case("ConvTranspose", (1, 3, 4, 4), (3, 2, 3, 3), (2,), strides=[2, 2]),
    case("ConvTranspose", (1, 4, 4, 4), (4, 2, 3, 3), None, group=2),
]

PRODUCTS = [
    case("MatMul", (3, 5), (5, 4)),
    case("MatMul", (2, 3, 5), (5, 4)),
    case("MatMul", (2, 1, 3, 5), (4, 5, 2)),
    case("MatMul", (5,), (2, 5, 4)),
    case("MatMul", (2, 3, 5), (5,)),
    case("MatMul", (5,), (5,)),
    case("MatMul", (2, 3, 5), floats(2, 5, 4)),
    case("MatMul", floats(2, 3, 5), (2, 5, 4)),
    case("MatMul", (5,), floats(2, 5, 4)),
    case("Gemm", (4, 5), (5, 3), (3,), alpha=0.5, beta=-2.0),
    case("Gemm", (4, 5), (3, 5), floats(4, 1), transB=1),
    case("Gemm", (5, 4), (5, 3), floats(3), transA=1, beta=0.5),
    case("Gemm", floats(4, 5), (5, 3), (4, 3)),
    case("Gemm", (4, 5), (5, 3)),
]

EINSUMS = [
    case("Einsum", (3, 4), equation="ij->ji"),
    case("Einsum", (3, 4), equation="ij"),
    case("Einsum", (3, 4), equation="ba"),
    case("Einsum", (3, 4, 2), equation="ijk->ik"),
    case("Einsum", (3, 3, 2), equation="iij->ji"),
    case("Einsum", (3, 3), equation="ii"),
    case("Einsum", (2, 3, 3), equation="...ii->...i"),
    case("Einsum", (3, 4), (4, 5), equation="ij,jk->ik"),
    case("Einsum", (3, 4), (4, 5), equation="ij, jk"),
    case("Einsum", (2, 3, 4), (2, 4, 5), equation="bij,bjk->bik"),
    case("Einsum", (2, 3, 4, 5), (2, 6, 4, 5), equation="bqhd,bkhd->bhqk"),
    case("Einsum", (2, 4, 3, 6), (2, 6, 4, 5), equation="bhqk,bkhd->bqhd"),
    case("Einsum", (2, 3, 4), (4, 5), equation="...j,jk->...k"),
    case("Einsum", (2, 1, 3, 4), (1, 5, 4, 6), equation="...ij,...jk->...ik"),
    case("Einsum", (3,), (4,), equation="i,j->ij"),
    case("Einsum", (3,), (3,), equation="i,i->"),
    case("Einsum", (3, 4), (3, 4), equation="ij,ij->ij"),
    case("Einsum", (3, 4), (4, 5), (5, 2), equation="ij,jk,kl->il"),
    case("Einsum", (3, 4), (4, 3), (3, 4), equation="ij,ji,ij->j"),
    case("Einsum", (2, 3), floats(3, 4), equation="ab,bc->ca"),
]

POOLING = [
    case("MaxPool", (1, 3, 5, 6, 7), kernel_shape=[2, 3, 2], strides=[2, 1, 2], pads=[1, 0, 1, 0, 1, 0]),
    case("MaxPool", (1, 2, 7, 7, 7), kernel_shape=[3, 3, 3], strides=[2, 2, 2], ceil_mode=1),
    case("MaxPool", (2, 3, 6, 7), kernel_shape=[2, 2], strides=[2, 2]),
    case("AveragePool", (1, 3, 5, 6, 7), kernel_shape=[2, 3, 2], pads=[1, 0, 1, 0, 1, 0], count_include_pad=1),
    case("AveragePool", (1, 2, 9, 9), kernel_shape=[3, 3], dilations=[2, 2], pads=[1, 1, 1, 1], opset=19),
    case("AveragePool", (1, 2, 7), kernel_shape=[3], strides=[2], pads=[1, 1], auto_pad="NOTSET"),
    case("LpPool", (1, 3, 8, 9), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    case("LpPool", (1, 3, 8), kernel_shape=[3], p=1),
    case("LpPool", (1, 3, 8, 8), kernel_shape=[2, 2], p=3, opset=18),
    case("GlobalLpPool", (2, 3, 4, 5)),
    case("GlobalMaxPool", (1, 3, 4, 5, 2)),
    case("GlobalAveragePool", (1, 3, 4, 5, 2)),
]

CASES = [*CONVOLUTIONS, *TRANSPOSED, *PRODUCTS, *EINSUMS, *POOLING]


@pytest.mark.parametrize("one", CASES, ids=str)
def test_matches_onnx_runtime(one: Case, tmp_path) -> None:
    from onnx import helper

    count = max((*one.inputs, *one.constants)) + 1
    given = [f"in{i}" if i in one.inputs or i in one.constants else "" for i in range(count)]
    node = helper.make_node(one.op, given, ["out"], **one.attributes)
    inputs = {f"in{i}": shape for i, shape in one.inputs.items()}
    constants = {f"in{i}": data for i, data in one.constants.items()}
    check(model([node], inputs, ["out"], constants, opset=one.opset), tmp_path)


def test_same_padding_of_a_dilated_kernel(tmp_path) -> None:
    """ONNX Runtime refuses it; the specification takes the kernel with its gaps."""
    from onnx import helper

    from tests.unit.frontends.onnx_build import random_feeds, save
    from tinydeploy.frontends.onnx import load
    from tinydeploy.ops.execute import run_float

    made = []
    for given in ({"auto_pad": "SAME_UPPER"}, {"pads": [2, 3, 2, 3]}):
        node = helper.make_node("Conv", ["x", "w"], ["y"], dilations=[2, 3], **given)
        weights = np.random.default_rng(2).normal(size=(3, 2, 3, 3)).astype(np.float32)
        graph = load(save(model([node], {"x": (1, 2, 9, 9)}, ["y"], {"w": weights}), tmp_path))
        made.append(run_float(graph, random_feeds(graph))["y"])
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("size", [7, 8, 9])
def test_means_with_padding_that_counts_and_ceil(size, ceil_mode, tmp_path) -> None:
    """What ceil_mode adds counts for nothing, padding does. By a formula: runtimes and versions of ONNX differ."""
    from onnx import helper

    from tests.unit.frontends.onnx_build import save
    from tinydeploy.frontends.onnx import load
    from tinydeploy.ops.execute import run_float

    attributes = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "count_include_pad": 1, "ceil_mode": ceil_mode}
    node = helper.make_node("AveragePool", ["x"], ["y"], **attributes)
    graph = load(save(model([node], {"x": (1, 1, size)}, ["y"], opset=19), tmp_path))
    x = np.random.default_rng(0).normal(size=size).astype(np.float32)
    padded = np.concatenate([[0], x, [0]])
    starts = [s for s in range(0, size + 1, 2) if s + 3 <= len(padded) or (ceil_mode and s < size + 1)]
    want = [padded[s : s + 3].mean() for s in starts]
    np.testing.assert_allclose(run_float(graph, {"x": x.reshape(1, 1, 1, size)})["y"].ravel(), want, rtol=1e-5)


def test_an_integer_convolution_with_zero_points(tmp_path) -> None:
    from onnx import TensorProto, helper, numpy_helper

    from tinydeploy.frontends.onnx import load
    from tinydeploy.ops.execute import run_integer

    rng = np.random.default_rng(1)
    weights = rng.integers(0, 255, (4, 2, 3, 3)).astype(np.uint8)
    zeros = np.array([0, 3, 200, 255], np.uint8)
    constants = {"w": weights, "zx": np.array(7, np.uint8), "zw": zeros}
    node = helper.make_node("ConvInteger", ["x", "w", "zx", "zw"], ["y"], pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, (1, 2, 5, 5))],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    x = rng.integers(0, 255, (1, 1, 2, 5, 5)).astype(np.uint8)
    padded = np.pad(x[0, 0].astype(np.int64) - 7, ((0, 0), (1, 1), (1, 1)))
    centred = weights.astype(np.int64) - zeros[:, None, None, None]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    want = np.einsum("cijuv,ocuv->oij", windows, centred)
    np.testing.assert_array_equal(run_integer(load(path), {"x": x})["y"][0, 0], want)


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        ("ij,jk->il", "labels of operands"),
        ("ij->ii", "once"),
        ("ijk->i", "letter a dimension"),
        ("i1->i", "term of letters"),
        ("ij,jk,kl->il", "an operand"),
    ],
)
def test_an_equation_that_is_none(equation, words, tmp_path) -> None:
    from onnx import helper

    from tests.unit.frontends.onnx_build import save
    from tinydeploy.errors import TinydeployError
    from tinydeploy.frontends.onnx import load

    names = ["a", "b"][: max(1, min(2, equation.count(",") + 1))]
    node = helper.make_node("Einsum", names, ["y"], equation=equation)
    path = save(model([node], dict.fromkeys(names, (3, 3)), ["y"]), tmp_path)
    with pytest.raises(TinydeployError, match=words):
        load(path)


@pytest.mark.parametrize(
    ("kind", "x", "weights", "ours"),
    [
        ("ConvTranspose", (1, 3, 5, 4), (3, 4, 3, 3), "transpose_conv2d"),
        ("ConvTranspose", (1, 3, 3, 4, 3), (3, 4, 2, 2, 2), "transpose_conv3d"),
        ("Conv", (1, 3, 4, 5, 4), (4, 3, 2, 2, 2), "conv3d"),
    ],
)
def test_what_follows_goes_into_the_weights(kind, x, weights, ours, tmp_path) -> None:
    from onnx import helper

    from tests.unit.frontends.onnx_build import operators

    nodes = [
        helper.make_node(kind, ["x", "w", "b"], ["y"]),
        helper.make_node("BatchNormalization", ["y", "gamma", "beta", "mean", "variance"], ["z"]),
        helper.make_node("Relu", ["z"], ["out"]),
    ]
    names = ("b", "gamma", "beta", "mean", "variance")
    constants = {"w": floats(*weights), **{name: np.abs(floats(4)) + 0.1 for name in names}}
    _, optimised = check(model(nodes, {"x": x}, ["out"], constants), tmp_path)
    assert operators(optimised) == ["transpose", ours, "transpose"]
    assert optimised.nodes[1].op.clamp == (0.0, float("inf"))
