"""Arithmetic between tensors, bounds, and what leaves elements as they are. See also activations and comparison."""

from __future__ import annotations

import functools

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.shapes import computed_in_float32, target_elem
from tinydeploy.ir import Elem

_FLOAT32_MAX = float(np.finfo(np.float32).max)


def number(call: Call, index: int) -> str:
    """An input of any element type that C has.

    Raises: UnsupportedError for float16 and float64 at run time.
    """
    name = call.value(index)
    elem = call.type(name).elem
    if elem.is_float and elem is not Elem.F32 and not call.is_constant(index):
        raise refuse(f"input {index} is {elem.value}", "float32 or integers", "export the model in float32")
    return name


@translates("Add", "Sub", "Mul")
def binary(call: Call) -> Results:
    """Two operands that broadcast. Source: ONNX Add-14, Sub-14, Mul-14."""
    return (call.emit(call.node.op_type.lower(), number(call, 0), number(call, 1)),)


@translates("Div")
def div(call: Call) -> Results:
    """By a float constant: a product with the reciprocal, which may differ in the last bit. Source: ONNX Div-14."""
    if call.is_constant(1) and not call.is_constant(0):
        divisor = call.constant(1, "divisor")
        if divisor.dtype == np.float32 and np.all(np.isfinite(divisor)) and np.all(np.abs(divisor) > 1e-37):
            reciprocal = call.hold((1.0 / divisor.astype(np.float64)).astype(np.float32), call.node.inputs[1])
            return (call.emit("mul", number(call, 0), reciprocal),)
    return (call.emit("div", number(call, 0), number(call, 1)),)


_OF_MANY = {"Sum": "add", "Mean": "add", "Max": "maximum", "Min": "minimum"}


@translates(*_OF_MANY)
def of_many(call: Call) -> Results:
    """One after the other, from the first on. Source: ONNX Sum-13, Mean-13, Max-13, Min-13."""
    operands = [number(call, i) for i in range(len(call.sources))]
    operator = _OF_MANY[call.node.op_type]
    result = functools.reduce(lambda a, b: call.emit(operator, a, b), operands)
    if call.node.op_type == "Mean" and len(operands) > 1:
        factor = np.array(1.0 / len(operands), call.type(result).elem.dtype)
        result = call.emit("mul", result, call.hold(factor))
    return (result,)


@translates("Mod")
def mod(call: Call) -> Results:
    """The remainder, with the sign of the divisor or (``fmod``) of the dividend. Source: ONNX Mod-13."""
    return (call.emit("mod", number(call, 0), number(call, 1), fmod=bool(call.attribute("fmod", 0))),)


_POWERS = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal", -0.5: "rsqrt"}


@translates("Pow")
def power(call: Call) -> Results:
    """The base's element type is the result's; usual exponents are functions of their own. Source: ONNX Pow-15."""
    base, exponent = number(call, 0), number(call, 1)
    kind, other = call.type(base), call.type(exponent)
    if kind.elem is Elem.F32 and call.is_constant(1) and other.size == 1 and other.rank <= kind.rank:
        value = float(call.constant(1, "exponent").ravel()[0])
        if value == 1.0:
            return (base,)
        if value in _POWERS:
            return (call.emit(_POWERS[value], base),)
    if kind.elem is other.elem:
        return (call.emit("pow", base, exponent),)
    floats = kind.elem.is_float or other.elem.is_float
    common = Elem.F32 if floats and Elem.F64 not in (kind.elem, other.elem) else Elem.F64 if floats else Elem.S64
    operands = [
        name if call.type(name).elem is common else call.emit("cast", name, elem=common) for name in (base, exponent)
    ]
    result = call.emit("pow", *operands)
    return (result if common is kind.elem else call.emit("cast", result, elem=kind.elem),)


@translates("Relu")
def relu(call: Call) -> Results:
    """``max(x, 0)``."""
    return (call.emit("clamp", number(call, 0), low=0.0, high=float("inf")),)


@translates("Clip")
def clip(call: Call) -> Results:
    """``min(max(x, min), max)``; bounds are attributes before opset 11, inputs from then on. Source: ONNX Clip-13."""
    x = number(call, 0)
    if call.opset < 11:
        low, high = call.attribute("min", -_FLOAT32_MAX), call.attribute("max", _FLOAT32_MAX)
        return (_clamped(call, x, low, high),)
    if any(call.has(i) and not call.is_constant(i) for i in (1, 2)) or call.type(x).elem in (Elem.S64, Elem.U64):
        # Bounds that are computed, or may be beyond what a float holds.
        for index, operator in ((1, "maximum"), (2, "minimum")):
            if call.has(index):
                x = call.emit(operator, x, number(call, index))
        return (x,)
    return (_clamped(call, x, _bound(call, 1, "min", -np.inf), _bound(call, 2, "max", np.inf)),)


def _clamped(call: Call, x: str, low: float, high: float) -> str:
    low = -np.inf if low <= -_FLOAT32_MAX else low
    high = np.inf if high >= _FLOAT32_MAX else high
    if np.isnan(low) or np.isnan(high):
        raise refuse("a bound is not a number")
    return call.emit("clamp", x, low=float(min(low, high)), high=float(high))


def _bound(call: Call, index: int, role: str, default: float) -> float:
    data = call.optional(index, role)
    if data is None:
        return default
    if data.size != 1:
        raise refuse(f"{role} has shape {list(data.shape)}", "bounds are scalars")
    return float(data.ravel()[0])


@translates("Where")
def where(call: Call) -> Results:
    """One of two values for each element. Source: ONNX Where-16."""
    return (call.emit("select", number(call, 0), number(call, 1), number(call, 2)),)


@translates("CastLike")
def cast_like(call: Call) -> Results:
    """The element type of another tensor. Source: ONNX CastLike-19."""
    call.ignore("saturate", "round_mode")
    stored = call.origins.narrow.get(call.node.inputs[1])
    if stored and not computed_in_float32(call, stored):
        raise refuse(f"makes elements of type {stored}", "float32, integers of 8 to 64 bits or bool")
    x, elem = call.value(0), Elem.F32 if stored else call.type(call.value(1)).elem
    return (x if elem is call.type(x).elem else call.emit("cast", x, elem=elem),)


@translates("BitCast")
def bit_cast(call: Call) -> Results:
    """The same bits as another element type. Source: ONNX BitCast-26."""
    return (call.emit("bitcast", number(call, 0), elem=target_elem(call)),)


@translates("Identity")
def identity(call: Call) -> Results:
    """The input itself."""
    return (call.value(0),)


@translates("Dropout")
def dropout(call: Call) -> Results:
    """In inference the input itself, and a mask that keeps everything. Source: ONNX Dropout-13."""
    call.ignore("ratio", "seed", "is_test")
    training, ratio = call.optional(2, "training_mode"), call.optional(1, "ratio")
    if training is not None and training.any() and (ratio is None or ratio.any()):
        raise refuse("training_mode is set", "dropout in inference", "export with model.eval()")
    return call.value(0), np.ones(call.shape_of(0), np.bool_)
