"""Element-wise product of int16."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._int16 import operands, short
from tinydeploy.lower.requantise import RECORDS
from tinydeploy.numerics.requantise import quantise_multiplier
from tinydeploy.ops._binary import product_ratio
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.mul import Mul

OPERATOR = "mul"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int16 in and out."""
    sig = ctx.signature
    if not isinstance(ctx.node.op, Mul) or {short(kind) for kind in (*sig.inputs, *sig.outputs)} != {"s16"}:
        return []
    found, kind = operands(ctx), sig.outputs[0]
    low, high = clamp_limits(ctx.node.op.clamp, kind)
    record = np.array([(0, *quantise_multiplier(product_ratio(sig)))], RECORDS["exact"])
    instructions = kind.size * (25 if ctx.target.has_long_multiply else 70)
    return [
        Offer(
            kernel="mul_s16",
            call=Call("td_mul_s16_exact", (ParamsArg(), *found.arguments, Tab("requant"), Out(0))),
            access=found.access,
            headers=("td_mul.h",),
            sources=("td_mul_s16.c",),
            tables=(*found.tables, Table("requant", "td_exact", record)),
            params=Params(
                "td_mul_params",
                (
                    *found.walk.fields(),
                    ("a_zero_point", sig.input(0).zero_point),
                    ("b_zero_point", sig.input(1).zero_point),
                    ("zero_point", kind.zero_point),
                    ("act_min", low),
                    ("act_max", high),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.3)),
        )
    ]
