"""Lines of "TFLite import and TFLM operators" in ../shared/PITFALLS.md; the right values are LiteRT's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conformance import tf_models
from tests.conftest import need_module, need_shared
from tests.pitfalls.whole import agreed, in_c, normal
from tests.unit.frontends.tflite_build import TfliteModel
from tinydeploy import pipeline
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.ops.execute import run_integer

need_module("flatbuffers", "ai_edge_litert")
RNG = np.random.default_rng(5)


def s8(*shape: int) -> np.ndarray:
    return RNG.integers(-127, 128, shape, np.int8)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(content)
    return path


def test_tflm_2602_fully_connected_with_a_scale_a_channel(tmp_path) -> None:
    model = TfliteModel()
    x = model.tensor([1, 6], "int8", scale=0.05, zero=3)
    w = model.constant(s8(4, 6), scale=[0.01, 0.002, 0.03, 0.0004])
    bias = model.constant(
        RNG.integers(-500, 500, 4).astype(np.int32), scale=[0.05 * s for s in (0.01, 0.002, 0.03, 4e-4)]
    )
    y = model.tensor([1, 4], "int8", scale=0.04, zero=-5)
    model.op("FULLY_CONNECTED", [x, w, bias], [y])
    in_c(agreed(model.save(tmp_path, [x], [y])), tmp_path)


@pytest.mark.parametrize("kind", ["FULLY_CONNECTED", "CONV_2D"])
def test_tflm_757_hybrid_models_run_with_weights_in_int8(tmp_path, kind) -> None:
    model = TfliteModel()
    if kind == "CONV_2D":
        x, y = model.tensor([1, 6, 6, 3]), model.tensor([1, 4, 4, 8])
        w = model.constant(s8(8, 3, 3, 3), scale=list(np.linspace(0.001, 0.02, 8)), axis=0)
        options: dict[str, Any] = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "activation": "RELU"}
    else:
        x, y = model.tensor([1, 30]), model.tensor([1, 8])
        w, options = model.constant(s8(8, 30), scale=0.01), {"activation": "RELU"}
    bias = model.constant(normal(8))
    model.op(kind, [x, w, bias], [y], **options)
    path = model.save(tmp_path, [x], [y])
    graph = agreed(path)
    assert any("calibration" in line for line in graph.warnings), "the way to integers is said"
    manifest = in_c(graph, tmp_path, "float32")
    assert manifest["weights_bytes"] < 3 * model.tensors[w]["data"].size, "weights stay bytes in flash"
    shape = graph.type(graph.inputs[0]).shape
    in_c(graph, tmp_path / "int8", "int8", {graph.inputs[0]: normal(30, *shape)})


@pytest.mark.parametrize("bias", ["int64", "int32"])
def test_tflm_344_int16x8_is_not_hybrid(tmp_path, bias) -> None:
    """LiteRT 2.3 computes nonsense with an int32 bias; there the right value is the formula's."""
    model = TfliteModel()
    x = model.tensor([1, 6], "int16", scale=0.001)
    w = model.constant(s8(4, 6), scale=0.01)
    b = model.constant(RNG.integers(-50000, 50000, 4).astype(bias), scale=1e-5)
    y = model.tensor([1, 4], "int16", scale=0.004)
    model.op("FULLY_CONNECTED", [x, w, b], [y], version=4, quantized_bias_type={"int64": 4, "int32": 2}[bias])
    path = model.save(tmp_path, [x], [y])
    graph = agreed(path) if bias == "int64" else pipeline.optimise(pipeline.load(path))
    assert graph.is_quantised()
    data = RNG.integers(-32768, 32767, (9, 1, 6)).astype(np.int16)
    sums = data.astype(np.int64) @ model.tensors[w]["data"].T.astype(np.int64) + model.tensors[b]["data"]
    result = run_integer(graph, {graph.inputs[0]: data})[graph.outputs[0]]
    assert np.abs(result - np.clip(sums / 400, -32768, 32767)).max() <= 0.51
    in_c(graph, tmp_path, "int16x8")


