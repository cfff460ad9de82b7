"""Depthwise convolutions of any type and batch; int8 where the kernels of one sample do not apply."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._linear import linear
from tinydeploy.lower._weighted import Layer, rounding
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATORS = ("depthwise_conv2d",)


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, or none where a row kernel takes the node."""
    op = ctx.node.op
    if not isinstance(op, DepthwiseConv2d):
        return []
    x, weights = ctx.signature.input(0).shape, ctx.signature.input(1).shape
    if x[0] == 1 and linear(ctx, (3, 0, 1, 2)) is not None:
        return []
    return Layer(ctx, "depthwise_nd", op.axes(x, weights), x[0], x[3], weights[3], x[3], rounding(ctx)).offers()
