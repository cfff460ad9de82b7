"""Depthwise convolution in plain C: four pixels a block, columns found through a table of pointers."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import (
    Call,
    Cost,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Rows,
    Scratch,
    Tab,
    Table,
)
from tinydeploy.lower._linear import Linear, linear
from tinydeploy.lower._rows import Plane, split_row
from tinydeploy.lower._window import POINTER_BYTES, conv_plane, pad_tables, pixel_table, window_fields
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATOR = "depthwise_conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights, one sample and multiplier 1."""
    op = ctx.node.op
    if not isinstance(op, DepthwiseConv2d) or ctx.signature.input(0).shape[0] != 1 or op.multiplier != 1:
        return []
    lin = linear(ctx, (3, 0, 1, 2))
    return [] if lin is None else [_offer(ctx, lin)]


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    columns = 3 * plane.stride[1] + (plane.kernel[1] - 1) * plane.dilation[1] + 1
    return Offer(
        kernel="depthwise_columns_w8a8",
        call=Call(
            "td_depthwise_columns_w8a8" if lin.requant.affine else "td_depthwise_columns_w8a8_exact",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 4), reads_first=False, inputs=len(ctx.node.inputs)),
        headers=("td_depthwise_columns.h",),
        sources=("td_depthwise_columns_w8a8.c",),
        tables=(
            Table("weights", "int8_t", lin.weights.astype(np.int8).ravel()),
            lin.requant.table(),
            pixel_table("zeros", plane, zero_point),
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_depthwise_columns_params",
            (
                *window_fields(plane, zero_point),
                ("zeros", "zeros"),
                ("out_width", plane.out_width),
                *lin.fields(),
            ),
        ),
        scratch_bytes=plane.kernel[0] * columns * POINTER_BYTES,
        cost=_cost(ctx, plane, lin),
        note=lin.requant.note,
    )


def _cost(ctx: LowerContext, plane: Plane, lin: Linear) -> Cost:
    blocks = plane.out_height * -(-plane.out_width // 4)
    outputs = plane.out_height * plane.out_row
    per_mac, per_output = (4.3, 32) if ctx.target.has_long_multiply else (7.5, 75)
    if not lin.requant.affine:
        per_output *= 2
    instructions = blocks * plane.in_channels * 4 * lin.weights.shape[1] * per_mac + outputs * per_output
    return Cost(int(instructions), int(instructions * 1.32))
