"""Convolutions and matrix products of any type and batch; int8 where the kernels of one sample do not apply."""

from __future__ import annotations

import math

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._linear import linear
from tinydeploy.lower._weighted import Layer, rounding
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.conv3d import Conv3d
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.transpose_conv import TransposeConv2d, TransposeConv3d

OPERATORS = ("conv2d", "fully_connected", "conv3d", "transpose_conv2d", "transpose_conv3d")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, or none where a row kernel takes the node."""
    op, sig = ctx.node.op, ctx.signature
    if isinstance(op, FullyConnected):
        return _fully_connected(ctx)
    if not isinstance(op, (Conv2d, Conv3d, TransposeConv2d, TransposeConv3d)):
        return []
    x, weights = sig.input(0).shape, sig.input(1).shape
    if isinstance(op, Conv2d) and x[0] == 1 and linear(ctx, (0, 1, 2, 3)) is not None:
        return []
    return Layer(ctx, "conv_nd", op.axes(x, weights), x[0], x[-1], weights[0], op.groups, rounding(ctx)).offers()


def _fully_connected(ctx: LowerContext) -> list[Offer]:
    if linear(ctx, (0, 1), rounding="once") is not None:
        return []
    x, (outputs, inputs) = ctx.signature.input(0).shape, ctx.signature.input(1).shape
    return Layer(ctx, "conv_nd", (), math.prod(x[:-1]), inputs, outputs, 1, "once").offers()
