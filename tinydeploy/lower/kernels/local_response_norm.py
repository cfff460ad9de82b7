"""Normalisation by the neighbouring channels, float32."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import (
    AccessPlan,
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Span,
)
from tinydeploy.ops.local_response_norm import LocalResponseNorm

OPERATOR = "local_response_norm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32."""
    op, x = ctx.node.op, ctx.signature.input(0)
    if not isinstance(op, LocalResponseNorm) or x.elem is not Elem.F32:
        return []
    channels = x.shape[-1]
    rows = x.size // channels
    edges = np.arange(rows + 1, dtype=np.int64) * channels * 4
    row = Span(edges[:-1], edges[1:]).hulls(-(-rows // 4096))
    window = min(op.size, channels)
    fields = (
        *(("rows", rows), ("channels", channels)),
        *(("before", min((op.size - 1) // 2, channels)), ("after", min(op.size // 2, channels))),
        *((name, float(np.float32(v))) for name, v in (("alpha", op.alpha), ("bias", op.bias), ("exponent", -op.beta))),
    )
    return [
        Offer(
            kernel="local_response_norm_f32",
            call=Call("td_local_response_norm_f32", (ParamsArg(), In(0), Out(0))),
            access=AccessPlan((row,), (row,), reads_first=False),
            headers=("td_local_response_norm.h",),
            sources=("td_local_response_norm_f32.c", "td_math.c", "td_math_pow.c"),
            params=Params("td_local_response_norm_params", fields),
            cost=Cost(x.size * (150 + 4 * window), x.size * (250 + 6 * window)),
        )
    ]
