"""Arithmetic between tensors, and functions applied to each element."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates

_FLOAT32_MAX = float(np.finfo(np.float32).max)


@translates("Add", "Sub", "Mul")
def binary(call: Call) -> Results:
    """Two operands that broadcast. Source: ONNX Add-14, Sub-14, Mul-14."""
    return (call.emit(call.node.op_type.lower(), call.float_value(0), call.float_value(1)),)


@translates("Div")
def div(call: Call) -> Results:
    """By a constant: a product with the reciprocal, which may differ in the last bit. Source: ONNX Div-14."""
    divisor = call.constant(1, "divisor")
    if divisor.dtype != np.float32 or not np.all(np.isfinite(divisor)) or np.any(divisor == 0):
        raise refuse("the divisor is not float32, not finite or zero", "division is by constants other than 0")
    reciprocal = call.hold((1.0 / divisor.astype(np.float64)).astype(np.float32), call.node.inputs[1])
    return (call.emit("mul", call.float_value(0), reciprocal),)


@translates("Relu")
def relu(call: Call) -> Results:
    """``max(x, 0)``."""
    return (call.emit("clamp", call.float_value(0), low=0.0, high=float("inf")),)


@translates("Clip")
def clip(call: Call) -> Results:
    """``min(max(x, min), max)``; bounds are attributes before opset 11, inputs from then on. Source: ONNX Clip-13."""
    if call.opset < 11:
        low, high = call.attribute("min", -_FLOAT32_MAX), call.attribute("max", _FLOAT32_MAX)
    else:
        low, high = _bound(call, 1, "min", -np.inf), _bound(call, 2, "max", np.inf)
    low = -np.inf if low <= -_FLOAT32_MAX else low
    high = np.inf if high >= _FLOAT32_MAX else high
    if np.isnan(low) or np.isnan(high):
        raise refuse("a bound is not a number")
    return (call.emit("clamp", call.float_value(0), low=float(min(low, high)), high=float(high)),)


def _bound(call: Call, index: int, role: str, default: float) -> float:
    data = call.optional(index, role)
    if data is None:
        return default
    if data.size != 1:
        raise refuse(f"{role} has shape {list(data.shape)}", "bounds are scalars")
    return float(data.ravel()[0])


@translates("Sigmoid")
def sigmoid(call: Call) -> Results:
    """``1 / (1 + exp(-x))``."""
    return (call.emit("logistic", call.float_value(0)),)


@translates("Tanh")
def tanh(call: Call) -> Results:
    """The hyperbolic tangent."""
    return (call.emit("tanh", call.float_value(0)),)


@translates("Identity")
def identity(call: Call) -> Results:
    """The input itself."""
    return (call.value(0),)


@translates("Dropout")
def dropout(call: Call) -> Results:
    """In inference the input itself; the mask is not computed. Source: ONNX Dropout-13."""
    call.ignore("ratio", "seed", "is_test")
    training = call.optional(2, "training_mode")
    if training is not None and training.any():
        raise refuse("training_mode is set", "dropout in inference", "export with model.eval()")
    return (call.value(0),)
