"""Transpose of any element type."""

from __future__ import annotations

import math

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import nd_offer
from tinydeploy.ops.transpose import Transpose

OPERATOR = "transpose"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where only axes of length 1 move, else a copy."""
    op, shape = ctx.node.op, ctx.signature.input(0).shape
    if not isinstance(op, Transpose):
        return []
    steps = [math.prod(shape[axis + 1 :]) for axis in op.perm]
    return [nd_offer(ctx, [(shape[axis], step) for axis, step in zip(op.perm, steps, strict=True)], 0)]
