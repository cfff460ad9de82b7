"""Functions of two elements in float32, integers and bool, with broadcasting."""

from __future__ import annotations

from typing import Any

from tinydeploy.ir import Elem
from tinydeploy.lower._broadcast import Walk
from tinydeploy.lower._contract import VIEW, Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._operand import is_simple, operand, suffix
from tinydeploy.ops._elementwise import letter_of
from tinydeploy.ops._op import NO_CLAMP

_ARITHMETIC = ("add", "sub", "mul")  # int8 with scales is offered by modules of their own
_BITS = (*_ARITHMETIC, "squared_difference", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal")
_LOGICAL = {"logical_and": "bitwise_and", "logical_or": "bitwise_or", "logical_xor": "bitwise_xor"}
_ORDER = ("less", "less_equal", "greater", "greater_equal")
_EXTREMES = ("maximum", "minimum")  # quantised values are compared as they are
_TYPED = ("div", "floor_div", "mod", "pow", "prelu", "bit_shift")

OPERATORS = (*_BITS, *_LOGICAL, *_ORDER, *_EXTREMES, *_TYPED, "atan2")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, none for element types without a function."""
    op: Any = ctx.node.op
    sig, result = ctx.signature, ctx.signature.outputs[0]
    a, b = sig.input(0), sig.input(1)
    plain = all(kind.quant is None for kind in (a, b, result))
    tied = op.name in _EXTREMES and len({(kind.elem, kind.quant) for kind in (a, b, result)}) == 1
    if not (plain or tied) or not is_simple(a.elem):
        return []
    clamp = getattr(op, "clamp", NO_CLAMP)
    if a.elem is not Elem.F32 and clamp != NO_CLAMP:
        return []
    if op.name == "prelu" and letter_of(a.elem) == "u":
        return [VIEW] if a.shape == result.shape else []
    name = _name(op, a.elem)
    operands = operand(ctx, 0, "a"), operand(ctx, 1, "b")
    walk = Walk.of(a.shape, b.shape, result.shape)
    widths = tuple(kind.elem.dtype.itemsize for kind in (a, b, result))
    cost = result.size * _cost(op.name, a.elem, ctx.target.has_long_multiply)
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), *(o.argument for o in operands), Out(0)), out_row_bytes=(0,)),
            access=walk.access(tuple(o.span is None for o in operands), widths),
            headers=("td_binary.h",),
            sources=_sources(op.name, a.elem),
            tables=tuple(table for o in operands for table in o.tables),
            params=Params("td_binary_params", (*walk.fields(), ("low", float(clamp[0])), ("high", float(clamp[1])))),
            cost=Cost(cost, cost * 3 // 2),
        )
    ]


def _name(op: Any, elem: Elem) -> str:
    """The C function without td_."""
    name = str(op.c_name()) if hasattr(op, "c_name") else str(op.name)
    if elem is Elem.F32:
        return f"{name}_f32"
    if name in _LOGICAL or name in _BITS or name == "shift_left":
        return f"{_LOGICAL.get(name, name)}_{elem.bits}"
    return f"{name}_{suffix(elem)}"


def _sources(name: str, elem: Elem) -> tuple[str, ...]:
    if name in ("equal", "not_equal", *_ORDER):
        return ("td_compare.c",)
    if elem is not Elem.F32:
        return (f"td_binary_{elem.bits}.c",)
    if name in ("pow", "atan2"):
        return ("td_binary_math_f32.c", "td_math.c", "td_math_trig.c", "td_math_pow.c")
    return ("td_binary_f32.c", "td_math.c")


def _cost(name: str, elem: Elem, long_multiply: bool) -> int:
    """Instructions an element where float arithmetic is done by calls, as on most of our cores."""
    if elem is not Elem.F32:
        return 40 if name in _TYPED else 12
    cost = 900 if name in ("pow", "atan2", "mod") else 250 if name in ("div", "floor_div") else 60
    return cost if long_multiply else 2 * cost
