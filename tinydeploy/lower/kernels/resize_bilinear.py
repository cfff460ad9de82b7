"""Bilinear resizing of float32, int8 and int16."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._operand import apart, operand, suffix
from tinydeploy.ops.resize_bilinear import ResizeBilinear

OPERATOR = "resize_bilinear"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer where scale and zero point stay."""
    op, x, y = ctx.node.op, ctx.signature.input(0), ctx.signature.outputs[0]
    if not isinstance(op, ResizeBilinear) or x.quant != y.quant:
        return []
    real = x.elem is Elem.F32
    tables: list[Table] = []
    for word, axis in (("row", 1), ("column", 2)):
        count = op.size[axis - 1]
        low, high, far = op.places(x.shape[axis], count) if real else op.integer_places(x.shape[axis], count)
        tables.append(Table(f"{word}_at", "int32_t", np.stack([low, high], 1).astype(np.int32).ravel()))
        tables.append(
            Table(f"{word}_far", "float" if real else "int32_t", far.astype(np.float32 if real else np.int32))
        )
    fields = (
        ("batches", x.shape[0]),
        ("in_height", x.shape[1]),
        ("in_width", x.shape[2]),
        ("height", op.size[0]),
        ("width", op.size[1]),
        ("depth", x.shape[3]),
        ("row_at", "row_at"),
        ("column_at", "column_at"),
    )
    data, function = operand(ctx, 0, "data"), f"td_resize_bilinear_{suffix(x.elem)}"
    instructions = 25 * y.size + 60 * x.shape[0] * op.size[0] * op.size[1]
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), Tab("row_far"), Tab("column_far"), data.argument, Out(0))),
            access=apart(ctx, data),
            headers=("td_resize_bilinear.h",),
            sources=("td_resize_bilinear.c",),
            tables=(*tables, *data.tables),
            params=Params("td_resize", fields),
            cost=Cost(instructions, int(1.5 * instructions)),
        )
    ]
