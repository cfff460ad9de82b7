"""Batch normalisation that no pass took up (its statistics are computed, or not finite), float32."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import AccessPlan, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, whole
from tinydeploy.lower._operands import operands
from tinydeploy.ops.batch_norm import BatchNorm

OPERATOR = "batch_norm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, BatchNorm) or any(kind is None or kind.elem is not Elem.F32 for kind in sig.inputs):
        return []
    channels, size = sig.input(0).shape[-1], sig.input(0).size
    arguments, tables = operands(ctx, ("gamma", "beta", "mean", "variance"), first=1)
    sizes = [4 * size, *(4 * channels,) * 4]
    reads = tuple(whole(n) if ctx.constant(i) is None else None for i, n in enumerate(sizes))
    fields = (("rows", size // channels), ("channels", channels), ("epsilon", float(np.float32(op.epsilon))))
    return [
        Offer(
            kernel="batch_norm_f32",
            call=Call("td_batch_norm_f32", (ParamsArg(), In(0), *arguments, Out(0))),
            access=AccessPlan(reads, (whole(sig.outputs[0].nbytes),), reads_first=False),
            headers=("td_batch_norm.h",),
            sources=("td_batch_norm_f32.c", "td_math.c"),
            tables=tables,
            params=Params("td_batch_norm_params", fields),
            cost=Cost(8 * size + 60 * channels, 12 * size + 100 * channels),
        )
    ]
