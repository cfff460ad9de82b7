"""Reshape: the output is the input's memory; a constant, which is in flash, is copied."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import VIEW, Call, LowerContext, Offer, Out, Tab, Table
from tinydeploy.lower._copy import BLOCKS, copy_cost
from tinydeploy.lower._operand import apart, bytes_of, operand

OPERATOR = "reshape"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view, whatever the element type; a copy of a constant (an output of the model that depends on no input)."""
    if ctx.constant(0) is None:
        return [VIEW]
    data, size = operand(ctx, 0, "data"), bytes_of(ctx.signature.outputs[0])
    whole = np.array([(1, size, size, size, 0, 0)], BLOCKS)
    return [
        Offer(
            kernel="copy_blocks",
            call=Call("td_copy_blocks", (Tab("whole"), data.argument, Out(0))),
            access=apart(ctx, data),
            headers=("td_copy.h",),
            sources=("td_copy.c",),
            tables=(Table("whole", "td_blocks", whole), *data.tables),
            cost=copy_cost(size, 1),
        )
    ]
