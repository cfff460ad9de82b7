"""Mean and sum of int16 over any axes, and mean of int8 over axes that `mean` does not take."""

from __future__ import annotations

from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._int16 import short
from tinydeploy.lower._operand import apart, operand
from tinydeploy.lower.kernels import mean
from tinydeploy.lower.kernels.reduce import walk_fields
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.reduce import ReduceSum

OPERATORS = ("mean", "reduce_sum")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for quantised int16 in and out; for int8 where there is no other."""
    op, x, kind = ctx.node.op, ctx.signature.input(0), ctx.signature.outputs[0]
    names = {short(x), short(kind)}
    if not isinstance(op, (Mean, ReduceSum)) or names not in ({"s8"}, {"s16"}):
        return []
    multiplier, shift = op.multiplier(ctx.signature)
    if shift < -31 or (names == {"s8"} and (isinstance(op, ReduceSum) or mean.offers(ctx))):
        return []  # sums of int8 round once
    offset = (x.zero_point * op.count(x.shape) + 2**31) % 2**32 - 2**31
    name, data = f"mean_any_{names.pop()}", operand(ctx, 0, "data")
    instructions = 6 * x.size + 40 * kind.size
    fields = (
        *walk_fields(op, x.shape, "axes."),
        ("offset", offset),
        ("multiplier", multiplier),
        ("shift", shift),
        ("zero_point", kind.zero_point),
        *zip(("act_min", "act_max"), kind.elem.limits, strict=True),
    )
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), data.argument, Out(0))),
            access=apart(ctx, data),
            headers=("td_mean_any.h",),
            sources=("td_mean_any.c",),
            tables=data.tables,
            params=Params("td_mean_any_params", fields),
            cost=Cost(instructions, int(1.5 * instructions)),
        )
    ]
