"""Softmax along the last axis, from a table of exponentials."""

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
from tinydeploy.lower._linear import is_s8
from tinydeploy.ops.softmax import Softmax

OPERATOR = "softmax"
MAX_DEPTH = 4095  # equal inputs whose Q12.19 sum stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 where the axis is the last that is longer than 1."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Softmax) or not is_s8(sig.inputs[0]) or not is_s8(sig.outputs[0]):
        return []
    shape, out = sig.input(0).shape, sig.outputs[0]
    depth = shape[op.axis]
    if math.prod(shape[op.axis + 1 :]) != 1 or depth > MAX_DEPTH:
        return []
    if (out.scale, out.zero_point) != (1 / 256, -128):
        return []
    table = op.table(sig.input(0))
    length = int(np.flatnonzero(table).max(initial=0)) + 1
    rows = math.prod(shape[: op.axis])
    instructions = rows * (depth * 45 + 150)
    return [
        Offer(
            kernel="softmax_s8",
            call=Call(
                "td_softmax_s8",
                (ParamsArg(), In(0), Tab("table"), Out(0)),
                calls=rows,
                in_row_bytes=((0, depth),),
                out_row_bytes=(depth,),
            ),
            access=row_access(rows, depth),
            headers=("td_softmax.h",),
            sources=("td_softmax_s8.c",),
            tables=(Table("table", "int32_t", table[:length].astype(np.int32)),),
            params=Params("td_softmax_params", (("depth", depth), ("table_length", length))),
            cost=Cost(instructions, int(instructions * 1.3)),
        )
    ]


def row_access(rows: int, depth: int) -> AccessPlan:
    """Row after row: the row is read whole, then read and written element by element."""
    start = np.repeat(np.arange(rows, dtype=np.int64) * depth, depth + 1)
    element = np.tile(np.arange(-1, depth, dtype=np.int64), rows)
    first = element < 0
    low = start + np.where(first, 0, element)
    reads = Span(low, start + np.where(first, depth, element + 1))
    writes = Span(low, np.where(first, low, low + 1))
    return AccessPlan((reads,), (writes,), reads_first=True)
