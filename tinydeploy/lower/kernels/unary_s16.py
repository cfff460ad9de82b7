"""Functions of one int16 element: by interpolation in a table, or by slopes above and below zero."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._int16 import short, unary_access
from tinydeploy.ops._elementwise import Unary
from tinydeploy.ops._int16 import slope_multiplier, table16
from tinydeploy.ops.activation import LeakyRelu
from tinydeploy.ops.unary import Abs

OPERATORS = ("exp", "log", "rsqrt", "gelu", "abs", "leaky_relu")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for quantised int16 in and out."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Unary) or {short(sig.inputs[0]), short(sig.outputs[0])} != {"s16"}:
        return []
    if isinstance(op, Abs):
        return [_slopes(ctx, -1.0)]
    if isinstance(op, LeakyRelu):
        return [_slopes(ctx, float(np.float32(op.alpha)))]
    function = op.interpolated(sig)
    if function is None or sig.input(0).zero_point != 0 or sig.outputs[0].zero_point != 0:
        return []
    size = sig.outputs[0].size
    return [
        Offer(
            kernel="lut_s16",
            call=Call("td_lut_s16", (Tab("table"), In(0), size, Out(0))),
            access=unary_access(ctx),
            headers=("td_sigmoid_s16.h",),
            sources=("td_sigmoid_s16.c",),
            tables=(Table("table", "int16_t", table16(sig, function).astype(np.int16)),),
            cost=Cost(14 * size, 20 * size),
        )
    ]


def _slopes(ctx: LowerContext, below: float) -> Offer:
    """``below`` is the slope under zero."""
    source, kind = ctx.signature.input(0), ctx.signature.outputs[0]
    above, under = (slope_multiplier(ctx.signature, slope) for slope in (1.0, abs(below)))
    fields = (
        ("size", kind.size),
        ("in_zero_point", source.zero_point),
        ("multiplier", above[0]),
        ("shift", above[1]),
        ("low_multiplier", under[0]),
        ("low_shift", under[1]),
        ("low_sign", -1 if below < 0 else 1),
        ("zero_point", kind.zero_point),
    )
    instructions = kind.size * (18 if ctx.target.has_long_multiply else 60)
    return Offer(
        kernel="slopes_s16",
        call=Call("td_slopes_s16", (ParamsArg(), In(0), Out(0))),
        access=unary_access(ctx),
        headers=("td_rescale.h",),
        sources=("td_rescale.c",),
        params=Params("td_slopes_params", fields),
        cost=Cost(instructions, int(instructions * 1.3)),
    )
