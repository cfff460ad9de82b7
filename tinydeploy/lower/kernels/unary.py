"""Functions of one element: float32, integers and bool in plain C; 8-bit quantised values by table."""

from __future__ import annotations

from typing import Any

from tinydeploy.ir import Elem, Type
from tinydeploy.lower._contract import VIEW, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, elementwise
from tinydeploy.lower._operand import bytes_of, is_simple, suffix
from tinydeploy.lower._unary import table_offers
from tinydeploy.ops._elementwise import letter_of

_MATH = ("td_math.c",)
_TRIG = ("td_math_trig.c", "td_math.c")
_SIMPLE = ("abs", "neg", "sign", "square", "reciprocal", "floor", "ceil", "round")
_LIBRARY = ("sqrt", "rsqrt", "exp", "log", "log1p", "expm1", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf")
_ACTIVATIONS = (
    *("elu", "selu", "celu", "leaky_relu", "hard_sigmoid", "thresholded_relu", "shrink", "swish", "hard_swish"),
    *("gelu", "mish", "softplus", "softsign"),
)
_TRIGONOMETRIC = ("sin", "cos", "tan", "asin", "acos", "atan")
_INTEGERS = ("is_nan", "is_inf", "logical_not", "bitwise_not")

OPERATORS = (*_SIMPLE, *_LIBRARY, "logistic", *_ACTIVATIONS, *_TRIGONOMETRIC, *_INTEGERS)
_HAVE_TABLES = ("logistic", "tanh")  # modules of their own offer their tables


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, none for element types without a function."""
    op: Any = ctx.node.op
    source, result = ctx.signature.input(0), ctx.signature.outputs[0]
    if source.quant is not None or result.quant is not None:
        return [] if op.name in _HAVE_TABLES or source.quant is None or result.quant is None else table_offers(ctx)
    if not is_simple(source.elem):
        return []
    if op.name == "abs" and letter_of(source.elem) == "u":
        return [VIEW]
    floats = source.elem is Elem.F32
    function = f"td_{_name(op)}_{'f32' if floats else _integer_suffix(op.name, source)}"
    numbers = [float(c) for c in op.constants()] if hasattr(op, "constants") else []
    a, b = (*numbers, 0.0, 0.0)[:2]
    cost = source.size * (_float_cost(op.name, ctx.target.has_long_multiply) if floats else 12)
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), In(0), Out(0))),
            access=elementwise((bytes_of(source),), bytes_of(result), source.size),
            headers=("td_unary.h",),
            sources=_sources(op.name) if floats else ("td_unary_int.c",),
            params=Params("td_unary_params", (("size", source.size), ("a", a), ("b", b))),
            cost=Cost(cost, cost * 3 // 2),
        )
    ]


def _name(op: Any) -> str:
    return str(op.c_name()) if hasattr(op, "c_name") else str(op.name)


def _integer_suffix(name: str, source: Type) -> str:
    if name in ("sign", "logical_not"):
        return suffix(source.elem)
    return str(source.elem.bits)


def _sources(name: str) -> tuple[str, ...]:
    if name in _INTEGERS:
        return ("td_unary_int.c",)
    if name in _ACTIVATIONS:
        return ("td_activation_f32.c", *_MATH)
    return ("td_unary_trig_f32.c", *_TRIG) if name in _TRIGONOMETRIC else ("td_unary_f32.c", *_MATH)


def _float_cost(name: str, long_multiply: bool) -> int:
    """Instructions an element where float arithmetic is done by calls, as on most of our cores."""
    cost = 30 if name in (*_SIMPLE, *_INTEGERS, "leaky_relu", "thresholded_relu", "shrink") else 700
    return cost if long_multiply else 3 * cost
