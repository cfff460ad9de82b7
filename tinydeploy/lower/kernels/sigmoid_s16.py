"""Logistic function and hyperbolic tangent of int16."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._int16 import short, unary_access
from tinydeploy.numerics.wide import sigmoid_multiplier, sigmoid_table
from tinydeploy.ops._int16 import has_unit_scale

OPERATORS = ("logistic", "tanh")
_MAX_MULTIPLIER = 2**16 - 1  # times any int16 stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int16 without a zero point and results in steps of 2**-15."""
    source, result = ctx.signature.input(0), ctx.signature.outputs[0]
    if short(source) != "s16" or source.zero_point != 0 or not has_unit_scale(result):
        return []
    multiplier, shift = sigmoid_multiplier(source.scale)
    if multiplier > _MAX_MULTIPLIER or shift > 30:
        return []
    name = f"{ctx.node.op.name}_s16"
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), Tab("table"), In(0), Out(0))),
            access=unary_access(ctx),
            headers=("td_sigmoid_s16.h",),
            sources=("td_sigmoid_s16.c",),
            tables=(Table("table", "uint16_t", sigmoid_table().astype(np.uint16)),),
            params=Params(
                "td_sigmoid_s16_params", (("size", result.size), ("multiplier", multiplier), ("shift", shift))
            ),
            cost=Cost(24 * result.size, 32 * result.size),
        )
    ]