def test_tf_36058_int16_concatenation_of_different_scales(tmp_path) -> None:
    """LiteRT joins the integers as they are, which is wrong; the right result is each input rescaled."""
    model = TfliteModel()
    a = model.tensor([1, 4], "int16", scale=0.001)
    b = model.tensor([1, 4], "int16", scale=0.0005)
    y = model.tensor([1, 8], "int16", scale=0.001)
    model.op("CONCATENATION", [a, b], [y], axis=1)
    graph = pipeline.optimise(pipeline.load(model.save(tmp_path, [a, b], [y])))
    one, two = np.asarray([[[100, -200, 300, 32767]]], np.int16), np.asarray([[[100, -200, 301, 32767]]], np.int16)
    result = run_integer(graph, dict(zip(graph.inputs, (one, two), strict=True)))[graph.outputs[0]].ravel()
    np.testing.assert_array_equal(result[:4], one.ravel())
    assert np.abs(result[4:] - two.ravel() / 2).max() <= 0.5
    in_c(graph, tmp_path, "int16x8")


@pytest.mark.slow
def test_tflm_907_recurrent_models_of_the_converter(tmp_path) -> None:
    tf = tf_models.tensorflow()
    model = tf.keras.Sequential(
        [tf.keras.Input((6, 3), batch_size=1), tf.keras.layers.LSTM(4), tf.keras.layers.Dense(2)]
    )
    in_c(agreed(write(tmp_path, tf_models.float_model(model, [(1, 6, 3)]))), tmp_path)


@pytest.mark.slow
def test_tf_36688_static_loops(tmp_path) -> None:
    tf = tf_models.tensorflow()

    def loop(x):
        return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 0.5 + x), (0, x))[1]

    in_c(agreed(write(tmp_path, tf_models.float_model(loop, [(1, 4)]))), tmp_path)


def test_tflm_1412_custom_operators_are_named_with_place_and_way_out(tmp_path) -> None:
    model = TfliteModel()
    x, y = model.tensor([1, 4], name="in"), model.tensor([1, 4], name="spectrum")
    model.op("CUSTOM", [x], [y], custom="MyFft", version=3)
    with pytest.raises(UnsupportedError) as caught:
        pipeline.load(model.save(tmp_path, [x], [y]))
    text = str(caught.value)
    assert all(word in text for word in ("MyFft", "operator 0", "spectrum", "hint"))


def test_tf_42465_all_missing_operators_at_once_on_the_pc(tmp_path) -> None:
    model = TfliteModel()
    tensors = [model.tensor([1, 4]) for _ in range(5)]
    for number, kind in enumerate(["CUSTOM", "TANH", "UNIQUE", "CUSTOM"]):
        model.op(kind, [tensors[number]], [tensors[number + 1]], custom=f"Op{number}" if kind == "CUSTOM" else "")
    with pytest.raises((UnsupportedError, InputError)) as caught:
        pipeline.load(model.save(tmp_path, [tensors[0]], [tensors[-1]]))
    assert all(word in str(caught.value) for word in ("Op0", "UNIQUE", "Op3"))
    assert "TANH" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leaky_relu", "hard_swish", "gelu", "resize"])
def test_tf_42465_operators_that_were_found_missing_on_the_board(tmp_path, name) -> None:
    tf = tf_models.tensorflow()
    functions = {
        "leaky_relu": lambda x: tf.nn.leaky_relu(x, 0.1),
        "hard_swish": lambda x: x * tf.nn.relu6(x + 3) * (1 / 6),
        "gelu": tf.nn.gelu,
        "resize": lambda x: tf.image.resize(x, (7, 9)),
    }
    specs = [tf_models.Spec((1, 4, 5, 2), low=-4, high=4)]
    in_c(agreed(write(tmp_path, tf_models.int8_model(functions[name], specs))), tmp_path)


