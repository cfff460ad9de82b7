"""Vectors divided by their length, float32 and int8."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._lines import Lines
from tinydeploy.ops.l2_normalize import L2Normalize

OPERATOR = "l2_normalize"
MAX_DEPTH = 2**31 // 255**2  # squares of differences of int8 whose sum stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32, or for int8 where sums stay in int32 and the output has its prescribed scale."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, L2Normalize):
        return []
    x, y = sig.input(0), sig.outputs[0]
    lines = Lines.of(x.shape, op.axes)
    if x.elem is Elem.F32:
        limit: tuple[str, int | float] = ("epsilon", float(np.float32(op.epsilon)))
        kernel, width, cost = "l2_normalize_f32", 4, 14 * x.size + 80 * lines.rows
        sources: tuple[str, ...] = ("td_l2_normalize_f32.c", "td_math.c")
    elif is_s8(x) and is_s8(y) and lines.depth <= MAX_DEPTH and (y.scale, y.zero_point) == (1 / 128, 0):
        limit = ("zero_point", x.zero_point)
        kernel, width, cost = "l2_normalize_s8", 1, 30 * x.size + 300 * lines.rows
        sources = ("td_l2_normalize_s8.c",)
    else:
        return []
    return [
        Offer(
            kernel=kernel,
            call=Call(f"td_{kernel}", (ParamsArg(), In(0), Out(0))),
            access=lines.access(width),
            headers=("td_l2_normalize.h",),
            sources=sources,
            params=Params(f"td_{kernel}_params", (*lines.fields(), limit)),
            cost=Cost(cost, cost * 3 // 2),
        )
    ]
