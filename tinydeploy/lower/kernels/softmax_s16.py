"""Softmax of int16 along any axis."""

from __future__ import annotations

import math

import numpy as np

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
    Tab,
    Table,
)
from tinydeploy.lower._int16 import short
from tinydeploy.numerics.wide import exp_table, reciprocal_table, softmax_multiplier
from tinydeploy.ops._int16 import has_unit_scale
from tinydeploy.ops.softmax import Softmax

OPERATOR = "softmax"
MAX_DEPTH = 2**16 - 1  # exponentials of 15 bits whose sum stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int16 with results in steps of 2**-15."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Softmax) or short(sig.inputs[0]) != "s16" or not has_unit_scale(sig.outputs[0]):
        return []
    shape = sig.input(0).shape
    outer, depth, inner = math.prod(shape[: op.axis]), shape[op.axis], math.prod(shape[op.axis + 1 :])
    if depth > MAX_DEPTH:
        return []
    multiplier, shift = softmax_multiplier(sig.input(0).scale, op.beta)
    sizes = (("outer", outer), ("depth", depth), ("inner", inner), ("multiplier", multiplier), ("shift", shift))
    edges = np.arange(outer + 1, dtype=np.int64) * depth * inner * 2
    block = Span(edges[:-1], edges[1:])
    instructions = outer * inner * (depth * 55 + 120)
    return [
        Offer(
            kernel="softmax_s16",
            call=Call("td_softmax_s16", (ParamsArg(), Tab("exp"), Tab("reciprocal"), In(0), Out(0))),
            access=AccessPlan((block,), (block,), reads_first=False),
            headers=("td_softmax_s16.h",),
            sources=("td_softmax_s16.c",),
            tables=(
                Table("exp", "int16_t", exp_table().astype(np.int16)),
                Table("reciprocal", "int16_t", reciprocal_table().astype(np.int16)),
            ),
            params=Params("td_softmax_s16_params", sizes),
            cost=Cost(instructions, int(instructions * 1.3)),
        )
    ]