@pytest.mark.parametrize("kind", ["EXPAND_DIMS", "RESHAPE", "SQUEEZE"])
def test_tflm_597_views_of_constants_do_not_write_into_the_model(tmp_path, kind) -> None:
    model = TfliteModel()
    x = model.tensor([1, 1, 4])
    c = model.constant(normal(1, 4))
    shape = [1, 1, 4] if kind == "EXPAND_DIMS" else [4]
    more = {
        "EXPAND_DIMS": [model.constant(np.asarray(0, np.int32))],
        "RESHAPE": [model.constant(np.asarray([4], np.int32))],
    }
    d, y = model.tensor(shape), model.tensor([1, 1, 4])
    model.op(kind, [c, *more.get(kind, [])], [d])
    model.op("ADD", [x, d], [y])
    in_c(agreed(model.save(tmp_path, [x], [y])), tmp_path)


def test_tflm_867_slice_bounds_at_run_time_are_refused_with_the_reason(tmp_path) -> None:
    model = TfliteModel()
    x, b = model.tensor([1, 8]), model.tensor([2], "int32")
    size, y = model.constant(np.asarray([1, 4], np.int32)), model.tensor([1, 4])
    model.op("SLICE", [x, b, size], [y])
    with pytest.raises(UnsupportedError, match="run time"):
        pipeline.load(model.save(tmp_path, [x, b], [y]))


@pytest.mark.parametrize(
    ("kind", "elem"),
    [
        *((kind, "int8") for kind in ("LOGISTIC", "TANH", "EXP", "ELU", "LOG", "HARD_SWISH")),
        *((kind, "int16") for kind in ("LOGISTIC", "TANH", "EXP")),  # LiteRT has no int16 form of the others
    ],
)
def test_tflm_2468_table_functions_at_both_ends_of_the_range(tmp_path, kind, elem) -> None:
    """The sanitizers watch the tables; random samples begin with the extremes."""
    scale, zero = (1 / 256, -128) if kind == "LOGISTIC" else (1 / 128, 0) if kind == "TANH" else (0.05, -100)
    if elem == "int16":
        scale, zero = 1 / 32768, 0
    model = TfliteModel()
    lowest = -128 if kind == "LOG" else 0  # it has no value below zero
    x = model.tensor([1, 300], elem, scale=0.04 if elem == "int8" else 2.0**-12, zero=lowest)
    y = model.tensor([1, 300], elem, scale=scale, zero=zero)
    model.op(kind, [x], [y])
    graph = agreed(model.save(tmp_path, [x], [y]), runtime=kind != "ELU")  # LiteRT has no reference kernel of it
    in_c(graph, tmp_path, "int8" if elem == "int8" else "int16x8")


