"""Resample of float32 along one axis."""

from __future__ import annotations

import math

from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._operand import apart, operand
from tinydeploy.ops.resample import Resample

OPERATOR = "resample"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Resample):
        return []
    shape, (rows, taps) = sig.input(0).shape, sig.input(1).shape
    data, indices, weights = operand(ctx, 0, "data"), operand(ctx, 1, "indices"), operand(ctx, 2, "weights")
    fields = (
        ("outer", math.prod(shape[: op.axis])),
        ("count", shape[op.axis]),
        ("inner", math.prod(shape[op.axis + 1 :])),
        ("rows", rows),
        ("taps", taps),
    )
    instructions = 8 * op.macs(sig) + 30 * taps * rows * math.prod(shape[: op.axis])
    return [
        Offer(
            kernel="resample_f32",
            call=Call("td_resample_f32", (ParamsArg(), indices.argument, weights.argument, data.argument, Out(0))),
            access=apart(ctx, data, indices, weights),
            headers=("td_resample.h",),
            sources=("td_resample_f32.c",),
            tables=(*data.tables, *indices.tables, *weights.tables),
            params=Params("td_resample_params", fields),
            cost=Cost(instructions, 2 * instructions),
        )
    ]
