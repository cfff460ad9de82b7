"""One_hot of any element type."""

from __future__ import annotations

import math

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._copy import width_of
from tinydeploy.lower._operand import apart, operand
from tinydeploy.ops.one_hot import OneHot

OPERATOR = "one_hot"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, whatever is constant."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, OneHot):
        return []
    indices, values = operand(ctx, 0, "indices"), operand(ctx, 1, "values")
    function, shape = f"td_one_hot_{width_of(sig.outputs[0])}", sig.input(0).shape
    fields = (
        ("outer", math.prod(shape[: op.axis])),
        ("depth", op.depth),
        ("inner", math.prod(shape[op.axis :])),
        ("wide", int(sig.input(0).elem is Elem.S64)),
        ("from_end", int(op.from_end)),
    )
    instructions = 25 * sig.outputs[0].size
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), indices.argument, values.argument, Out(0))),
            access=apart(ctx, indices, values),
            headers=("td_one_hot.h",),
            sources=("td_one_hot.c",),
            tables=(*indices.tables, *values.tables),
            params=Params("td_one_hot_params", fields),
            cost=Cost(instructions, int(1.4 * instructions)),
        )
    ]
