"""Softmax: int8 along the last axis from a table of exponentials, float32 along any."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import (
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Tab,
    Table,
)
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._lines import line_access, row_access
from tinydeploy.ops.softmax import Softmax

OPERATOR = "softmax"
MAX_DEPTH = 4095  # equal inputs whose Q12.19 sum stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32, or for int8 where the axis is the last that is longer than 1."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Softmax):
        return []
    shape, out = sig.input(0).shape, sig.outputs[0]
    if sig.input(0).elem is Elem.F32:
        return [float_offer("softmax_f32", shape, op.axis, op.beta)]
    depth = shape[op.axis]
    if not (is_s8(sig.inputs[0]) and is_s8(out)) or math.prod(shape[op.axis + 1 :]) != 1 or depth > MAX_DEPTH:
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


def float_offer(kernel: str, shape: tuple[int, ...], axis: int, beta: float) -> Offer:
    """The offer of softmax or its logarithm in float32."""
    outer, depth, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    size = math.prod(shape)
    fields = (("outer", outer), ("depth", depth), ("inner", inner), ("beta", float(np.float32(beta))))
    return Offer(
        kernel=kernel,
        call=Call(f"td_{kernel}", (ParamsArg(), In(0), Out(0))),
        access=line_access(outer, depth, inner, 4),
        headers=("td_softmax_f32.h",),
        sources=("td_softmax_f32.c", "td_math.c"),
        params=Params("td_softmax_f32_params", fields),
        cost=Cost(70 * size + 60 * outer * inner, 100 * size + 100 * outer * inner),
    )
