"""Functions of two int8 operands with scales of their own: TFLite's arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.ir import Elem, Type
from tinydeploy.lower._broadcast import Walk
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._operand import operand
from tinydeploy.numerics import fixed
from tinydeploy.ops import _pairs
from tinydeploy.ops._op import Signature

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
OPERATORS = ("prelu", "squared_difference", "div", *_COMPARISONS)

_EVERY = np.arange(256, dtype=np.uint8).view(np.int8)
_Fields = tuple[tuple[str, int | float | str], ...]
_Made = tuple[str, str, _Fields, tuple[Table, ...], int]  # function, params type, their fields, tables, instructions


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 in; none where a quotient's shift would go to the left."""
    sig, name = ctx.signature, ctx.node.op.name
    result = sig.outputs[0]
    if not all(is_s8(kind) for kind in sig.inputs) or not (is_s8(result) or result.elem is Elem.BOOL):
        return []
    operands = operand(ctx, 0, "a"), operand(ctx, 1, "b")
    made = _compared(sig, name) if name in _COMPARISONS else _MAKERS[name](sig)
    if made is None:
        return []
    function, kind, fields, tables, instructions = made
    walk = Walk.of(sig.input(0).shape, sig.input(1).shape, result.shape)
    extra = (Tab("reciprocals"),) if name == "div" else ()
    cost = result.size * (instructions if ctx.target.has_long_multiply else 3 * instructions)
    return [
        Offer(
            kernel=function,
            call=Call(
                f"td_{function}", (ParamsArg(), *extra, *(o.argument for o in operands), Out(0)), out_row_bytes=(0,)
            ),
            access=walk.access(tuple(o.span is None for o in operands)),
            headers=("td_pairs_s8.h",),
            sources=("td_pairs_s8.c",),
            tables=(*(table for o in operands for table in o.tables), *tables),
            params=Params(kind, (*walk.fields(), *fields)),
            cost=Cost(cost, cost * 13 // 10),
        )
    ]


def _prelu(sig: Signature) -> _Made:
    above, below = _pairs.prelu_multipliers(sig)
    fields = (
        *_zero_points(sig),
        ("multiplier", above[0]),
        ("shift", above[1]),
        ("low_multiplier", below[0]),
        ("low_shift", below[1]),
        ("zero_point", sig.outputs[0].zero_point),
    )
    return "prelu_scaled_s8", "td_prelu_params", fields, (), 25


def _squared_difference(sig: Signature) -> _Made:
    a, b, square = _pairs.difference_multipliers(sig)
    fields = (
        *_zero_points(sig),
        ("left_shift", _pairs.DIFFERENCE_SHIFT),
        ("a_multiplier", a[0]),
        ("a_shift", a[1]),
        ("b_multiplier", b[0]),
        ("b_shift", b[1]),
        ("multiplier", square[0]),
        ("shift", square[1]),
        ("zero_point", sig.outputs[0].zero_point),
    )
    return "squared_difference_scaled_s8", "td_squared_difference_params", fields, (), 50


def _div(sig: Signature) -> _Made | None:
    multiplier, shift = _pairs.quotient_multiplier(sig)
    if shift > 23:  # what is left of 31 bits beside those of a
        return None
    divisor = _EVERY.astype(np.int64) - sig.input(1).zero_point
    inverse, bits = fixed.reciprocal(np.maximum(np.abs(divisor), 1), 31)
    table = np.zeros(256, np.dtype([("inverse", "<i4"), ("shift", "<i4")]))
    table["inverse"], table["shift"] = inverse * np.sign(divisor), bits - shift
    fields = (
        ("a_zero_point", sig.input(0).zero_point),
        ("multiplier", multiplier),
        ("zero_point", sig.outputs[0].zero_point),
    )
    return "div_scaled_s8", "td_div_params", fields, (Table("reciprocals", "td_reciprocal", table),), 70


def _compared(sig: Signature, name: str) -> _Made:
    a, b = (_pairs.comparable(_EVERY, sig.input(i)) for i in (0, 1))
    ranks = np.unique(np.concatenate([a, b]), return_inverse=True)[1].astype(np.uint16)
    tables = (Table("a_rank", "uint16_t", ranks[:256]), Table("b_rank", "uint16_t", ranks[256:]))
    return f"{name}_ranked", "td_ranked_params", (("a_rank", "a_rank"), ("b_rank", "b_rank")), tables, 14


_MAKERS: dict[str, Callable[[Signature], _Made | None]] = {
    "prelu": _prelu,
    "squared_difference": _squared_difference,
    "div": _div,
}


def _zero_points(sig: Signature) -> tuple[tuple[str, int], ...]:
    kinds: tuple[Type, ...] = (sig.input(0), sig.input(1))
    return tuple((f"{name}_zero_point", kind.zero_point) for name, kind in zip("ab", kinds, strict=True))
