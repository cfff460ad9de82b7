"""Scatter_elements and scatter_nd: a copy of the tensor, then the updates."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Argument, Call, Cost, LowerContext, Offer, Out, ParamsArg, Tab, Table
from tinydeploy.lower._copy import BLOCKS, width_of
from tinydeploy.lower._operand import apart, bytes_of, is_simple, operand, suffix
from tinydeploy.lower._places import Walk, dense_steps, indices_operand, params
from tinydeploy.ops.scatter import ScatterElements, ScatterNd

OPERATORS = ("scatter_elements", "scatter_nd")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, whatever is constant; none for sums and products of quantised numbers."""
    op, x, shape = ctx.node.op, ctx.signature.outputs[0], ctx.signature.input(1).shape
    steps, rows = dense_steps(x.shape), dense_steps(shape)
    walk: Walk
    if isinstance(op, ScatterElements):
        walk = [(d, 0 if i == op.axis else steps[i], rows[i]) for i, d in enumerate(shape)]
        indexed, size = [(x.shape[op.axis], steps[op.axis])], 1
    elif isinstance(op, ScatterNd):
        walk = [(math.prod(shape[:-1]), 0, shape[-1])]
        indexed = [(x.shape[i], steps[i]) for i in range(shape[-1])]
        size = math.prod(x.shape[shape[-1] :])
    else:
        return []
    if not is_simple(x.elem) or (op.reduction in ("add", "mul") and x.quant is not None):
        return []
    indices, wide = indices_operand(ctx, 1, np.array([count for count, _ in indexed]))
    words = 2 if op.reduction == "none" and width_of(x) == 8 else 1
    struct = params(walk, indexed, size, wide, words)
    if struct is None:
        return []
    data, updates = operand(ctx, 0, "data"), operand(ctx, 2, "updates")
    total = bytes_of(x)
    whole = Table("whole", "td_blocks", np.array([(1, total, total, total, 0, 0)], BLOCKS))
    function = f"td_scatter_{_name(op.reduction, x.elem)}"
    arguments: tuple[Argument, ...] = (ParamsArg(), indices.argument, updates.argument, Out(0))
    instructions = total + ctx.signature.input(2).size * (50 if size == 1 else 12)
    return [
        Offer(
            kernel=function[3:],
            call=Call("td_copy_blocks", (Tab("whole"), data.argument, Out(0)), then=(Call(function, arguments),)),
            access=apart(ctx, data, indices, updates),
            headers=("td_copy.h", "td_scatter.h"),
            sources=("td_copy.c", "td_scatter.c"),
            tables=(whole, *data.tables, *indices.tables, *updates.tables),
            params=struct,
            cost=Cost(instructions, int(1.4 * instructions)),
        )
    ]


def _name(reduction: str, elem: Elem) -> str:
    """Of the C function, behind td_scatter_."""
    if reduction == "none":
        return f"put_{min(elem.dtype.itemsize, 4)}"
    if reduction in ("add", "mul") and elem is not Elem.F32:
        return f"{reduction}_{elem.bits}"
    return f"{reduction}_{suffix(elem)}"
