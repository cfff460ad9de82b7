"""TFLite import against LiteRT, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import need_module, need_shared
from tests.unit.frontends.tflite_build import TfliteModel, small_cnn
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load
from tinydeploy.ir import Elem
from tinydeploy.ops.execute import run_float
from tinydeploy.validation.oracle import check_against

I32 = np.int32


def check(model: TfliteModel, tmp_path, inputs=(0,), outputs=None):
    """Load, compare with LiteRT, return the graph."""
    need_module("ai_edge_litert")
    path = model.save(tmp_path, inputs, outputs or [len(model.tensors) - 1])
    graph = load(path)
    text = check_against(path, graph)
    assert text is not None, graph.warnings
    assert text.startswith("litert")
    return graph


def refused(model: TfliteModel, tmp_path, error=UnsupportedError, outputs=None):
    path = model.save(tmp_path, [0], outputs or [len(model.tensors) - 1])
    with pytest.raises(error) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("quantised", [False, True])
def test_small_cnn_equals_litert(tmp_path, quantised) -> None:
    graph = check(small_cnn(quantised=quantised), tmp_path)
    assert [node.op.name for node in graph.nodes] == [
        "conv2d",
        "depthwise_conv2d",
        "average_pool2d",
        "reshape",
        "fully_connected",
        "softmax",
    ]


def test_scales_and_zero_points_are_kept_exactly(tmp_path) -> None:
    model = small_cnn(quantised=True)
    graph = load(model.save(tmp_path, [0], [len(model.tensors) - 1]))
    for tensor in model.tensors:
        if tensor["scale"] is None or tensor["name"] not in graph.values:
            continue
        quant = graph.type(tensor["name"]).quant
        assert quant is not None
        assert quant.scale == tuple(float(s) for s in np.atleast_1d(tensor["scale"]).astype("f4"))
        assert quant.zero_point == tuple(np.broadcast_to(tensor["zero"], len(quant.scale)))
        assert quant.axis == (tensor["axis"] if len(quant.scale) > 1 else None)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation"), [(7, 3, 2, 1), (8, 3, 2, 1), (9, 2, 3, 1), (9, 3, 1, 2)]
)
def test_padding(tmp_path, padding, size, kernel, stride, dilation) -> None:
    span = (kernel - 1) * dilation + 1
    out = -(-size // stride) if padding == "SAME" else (size - span) // stride + 1
    model = TfliteModel()
    x = model.tensor([1, size, size + 1, 2])
    out_w = -(-(size + 1) // stride) if padding == "SAME" else (size + 1 - span) // stride + 1
    kernel_values = np.random.default_rng(0).normal(size=(3, kernel, kernel, 2)).astype("f4")
    y = [x, model.constant(kernel_values), model.constant(np.zeros(3, "f4"))]
    model.op(
        "CONV_2D",
        y,
        [model.tensor([1, out, out_w, 3])],
        padding=padding,
        stride_h=stride,
        stride_w=stride,
        dilation_h=dilation,
        dilation_w=dilation,
    )
    check(model, tmp_path)


def test_grouped_convolution(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 5, 5, 4])
    weights = model.constant(np.random.default_rng(0).normal(size=(6, 3, 3, 2)).astype("f4"))
    out = model.tensor([1, 3, 3, 6])
    model.op("CONV_2D", [x, weights, model.constant(np.zeros(6, "f4"))], [out], padding="VALID", stride_h=1, stride_w=1)
    assert check(model, tmp_path, outputs=[out]).nodes[0].op.groups == 2


@pytest.mark.parametrize(("keep", "shape"), [(False, [6, 5]), (True, [2, 3, 5])])
def test_fully_connected_of_rank_3(tmp_path, keep, shape) -> None:
    model = TfliteModel()
    x = model.tensor([2, 3, 4])
    weights = model.constant(np.random.default_rng(0).normal(size=(5, 4)).astype("f4"))
    model.op("FULLY_CONNECTED", [x, weights, -1], [model.tensor(shape)], keep_num_dims=keep, activation="RELU")
    check(model, tmp_path)


def _float(model, *shape):
    return model.tensor(list(shape))


MOVES = {
    "PAD": lambda m, x: m.op("PAD", [x, m.constant(I32([[0, 0], [1, 2], [0, 0], [3, 0]]))], [_float(m, 1, 7, 3, 5)]),
    "PADV2": lambda m, x: m.op(
        "PADV2",
        [x, m.constant(I32([[0, 0], [1, 0], [0, 1], [0, 0]])), m.constant(np.array([1.5], "f4"))],
        [_float(m, 1, 5, 4, 2)],
    ),
    "TRANSPOSE": lambda m, x: m.op("TRANSPOSE", [x, m.constant(I32([0, 3, 1, 2]))], [_float(m, 1, 2, 4, 3)]),
    "MEAN": lambda m, x: m.op("MEAN", [x, m.constant(I32([1, -2]))], [_float(m, 1, 2)], keep_dims=False),
    "SQUEEZE": lambda m, x: m.op("SQUEEZE", [x], [_float(m, 4, 3, 2)], squeeze_dims=[0]),
    "EXPAND_DIMS": lambda m, x: m.op("EXPAND_DIMS", [x, m.constant(I32([-1]))], [_float(m, 1, 4, 3, 2, 1)]),
    "CONCATENATION": lambda m, x: m.op("CONCATENATION", [x, x], [_float(m, 1, 4, 3, 4)], axis=-1),
    "PACK": lambda m, x: m.op("PACK", [x, x], [_float(m, 1, 2, 4, 3, 2)], values_count=2, axis=1),
    "SLICE": lambda m, x: m.op(
        "SLICE", [x, m.constant(I32([0, 1, 0, 0])), m.constant(I32([1, 2, -1, 1]))], [_float(m, 1, 2, 3, 1)]
    ),
    "STRIDED_SLICE": lambda m, x: m.op(
        "STRIDED_SLICE",
        [x, m.constant(I32([0, 3, 0, 0])), m.constant(I32([1, 0, -1, 0])), m.constant(I32([1, -1, 1, 1]))],
        [_float(m, 1, 3, 2)],
        begin_mask=1,
        end_mask=0,
        shrink_axis_mask=8,
    ),
    "RELU_N1_TO_1": lambda m, x: m.op("RELU_N1_TO_1", [x], [_float(m, 1, 4, 3, 2)]),
    "RELU6": lambda m, x: m.op("RELU6", [x], [_float(m, 1, 4, 3, 2)]),
    "LOGISTIC": lambda m, x: m.op("LOGISTIC", [x], [_float(m, 1, 4, 3, 2)]),
    "TANH": lambda m, x: m.op("TANH", [x], [_float(m, 1, 4, 3, 2)]),
    "SUB": lambda m, x: m.op(
        "SUB", [x, m.constant(np.array([1.0, 2.0], "f4"))], [_float(m, 1, 4, 3, 2)], activation="RELU"
    ),
    "MUL": lambda m, x: m.op("MUL", [x, x], [_float(m, 1, 4, 3, 2)], activation="RELU_N1_TO_1"),
    "MAX_POOL_2D": lambda m, x: m.op(
        "MAX_POOL_2D",
        [x],
        [_float(m, 1, 2, 2, 2)],
        padding="SAME",
        stride_h=2,
        stride_w=2,
        filter_height=3,
        filter_width=2,
    ),
}


@pytest.mark.parametrize("kind", MOVES)
def test_operator_equals_litert(tmp_path, kind) -> None:
    model = TfliteModel()
    MOVES[kind](model, model.tensor([1, 4, 3, 2]))
    graph = check(model, tmp_path)
    assert graph.nodes


@pytest.mark.parametrize(("kind", "sizes"), [("SPLIT", [2, 2]), ("SPLIT_V", [1, 3])])
def test_split(tmp_path, kind, sizes) -> None:
    model = TfliteModel()
    x, axis = model.tensor([1, 4, 3]), model.constant(I32([1]))
    inputs = [axis, x] if kind == "SPLIT" else [x, model.constant(I32([sizes[0], -1])), axis]
    outputs = [model.tensor([1, size, 3]) for size in sizes]
    model.op(kind, inputs, outputs, num_splits=2)
    check(model, tmp_path, outputs=outputs)


def test_shape_arithmetic_of_a_dynamic_batch_is_folded(tmp_path) -> None:
    """What the converter writes for Flatten when the batch is open."""
    model = TfliteModel()
    x = model.tensor([1, 2, 3], signature=[-1, 2, 3])
    shape = model.tensor([3], "int32")
    model.op("SHAPE", [x], [shape], out_type=2)
    batch = model.tensor([], "int32")
    ends = [model.constant(I32([v])) for v in (0, 1, 1)]
    model.op("STRIDED_SLICE", [shape, *ends], [batch], shrink_axis_mask=1)
    target = model.tensor([2], "int32")
    model.op("PACK", [batch, model.constant(np.array(6, "i4"))], [target], values_count=2, axis=0)
    out = model.tensor([1, 6], signature=[-1, 6])
    model.op("RESHAPE", [x, target], [out])
    graph = check(model, tmp_path, outputs=[out])
    assert [node.op.name for node in graph.nodes] == ["reshape"]


def test_float16_weights_become_float32(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 4])
    half = model.constant(np.random.default_rng(0).normal(size=(3, 4)).astype("f2"))
    full = model.tensor([3, 4])
    model.op("DEQUANTIZE", [half], [full])
    model.op("FULLY_CONNECTED", [x, full, -1], [model.tensor([1, 3])], activation="NONE")
    graph = check(model, tmp_path)
    assert graph.type("t2").elem is Elem.F32
    assert len(graph.nodes) == 1


def test_quantize_and_dequantize(tmp_path) -> None:
    model = TfliteModel()
    q, out = (model.tensor([1, 4]), model.tensor([1, 4], "int8", scale=0.1, zero=-3)), None
    model.op("QUANTIZE", [q[0]], [q[1]])
    out = model.tensor([1, 4])
    model.op("DEQUANTIZE", [q[1]], [out])
    check(model, tmp_path)


def test_open_dimension_needs_a_shape_and_takes_it(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 1, 4], signature=[-1, -1, 4], name="audio")
    model.op("TANH", [x], [model.tensor([1, 1, 4], signature=[-1, -1, 4])])
    path = model.save(tmp_path, [0], [1])
    with pytest.raises(InputError, match="--input-shape"):
        load(path)
    graph = load(path, input_shapes={"audio": (1, 7, 4)})
    assert graph.type("t1").shape == (1, 7, 4)
    assert check_against(path, graph)
    with pytest.raises(InputError, match="no such input"):
        load(path, input_shapes={"audio": (1, 7, 4), "video": (1,)})


def test_ends_are_named_by_the_signature(tmp_path) -> None:
    model = TfliteModel()
    x, y = model.tensor([1, 4], name="serving_default_x:0"), model.tensor([1, 4], name="PartitionedCall:0")
    model.op("TANH", [x], [y])
    model.signature = ({"audio": x}, {"scores": y})
    graph = check(model, tmp_path)
    assert (graph.inputs, graph.outputs) == (["audio"], ["scores"])
    model.signature = ({"audio": y}, {"scores": y})
    assert load(model.save(tmp_path, [x], [y])).inputs == ["serving_default_x:0"]


def test_names_may_repeat_or_be_missing(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 4], name="same")
    y = model.tensor([1, 4], name="same")
    model.op("TANH", [x], [y])
    graph = load(model.save(tmp_path, [0], [1]))
    assert graph.inputs == ["same"]
    assert graph.outputs == ["same_1"]


def test_all_problems_are_listed_at_once(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 4])
    a, b, c, d = (model.tensor([1, 4]) for _ in range(4))
    model.op("CUSTOM", [x], [a], custom="MyOp")
    model.op("RFFT2D", [a], [b], version=3)
    model.op("TANH", [b], [c])
    model.op("CUSTOM", [c], [d], custom="FlexRelu")
    text = refused(model, tmp_path)
    assert "operator 0 (CUSTOM) 't1': is the custom operator 'MyOp'" in text
    assert "operator 1 (RFFT2D) 't2': is not supported (version 3)" in text
    assert "operator 3 (CUSTOM) 't4': is the custom operator 'FlexRelu'" in text
    assert "TANH" not in text


def test_hybrid_model_keeps_small_weights_and_says_so(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 4])
    w = model.constant(np.arange(8, dtype="i1").reshape(2, 4), scale=[0.1, 0.3])
    model.op("FULLY_CONNECTED", [x, w, -1], [model.tensor([1, 2])], activation="NONE")
    graph = check(model, tmp_path)
    assert graph.type("t1").elem is Elem.S8
    assert not graph.is_quantised()
    assert "--calibration" in graph.warnings[0]
    y = run_float(graph, {"t0": np.ones((1, 1, 4), "f4")})["t2"]
    np.testing.assert_allclose(y, [[[0.6, 6.6]]], rtol=1e-6)


@pytest.mark.parametrize(
    ("more", "words"),
    [({"elem": "STRING"}, "STRING"), ({"elem": "RESOURCE"}, "handle"), ({"sparse": True, "raw": b"1"}, "sparse")],
)
def test_unsupported_tensors(tmp_path, more, words) -> None:
    model = TfliteModel()
    model.tensor([1, 4])
    y = model.tensor([1, 4], **more)
    z = model.tensor([1, 4])
    model.op("ADD", [0, y], [z], activation="NONE")
    path = model.save(tmp_path, [0], [2])
    with pytest.raises((InputError, UnsupportedError), match=words):
        load(path)


def test_fused_tanh_is_refused(tmp_path) -> None:
    model = TfliteModel()
    model.op("ADD", [model.tensor([1, 4]), 0], [model.tensor([1, 4])], activation="TANH")
    assert "fused activation TANH" in refused(model, tmp_path)


def test_stated_shape_has_to_be_right(tmp_path) -> None:
    model = TfliteModel()
    model.op("TANH", [model.tensor([1, 4])], [model.tensor([1, 5])])
    assert "the file says float32[1x5]" in refused(model, tmp_path, InputError)


def test_reading_before_writing_and_writing_twice(tmp_path) -> None:
    model = TfliteModel()
    a, b = model.tensor([1, 4]), model.tensor([1, 4])
    model.op("TANH", [b], [model.tensor([1, 4])])
    model.op("TANH", [a], [b])
    assert "before it is written" in refused(model, tmp_path, InputError)
    model = TfliteModel()
    a, b = model.tensor([1, 4]), model.tensor([1, 4])
    model.op("TANH", [a], [b])
    model.op("TANH", [a], [b])
    assert "written twice" in refused(model, tmp_path, InputError)


def test_constant_of_the_wrong_size(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 4])
    y = model.tensor([1, 4], raw=b"\0" * 12)
    model.op("ADD", [x, y], [model.tensor([1, 4])], activation="NONE")
    assert "has 12 bytes" in refused(model, tmp_path, InputError)


def test_old_toco_bias_axis_is_tolerated() -> None:
    """TOCO wrote the weights' axis into the bias; LiteRT refuses such files, TFLM runs them."""
    graph = load(need_shared("models", "tflm", "person_detect.tflite"))
    assert len(graph.nodes) == 31


@pytest.mark.parametrize("name", ["ad", "ic_resnet8", "kws", "sww", "vww"])
@pytest.mark.parametrize("kind", ["int8", "float"])
def test_mlperf_tiny_equals_litert(name, kind) -> None:
    need_module("ai_edge_litert")
    path = need_shared("models", "mlperf_tiny", f"{name}_{kind}.tflite")
    graph = load(path)
    assert check_against(path, graph, seed=3)


def test_quantised_graph_runs_in_float_near_the_float_model() -> None:
    graph = load(need_shared("models", "mlperf_tiny", "ic_resnet8_int8.tflite"))
    real = load(need_shared("models", "mlperf_tiny", "ic_resnet8_float.tflite"))
    x = np.random.default_rng(0).uniform(0, 255, (4, 1, 32, 32, 3)).astype("f4")
    a = run_float(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    b = run_float(real, {real.inputs[0]: x})[real.outputs[0]]
    assert np.abs(a - b).max() < 0.3
