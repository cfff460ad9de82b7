"""TFLite operators that work element by element or along one axis."""

from __future__ import annotations

import math
from collections.abc import Callable

from tinydeploy.frontends._common import clamp_of
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Elem
from tinydeploy.ir.types import dequantise
from tinydeploy.ops._binary import pot_sum_holds
from tinydeploy.ops._op import NO_CLAMP, Signature


def _binary(operator: str) -> Callable[[Call], None]:
    def translate(call: Call) -> None:
        a, b = call.input(0), call.input(1)
        kinds = (call.type(a), call.type(b), call.output_type())
        shifts = operator != "mul" and all(kind.elem is Elem.S16 for kind in kinds) and call.option("pot_scale_int16")
        # TFLite shifts instead of multiplying when all three scales are powers of two and the file allows it.
        if shifts and all(kind.quant and math.frexp(kind.scale)[0] == 0.5 for kind in kinds):
            if not pot_sum_holds(Signature(kinds[:2], kinds[2:])):
                raise call.refuse("is int16 with power-of-two scales", "the larger input scale is that of the output")
            call.emit(operator, (a, b), clamp=call.clamp(), pot_scale_int16=True)
            return
        clamp = call.clamp()
        if clamp != NO_CLAMP and kinds[2].quant is None and not kinds[2].elem.is_float:
            call.emit("clamp", (call.between(operator, (a, b)),), low=clamp[0], high=clamp[1])
            return
        call.emit(operator, (a, b), clamp=clamp)

    return translate


def _clamp(call: Call) -> None:
    bounds = clamp_of(call.kind)
    assert bounds is not None
    call.emit("clamp", (call.input(0),), low=bounds[0], high=bounds[1])


def _softmax(call: Call) -> None:
    x = call.type(call.input(0))
    beta = float(call.option("beta"))
    if not x.rank or not math.isfinite(beta) or beta <= 0:
        raise call.damaged(f"takes {x} with beta {beta}")
    call.emit("softmax", (call.input(0),), axis=x.rank - 1, beta=beta)


def _unary(operator: str) -> Callable[[Call], None]:
    def translate(call: Call) -> None:
        call.emit(operator, (call.input(0),))

    return translate


def _quantize(call: Call) -> None:
    target = call.output_type()
    if target.quant is None:
        raise call.damaged(f"makes {target} without a scale")
    call.emit("quantize", (call.input(0),), elem=target.elem)


def _dequantize(call: Call) -> None:
    x, data = call.type(call.input(0)), call.data(0)
    if data is not None:
        # Float16 models and weight-only ones: the real numbers are known now.
        call.emit_constant(dequantise(data, x))
    elif x.elem.is_float:
        call.emit("cast", (call.input(0),), elem=call.output_type().elem)
    else:
        call.emit("dequantize", (call.input(0),))


def _cast(call: Call) -> None:
    call.emit("cast", (call.input(0),), elem=call.output_type().elem)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "ADD": _binary("add"),
    "SUB": _binary("sub"),
    "MUL": _binary("mul"),
    "RELU": _clamp,
    "RELU6": _clamp,
    "RELU_N1_TO_1": _clamp,
    "RELU_0_TO_1": _clamp,
    "SOFTMAX": _softmax,
    "LOGISTIC": _unary("logistic"),
    "TANH": _unary("tanh"),
    "QUANTIZE": _quantize,
    "DEQUANTIZE": _dequantize,
    "CAST": _cast,
}
