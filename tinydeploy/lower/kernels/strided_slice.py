"""Strided slice of any element type."""

from __future__ import annotations

import math

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import nd_offer
from tinydeploy.ops.strided_slice import StridedSlice

OPERATOR = "strided_slice"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where everything is selected in its order, else a copy."""
    op, shape = ctx.node.op, ctx.signature.input(0).shape
    if not isinstance(op, StridedSlice):
        return []
    elements = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sizes = ctx.signature.outputs[0].shape
    axes = [(size, stride * step) for size, stride, step in zip(sizes, op.stride, elements, strict=True)]
    return [nd_offer(ctx, axes, sum(b * step for b, step in zip(op.begin, elements, strict=True)))]
