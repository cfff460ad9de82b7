"""Comparisons, logic and bits."""

from __future__ import annotations

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.elementwise import number

_BINARY = {
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
}


@translates(*_BINARY)
def binary(call: Call) -> Results:
    """Two operands that broadcast. Source: ONNX Equal-19, Less-13, And-7, BitwiseAnd-18 and their like."""
    return (call.emit(_BINARY[call.node.op_type], number(call, 0), number(call, 1)),)


@translates("BitShift")
def bit_shift(call: Call) -> Results:
    """To the left or right, as an attribute says. Source: ONNX BitShift-11."""
    direction = call.attribute("direction", "")
    word = direction.decode("utf-8", "replace") if isinstance(direction, bytes) else str(direction)
    if word not in ("LEFT", "RIGHT"):
        raise refuse(f"direction is {word!r}", "'LEFT' or 'RIGHT'")
    return (call.emit("bit_shift", number(call, 0), number(call, 1), left=word == "LEFT"),)
