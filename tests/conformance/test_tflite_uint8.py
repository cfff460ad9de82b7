"""Legacy uint8 models: read as int8, and equal to LiteRT's uint8 kernels in every bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.conformance.tf_models import agree, imported
from tests.unit.frontends.tflite_build import TfliteModel
from tinydeploy.errors import UnsupportedError
from tinydeploy.ir import Elem

U8 = np.uint8


def integers(rng: np.random.Generator, shape) -> np.ndarray:
    return rng.integers(0, 256, shape).astype(U8)


def value(model: TfliteModel, shape, scale: float = 0.05, zero: int = 120) -> int:
    return model.tensor(shape, "uint8", scale=scale, zero=zero)


def weighted(kind: str, x_shape, w_shape, y_shape, zero: int, **options) -> Callable[[np.random.Generator], tuple]:
    def make(rng):
        model = TfliteModel()
        x = value(model, x_shape)
        weights = model.constant(integers(rng, w_shape), scale=0.01, zero=zero)
        channels = w_shape[-1] if kind == "DEPTHWISE_CONV_2D" else w_shape[0]
        bias = model.constant(rng.integers(-900, 900, channels).astype("i4"), scale=0.05 * 0.01)
        y = value(model, y_shape, 0.15, 131)
        model.op(kind, [x, weights, bias], [y], **options)
        return model, [x], [y]

    return make


def simple(kind: str, x_shapes, y_shape, y_scale=0.06, y_zero=110, constants=(), **options):
    """An operator on uint8 inputs of different scales, then constant operands."""

    def make(_):
        model = TfliteModel()
        xs = [value(model, shape, 0.05 + 0.01 * i, 120 + 3 * i) for i, shape in enumerate(x_shapes)]
        more = [model.constant(np.asarray(c, "i4")) for c in constants]
        y = value(model, y_shape, y_scale, y_zero)
        model.op(kind, [*xs, *more], [y], **options)
        return model, xs, [y]

    return make


PLANE = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
POOL = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2, "activation": "NONE"}
IMAGE = [1, 6, 6, 3]
NONE = {"activation": "NONE"}
CASES = {
    "conv": weighted("CONV_2D", IMAGE, (4, 3, 3, 3), [1, 6, 6, 4], 128, **PLANE, activation="RELU6"),
    "conv_odd_zero": weighted("CONV_2D", IMAGE, (4, 3, 3, 3), [1, 6, 6, 4], 97, **PLANE, activation="NONE"),
    "depthwise": weighted(
        "DEPTHWISE_CONV_2D", IMAGE, (1, 3, 3, 6), [1, 6, 6, 6], 128, **PLANE, activation="NONE", depth_multiplier=2
    ),
    "depthwise_odd_zero": weighted(
        "DEPTHWISE_CONV_2D", IMAGE, (1, 3, 3, 3), [1, 6, 6, 3], 3, **PLANE, activation="RELU", depth_multiplier=1
    ),
    "dense": weighted("FULLY_CONNECTED", [1, 20], (5, 20), [1, 5], 128, activation="NONE"),
    "dense_odd_zero": weighted("FULLY_CONNECTED", [1, 20], (5, 20), [1, 5], 200, activation="NONE"),
    "average_pool": simple("AVERAGE_POOL_2D", [IMAGE], [1, 3, 3, 3], 0.05, 120, **POOL),
    "max_pool": simple("MAX_POOL_2D", [IMAGE], [1, 3, 3, 3], 0.05, 120, **POOL),
    "add": simple("ADD", [IMAGE, IMAGE], IMAGE, **NONE),
    "add_relu": simple("ADD", [IMAGE, [1, 1, 1, 3]], IMAGE, activation="RELU"),
    "sub": simple("SUB", [IMAGE, IMAGE], IMAGE, **NONE),
    "mul": simple("MUL", [IMAGE, [3]], IMAGE, **NONE),
    "concatenation": simple("CONCATENATION", [IMAGE, IMAGE], [1, 6, 6, 6], 0.05, 120, axis=3, **NONE),
    "logistic": simple("LOGISTIC", [IMAGE], IMAGE, 1 / 256, 0),
    "tanh": simple("TANH", [IMAGE], IMAGE, 1 / 128, 128),
    "softmax": simple("SOFTMAX", [[1, 10]], [1, 10], 1 / 256, 0, beta=1.0),
    "relu": simple("RELU", [IMAGE], IMAGE, 0.05, 120),
    "relu6": simple("RELU6", [IMAGE], IMAGE, 0.03, 0),
    "mean": simple("MEAN", [IMAGE], [1, 3], constants=[[1, 2]], keep_dims=False),
    "pad": simple("PAD", [IMAGE], [1, 8, 7, 3], 0.05, 120, constants=[[[0, 0], [1, 1], [0, 1], [0, 0]]]),
    "transpose": simple("TRANSPOSE", [IMAGE], [1, 3, 6, 6], 0.05, 120, constants=[[0, 3, 1, 2]]),
    "slice": simple("SLICE", [IMAGE], [1, 4, 5, 2], 0.05, 120, constants=[[0, 1, 0, 1], [1, 4, 5, 2]]),
    "requantize": simple("QUANTIZE", [IMAGE], IMAGE, 0.11, 90),
    "leaky_relu": simple("LEAKY_RELU", [IMAGE], IMAGE, 0.06, 110, alpha=0.1),
    "resize_nearest": simple("RESIZE_NEAREST_NEIGHBOR", [IMAGE], [1, 9, 12, 3], 0.05, 120, constants=[[9, 12]]),
    "space_to_depth": simple("SPACE_TO_DEPTH", [IMAGE], [1, 3, 3, 12], 0.05, 120, block_size=2),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_litert(name) -> None:
    model, inputs, outputs = CASES[name](np.random.default_rng(len(name)))
    graph = agree(model.to_bytes(inputs, outputs), samples=6)
    assert all(graph.type(end).elem is Elem.U8 for end in (*graph.inputs, *graph.outputs))


def test_float_ends() -> None:
    """QUANTIZE and DEQUANTIZE to and from uint8, as converters of that time wrote them."""
    model = TfliteModel()
    x = model.tensor([1, 8])
    q = value(model, [1, 8])
    y = model.tensor([1, 8])
    model.op("QUANTIZE", [x], [q])
    model.op("DEQUANTIZE", [q], [y])
    agree(model.to_bytes([x], [y]))


def test_cast_of_quantised_integers_is_refused() -> None:
    model = TfliteModel()
    x, y = value(model, [1, 8]), model.tensor([1, 8])
    model.op("CAST", [x], [y])
    with pytest.raises(UnsupportedError, match="quantised uint8"):
        imported(model.to_bytes([x], [y]))
