"""TFLite operators that are functions of one, two or three elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Elem
from tinydeploy.ops._op import NO_CLAMP


def _unary(operator: str) -> Callable[[Call], None]:
    def translate(call: Call) -> None:
        call.emit(operator, (call.input(0),))

    return translate


def _leaky_relu(call: Call) -> None:
    alpha = float(call.option("alpha"))
    if not math.isfinite(alpha):
        raise call.damaged(f"has alpha {alpha}")
    call.emit("leaky_relu", (call.input(0),), alpha=alpha)


def _gelu(call: Call) -> None:
    call.emit("gelu", (call.input(0),), approximate=bool(call.option("approximate")))


def _binary(operator: str) -> Callable[[Call], None]:
    def translate(call: Call) -> None:
        call.emit(operator, (call.input(0), call.input(1)))

    return translate


def _div(call: Call) -> None:
    clamp = call.clamp()
    inputs = (call.input(0), call.input(1))
    if clamp == NO_CLAMP:
        call.emit("div", inputs)
        return
    quotient = call.between("div", inputs, call.output_type().quant)
    call.emit("clamp", (quotient,), low=clamp[0], high=clamp[1])


def _floor_mod(call: Call) -> None:
    call.emit("mod", (call.input(0), call.input(1)), fmod=False)


def _bitwise_xor(call: Call) -> None:
    inputs = (call.input(0), call.input(1))
    call.emit("logical_xor" if call.type(inputs[0]).elem is Elem.BOOL else "bitwise_xor", inputs)


def _right_shift(call: Call) -> None:
    call.emit("bit_shift", (call.input(0), call.input(1)), left=False)


def _add_n(call: Call) -> None:
    operands = [call.input(i) for i in range(len(call.inputs))]
    if len(operands) == 1:
        call.emit("reshape", (operands[0],), shape=call.type(operands[0]).shape)
        return
    total = functools.reduce(lambda a, b: call.between("add", (a, b)), operands[:-1])
    call.emit("add", (total, operands[-1]))


def _select(call: Call) -> None:
    condition, a, b = (call.input(i) for i in range(3))
    shape, wanted = call.type(condition).shape, call.type(a).shape
    if call.kind == "SELECT" and len(shape) == 1 and len(wanted) > 1:
        # The first operator of this name chooses whole entries of axis 0.
        condition = call.between("reshape", (condition,), shape=(*shape, *(1 for _ in wanted[1:])))
    call.emit("select", (condition, a, b))


def _bitcast(call: Call) -> None:
    call.emit("bitcast", (call.input(0),), elem=call.output_type().elem)


_UNARY = {
    name: name.lower()
    for name in (
        *("ABS", "NEG", "SIGN", "SQUARE", "SQRT", "RSQRT", "EXP", "LOG", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "ELU"),
        *("HARD_SWISH", "LOGICAL_NOT"),
    )
}
_BINARY = {
    name: name.lower()
    for name in (
        *(
            "FLOOR_DIV",
            "POW",
            "SQUARED_DIFFERENCE",
            "MAXIMUM",
            "MINIMUM",
            "ATAN2",
            "PRELU",
            "LOGICAL_AND",
            "LOGICAL_OR",
        ),
        *("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"),
    )
}

OPERATORS: dict[str, Callable[[Call], None]] = {
    **{kind: _unary(operator) for kind, operator in _UNARY.items()},
    **{kind: _binary(operator) for kind, operator in _BINARY.items()},
    "LEAKY_RELU": _leaky_relu,
    "GELU": _gelu,
    "DIV": _div,
    "FLOOR_MOD": _floor_mod,
    "BITWISE_XOR": _bitwise_xor,
    "RIGHT_SHIFT": _right_shift,
    "ADD_N": _add_n,
    "SELECT": _select,
    "SELECT_V2": _select,
    "BITCAST": _bitcast,
}
