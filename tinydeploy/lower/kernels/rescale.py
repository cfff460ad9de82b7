"""Integers of one scale and width to integers of another, with or without limits; 8-bit ones go through tables."""

from __future__ import annotations

from tinydeploy.lower._contract import VIEW, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._int16 import short, unary_access
from tinydeploy.numerics.requantise import quantise_multiplier
from tinydeploy.ops._op import NO_CLAMP, clamp_limits
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.quantize import Quantize

OPERATORS = ("quantize", "clamp")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer between integers where one of them has more than 8 bits; a view where nothing changes."""
    op, source, result = ctx.node.op, ctx.signature.input(0), ctx.signature.outputs[0]
    names = (short(source), short(result))
    if None in names or set(names) <= {"s8", "u8"}:
        return []
    if isinstance(op, Quantize):
        if source.quant == result.quant and source.elem is result.elem:
            return [VIEW]
        ratio, limits = source.scale / result.scale, NO_CLAMP
    elif isinstance(op, Clamp):
        ratio, limits = op.ratio(source, result), (op.low, op.high)
    else:
        return []
    multiplier, shift = quantise_multiplier(ratio)
    low, high = clamp_limits(limits, result)
    name = f"rescale_{names[0]}_{names[1]}"
    instructions = result.size * (16 if ctx.target.has_long_multiply else 55)
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), In(0), Out(0))),
            access=unary_access(ctx),
            headers=("td_rescale.h",),
            sources=("td_rescale.c",),
            params=Params(
                "td_rescale_params",
                (
                    ("size", result.size),
                    ("in_zero_point", source.zero_point),
                    ("multiplier", multiplier),
                    ("shift", shift),
                    ("zero_point", result.zero_point),
                    ("act_min", low),
                    ("act_max", high),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.3)),
        )
    ]
