"""Functions of one element, most with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.elementwise import number

# ONNX's names of functions without parameters, and ours.
_SIMPLE = {
    name: name.lower()
    for name in (
        *(
            "Abs",
            "Acos",
            "Acosh",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "Ceil",
            "Cos",
            "Cosh",
            "Erf",
            "Exp",
            "Floor",
            "Log",
        ),
        *("Mish", "Neg", "Reciprocal", "Round", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
    )
} | {
    "Sigmoid": "logistic",
    "HardSwish": "hard_swish",
    "Not": "logical_not",
    "BitwiseNot": "bitwise_not",
    "IsNaN": "is_nan",
}


@translates(*_SIMPLE)
def simple(call: Call) -> Results:
    """A function without parameters."""
    return (call.emit(_SIMPLE[call.node.op_type], number(call, 0)),)


# ONNX's names, ours, and the parameters with their defaults.
_WITH_PARAMETERS: dict[str, tuple[str, dict[str, float]]] = {
    "Elu": ("elu", {"alpha": 1.0}),
    "Selu": ("selu", {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}),
    "Celu": ("celu", {"alpha": 1.0}),
    "LeakyRelu": ("leaky_relu", {"alpha": 0.01}),
    "HardSigmoid": ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "ThresholdedRelu": ("thresholded_relu", {"alpha": 1.0}),
    "Shrink": ("shrink", {"lambd": 0.5, "bias": 0.0}),
    "Swish": ("swish", {"alpha": 1.0}),
}


@translates(*_WITH_PARAMETERS)
def with_parameters(call: Call) -> Results:
    """A function whose parameters are attributes."""
    operator, defaults = _WITH_PARAMETERS[call.node.op_type]
    parameters: dict[str, Any] = {name: float(call.attribute(name, default)) for name, default in defaults.items()}
    return (call.emit(operator, number(call, 0), **parameters),)


@translates("Gelu")
def gelu(call: Call) -> Results:
    """By the error function or (approximate "tanh") the hyperbolic tangent. Source: ONNX Gelu-20."""
    approximate: Any = call.attribute("approximate", "none")
    word = approximate.decode("utf-8", "replace") if isinstance(approximate, bytes) else str(approximate)
    if word not in ("none", "tanh"):
        raise refuse(f"approximate is {word!r}", "'none' or 'tanh'")
    return (call.emit("gelu", number(call, 0), approximate=word == "tanh"),)


@translates("PRelu")
def prelu(call: Call) -> Results:
    """The slope below 0 broadcasts to the input. Source: ONNX PRelu-16."""
    x, slope = number(call, 0), number(call, 1)
    shape = call.type(x).shape
    if call.opset < 9 and len(shape) > 1 and call.type(slope).shape == shape[1:2]:
        slope = call.reshape(slope, (shape[1], *(1 for _ in shape[2:])))  # PyTorch's old exporter: one a channel
    if tuple(np.broadcast_shapes(shape, call.type(slope).shape)) != shape:
        raise refuse(f"a slope {list(call.type(slope).shape)} for {list(shape)}", "the slope broadcasts to the input")
    return (call.emit("prelu", x, slope),)


@translates("IsInf")
def is_inf(call: Call) -> Results:
    """Which infinities count are attributes. Source: ONNX IsInf-20."""
    negative, positive = (bool(call.attribute(f"detect_{side}", 1)) for side in ("negative", "positive"))
    return (call.emit("is_inf", number(call, 0), negative=negative, positive=positive),)


@translates("SwiGLU")
def swiglu(call: Call) -> Results:
    """``swish(a) * b``. Source: ONNX SwiGLU-28."""
    gate = call.emit("swish", number(call, 0), alpha=float(call.attribute("alpha", 1.0)))
    return (call.emit("mul", gate, number(call, 1)),)