@pytest.mark.parametrize("adj", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("quantised", [False, True])
def test_tflm_2741_shapes_of_transposed_batch_matmul(tmp_path, adj, quantised) -> None:
    model = TfliteModel()
    kind = {"elem": "int8"} if quantised else {}
    a_shape, b_shape = ([2, 4, 3] if adj[0] else [2, 3, 4]), ([2, 5, 4] if adj[1] else [2, 4, 5])

    def tensor(shape: list[int], scale: float, zero: int) -> int:
        return model.tensor(shape, **kind, **({"scale": scale, "zero": zero} if quantised else {}))

    a, b, y = tensor(a_shape, 0.02, 3), tensor(b_shape, 0.03, -7), tensor([2, 3, 5], 0.05, 1)
    model.op("BATCH_MATMUL", [a, b], [y], adj_x=adj[0], adj_y=adj[1])
    in_c(agreed(model.save(tmp_path, [a, b], [y])), tmp_path)


@pytest.mark.parametrize("kind", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
def test_tflm_3584_pooling_with_an_activation_and_odd_borders(tmp_path, kind, activation) -> None:
    model = TfliteModel()
    x = model.tensor([1, 7, 5, 3], "int8", scale=0.05, zero=-20)
    y = model.tensor([1, 4, 3, 3], "int8", scale=0.05, zero=-20)
    options = {"padding": "SAME", "stride_w": 2, "stride_h": 2, "filter_width": 3, "filter_height": 2}
    model.op(kind, [x], [y], activation=activation, **options)
    in_c(agreed(model.save(tmp_path, [x], [y])), tmp_path)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["PAD", "MINIMUM", "MAXIMUM"])
def test_tflm_3563_every_rank(tmp_path, rank, kind) -> None:
    if kind == "PAD" and rank == 5:
        rank = 4  # LiteRT pads four axes of int8
    shape = [2, 3, 2, 4, 2][:rank]
    model = TfliteModel()
    x = model.tensor(shape, "int8", scale=0.1, zero=4)
    if kind == "PAD":
        pads = np.asarray([[1, 2], [0, 1], [2, 0], [1, 1]][:rank], np.int32)
        other, result = model.constant(pads), [d + int(p.sum()) for d, p in zip(shape, pads, strict=True)]
        inputs = [x]
    else:
        other, result = model.tensor(shape, "int8", scale=0.1, zero=4), shape
        inputs = [x, other]
    y = model.tensor(result, "int8", scale=0.1, zero=4)
    model.op(kind, [x, other], [y], version=2)
    in_c(agreed(model.save(tmp_path, inputs, [y])), tmp_path)


def test_tflm_1272_int4_weights_are_read(tmp_path) -> None:
    """Two a byte, the first in the low half. Making them is issue 6's."""
    values = RNG.integers(-7, 8, (4, 6))
    flat = values.ravel() & 15
    model = TfliteModel()
    x = model.tensor([1, 6], "int8", scale=0.05, zero=3)
    raw = (flat[::2] | flat[1::2] << 4).astype(np.uint8).tobytes()
    w = model.tensor([4, 6], "INT4", scale=0.1, raw=raw)
    y = model.tensor([1, 4], "int8", scale=0.4, zero=-5)
    model.op("FULLY_CONNECTED", [x, w, -1], [y], version=7)
    graph = agreed(model.save(tmp_path, [x], [y]), runtime=False)
    weights = next(v for v in graph.values.values() if v.data is not None and v.data.shape == (4, 6))
    np.testing.assert_array_equal(weights.data, values)
    in_c(graph, tmp_path)


@pytest.mark.parametrize("form", ["dilated", "grouped", "dilated depthwise"])
def test_cmsis_927_dilation_and_groups_are_honoured_by_fast_kernels(tmp_path, form) -> None:
    model = TfliteModel()
    dilation = 1 if form == "grouped" else 2
    size = 8 - 2 * dilation
    x = model.tensor([1, 8, 8, 4], "int8", scale=0.05, zero=3)
    y = model.tensor([1, size, size, 4], "int8", scale=0.2, zero=-9)
    shape, axis = {"dilated": ((4, 3, 3, 4), 0), "grouped": ((4, 3, 3, 2), 0)}.get(form, ((1, 3, 3, 4), 3))
    w = model.constant(s8(*shape), scale=[0.01, 0.02, 0.004, 0.03], axis=axis)
    b = model.constant(np.asarray([100, -100, 5, 0], np.int32), scale=[5e-4, 1e-3, 2e-4, 1.5e-3])
    options: dict[str, Any] = {"padding": "VALID", "stride_w": 1, "stride_h": 1}
    options |= {"dilation_w": dilation, "dilation_h": dilation}
    if axis == 3:
        model.op("DEPTHWISE_CONV_2D", [x, w, b], [y], depth_multiplier=1, version=2, **options)
    else:
        model.op("CONV_2D", [x, w, b], [y], version=3, **options)
    in_c(agreed(model.save(tmp_path, [x], [y])), tmp_path)


def test_person_detect_of_the_old_converter(tmp_path) -> None:
    """A per-tensor scale with quantized_dimension 3: TFLM runs it, LiteRT does not."""
    path = need_shared("models", "tflm", "person_detect.tflite")
    in_c(agreed(path, runtime=False), tmp_path)
