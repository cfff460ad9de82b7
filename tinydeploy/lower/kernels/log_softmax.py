"""Logarithm of the softmax: int8 along the last axis from two tables, float32 along any."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._lines import row_access
from tinydeploy.lower.kernels.softmax import MAX_DEPTH, float_offer
from tinydeploy.ops.log_softmax import LogSoftmax

OPERATOR = "log_softmax"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32, or for int8 where the axis is the last that is longer than 1."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, LogSoftmax):
        return []
    shape, out = sig.input(0).shape, sig.outputs[0]
    if sig.input(0).elem is Elem.F32:
        return [float_offer("log_softmax_f32", shape, op.axis, 1.0)]
    depth = shape[op.axis]
    if not (is_s8(sig.inputs[0]) and is_s8(out)) or math.prod(shape[op.axis + 1 :]) != 1 or depth > MAX_DEPTH:
        return []
    if (out.scale, out.zero_point) != (1 / 16, 127):
        return []
    steps = op.steps(sig.input(0))
    length = int(np.flatnonzero(steps.terms).max(initial=0)) + 1
    rows = math.prod(shape[: op.axis])
    instructions = rows * (depth * 40 + 250)
    fields = (
        *(("depth", depth), ("terms_length", length)),
        *(("multiplier", steps.back[0]), ("shift", steps.back[1]), ("least", max(steps.least - 1, -(2**31)))),
    )
    return [
        Offer(
            kernel="log_softmax_s8",
            call=Call(
                "td_log_softmax_s8",
                (ParamsArg(), In(0), Tab("rescaled"), Tab("terms"), Out(0)),
                calls=rows,
                in_row_bytes=((0, depth),),
                out_row_bytes=(depth,),
            ),
            access=row_access(rows, depth),
            headers=("td_log_softmax.h",),
            sources=("td_log_softmax_s8.c",),
            tables=(
                Table("rescaled", "int32_t", steps.rescaled.astype(np.int32)),
                Table("terms", "int32_t", steps.terms[:length].astype(np.int32)),
            ),
            params=Params("td_log_softmax_params", fields),
            cost=Cost(instructions, int(instructions * 1.3)),
        )
    ]
