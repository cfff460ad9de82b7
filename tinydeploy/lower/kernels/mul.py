"""Element-wise product of int8."""

from __future__ import annotations

import itertools

import numpy as np

from tinydeploy.lower import requantise
from tinydeploy.lower._broadcast import binary
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg, Tab
from tinydeploy.ops._binary import product_ratio
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.mul import Mul

OPERATOR = "mul"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8."""
    pair = binary(ctx)
    if pair is None or not isinstance(ctx.node.op, Mul):
        return []
    a, b, kind = pair.sig.input(0), pair.sig.input(1), pair.sig.outputs[0]
    products = [x * y for x, y in itertools.product(_ends(a.zero_point), _ends(b.zero_point))]
    low, high = clamp_limits(ctx.node.op.clamp, kind)
    requant = requantise.solve(
        requantise.Scaling(
            bias=np.zeros(1, np.int64),
            ratio=np.array([product_ratio(pair.sig)], np.float64),
            low=np.array([min(products)]),
            high=np.array([max(products)]),
            zero_point=kind.zero_point,
            act_min=low,
            act_max=high,
        )
    )
    assert requant is not None  # double rounding always has the exact form
    instructions = kind.size * (20 if ctx.target.has_long_multiply else 60)
    return [
        Offer(
            kernel="mul_s8",
            call=Call(
                "td_mul_s8" if requant.affine else "td_mul_s8_exact",
                (ParamsArg(), *pair.arguments, Tab("requant"), Out(0)),
                out_row_bytes=(0,),
            ),
            access=pair.access,
            headers=("td_mul.h",),
            sources=("td_mul_s8.c",),
            tables=(*pair.tables, requant.table()),
            params=Params(
                "td_mul_params",
                (
                    *pair.walk.fields(),
                    ("a_zero_point", a.zero_point),
                    ("b_zero_point", b.zero_point),
                    ("shift", requant.shift),
                    ("zero_point", kind.zero_point),
                    ("act_min", low),
                    ("act_max", high),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.3)),
            note=requant.note,
        )
    ]


def _ends(zero_point: int) -> tuple[int, int]:
    return -128 - zero_point, 127 - zero_point
