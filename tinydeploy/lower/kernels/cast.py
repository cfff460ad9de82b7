"""Casts between integers, bool and float32."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import VIEW, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, elementwise
from tinydeploy.ops.cast import Cast

OPERATOR = "cast"
_BOOL = 0  # TD_BOOL


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where no bit changes, else one offer; none for 4-bit integers and other floats."""
    source, result = ctx.signature.input(0), ctx.signature.outputs[0]
    if not isinstance(ctx.node.op, Cast) or not (_taken(source.elem) and _taken(result.elem)):
        return []
    if _same_bits(source.elem, result.elem):
        return [VIEW]
    function, params = _call(result.size, source.elem, result.elem)
    cost = 20 if ctx.target.has_long_multiply else 70
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), In(0), Out(0))),
            access=elementwise(
                (source.size * source.elem.dtype.itemsize,), result.size * result.elem.dtype.itemsize, result.size
            ),
            headers=("td_cast.h",),
            sources=("td_cast.c",),
            params=params,
            cost=Cost(cost * result.size, cost * result.size * 3 // 2),
        )
    ]


def _taken(elem: Elem) -> bool:
    return elem is Elem.F32 or not (elem.is_float or elem is Elem.S4)


def _same_bits(source: Elem, result: Elem) -> bool:
    if source is result:
        return True
    integers = not source.is_float and not result.is_float and result is not Elem.BOOL
    return integers and source.bits == result.bits


def _kind(elem: Elem) -> int:
    width = elem.dtype.itemsize
    return -width if elem.limits[0] < 0 else width


def _call(size: int, source: Elem, result: Elem) -> tuple[str, Params]:
    """The C function and its parameters."""
    to = _BOOL if result is Elem.BOOL else _kind(result) if not result.is_float else 0
    if not source.is_float:
        fields = (("size", size), ("from", _kind(source)), ("to", to))
        return "td_cast_int_f32" if result.is_float else "td_cast_int", Params("td_cast_params", fields)
    low, high = result.limits
    limits = (
        ("below", float(low)),
        ("above", float(high + 1)),
        ("lowest", low),
        ("highest", -1 if high == 2**64 - 1 else high),
    )
    return "td_cast_f32_int", Params("td_cast_f32_params", (("size", size), ("to", to), *limits))
