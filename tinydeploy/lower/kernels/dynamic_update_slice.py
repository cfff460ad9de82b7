"""Dynamic_update_slice of any element type: a copy of the tensor, then the block."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, ParamsArg, Tab, Table
from tinydeploy.lower._copy import BLOCKS, width_of
from tinydeploy.lower._operand import apart, bytes_of, operand
from tinydeploy.lower._places import dense_steps, params
from tinydeploy.ops.dynamic_update_slice import DynamicUpdateSlice

OPERATOR = "dynamic_update_slice"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, whatever is constant; none above six axes."""
    x, block = ctx.signature.outputs[0], ctx.signature.input(1)
    if not isinstance(ctx.node.op, DynamicUpdateSlice):
        return []
    unit, steps = width_of(x), dense_steps(x.shape)
    walk = [(d, step, 0) for d, step in zip(block.shape[:-1], steps, strict=False)]
    room = [(d - u + 1, step) for d, u, step in zip(x.shape, block.shape, steps, strict=True)]
    wide = ctx.signature.input(2).elem is Elem.S64
    struct = params(walk, room, block.shape[-1], wide, 2 if unit == 8 else 1)
    if struct is None:
        return []
    data, update, start = operand(ctx, 0, "data"), operand(ctx, 1, "update"), operand(ctx, 2, "start")
    total = bytes_of(x)
    whole = Table("whole", "td_blocks", np.array([(1, total, total, total, 0, 0)], BLOCKS))
    function = f"td_update_slice_{min(unit, 4)}"
    put = Call(function, (ParamsArg(), update.argument, start.argument, Out(0)))
    instructions = total + 6 * block.size + 40 * (block.size // block.shape[-1])
    return [
        Offer(
            kernel=function[3:],
            call=Call("td_copy_blocks", (Tab("whole"), data.argument, Out(0)), then=(put,)),
            access=apart(ctx, data, update, start),
            headers=("td_copy.h", "td_update_slice.h"),
            sources=("td_copy.c", "td_update_slice.c"),
            tables=(whole, *data.tables, *update.tables, *start.tables),
            params=struct,
            cost=Cost(instructions, int(1.4 * instructions)),
        )
    ]
