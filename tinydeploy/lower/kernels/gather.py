"""Gather, gather_nd and gather_elements of any element type."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._copy import copy_cost, width_of
from tinydeploy.lower._operand import Operand, apart, operand
from tinydeploy.lower._places import Walk, dense_steps, indices_operand, params
from tinydeploy.ops.gather import Gather, GatherElements, GatherNd

OPERATORS = ("gather", "gather_nd", "gather_elements")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, whatever is constant; none where the walk has more than six axes."""
    op, kinds = ctx.node.op, ctx.signature
    x = kinds.input(0)
    indices_shape, steps = kinds.input(1).shape, dense_steps(x.shape)
    walk: Walk
    if isinstance(op, Gather):
        batch, axis, rows = op.batch_dims, op.axis, dense_steps(indices_shape)
        walk = [(indices_shape[i], steps[i], rows[i]) for i in range(batch)]
        walk += [(x.shape[i], steps[i], 0) for i in range(batch, axis)]
        walk += [(d, 0, rows[i]) for i, d in enumerate(indices_shape) if i >= batch]
        indexed, size = [(x.shape[axis], steps[axis])], steps[axis]
    elif isinstance(op, GatherNd):
        batch, depth = op.batch_dims, indices_shape[-1]
        rows = dense_steps(indices_shape)
        walk = [(d, steps[i] if i < batch else 0, rows[i]) for i, d in enumerate(indices_shape[:-1])]
        indexed = [(x.shape[batch + i], steps[batch + i]) for i in range(depth)]
        size = math.prod(x.shape[batch + depth :])
    elif isinstance(op, GatherElements):
        rows = dense_steps(indices_shape)
        walk = [(d, 0 if i == op.axis else steps[i], rows[i]) for i, d in enumerate(indices_shape)]
        indexed, size = [(x.shape[op.axis], steps[op.axis])], 1
    else:
        return []
    unit = width_of(x)
    indices, wide = indices_operand(ctx, 1, np.array([count for count, _ in indexed]))
    struct = params(walk, indexed, size, wide, 2 if unit == 8 else 1)
    return [] if struct is None else [_offer(ctx, struct, indices, unit, size)]


def _offer(ctx: LowerContext, struct: Params, indices: Operand, unit: int, slice_size: int) -> Offer:
    data, total = operand(ctx, 0, "data"), ctx.signature.outputs[0].size
    runs = total // slice_size
    moved = copy_cost(total * unit, runs)
    places = 15 * runs * ctx.signature.input(1).rank
    function = f"td_gather_{min(unit, 4)}"
    return Offer(
        kernel=function[3:],
        call=Call(function, (ParamsArg(), data.argument, indices.argument, Out(0))),
        access=apart(ctx, data, indices),
        headers=("td_gather.h",),
        sources=("td_gather.c", "td_copy.c"),
        tables=(*data.tables, *indices.tables),
        params=struct,
        cost=Cost(moved.instructions + places, moved.cycles + 2 * places),
    )
