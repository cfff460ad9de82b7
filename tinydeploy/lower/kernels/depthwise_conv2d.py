"""Plain C depthwise convolution for every core: four pixels of a channel at a time."""

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
    Tab,
    Table,
)
from tinydeploy.lower._linear import Linear, linear
from tinydeploy.lower._rows import split_inner
from tinydeploy.lower._window import conv_plane, pad_tables, window_fields
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATOR = "depthwise_conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights and one sample."""
    if not isinstance(ctx.node.op, DepthwiseConv2d) or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (3, 0, 1, 2))
    return [] if lin is None else [_offer(ctx, lin)]


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    begin, end = plane.inner()
    outputs = plane.out_height * plane.out_row
    instructions = outputs * (15 * lin.weights.shape[1] + (40 if ctx.target.has_long_multiply else 75))
    return Offer(
        kernel="depthwise_conv2d_w8a8",
        call=Call(
            "td_depthwise_conv2d_w8a8" if lin.requant.affine else "td_depthwise_conv2d_w8a8_exact",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0)),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(
            split_inner(plane.out_width, 4, begin, end), reads_first=False, inputs=len(ctx.node.inputs)
        ),
        headers=("td_depthwise_conv2d.h",),
        sources=("td_depthwise_conv2d_w8a8.c",),
        tables=(
            Table("weights", "int8_t", lin.weights.astype(np.int8).ravel()),
            lin.requant.table(),
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_depthwise_conv2d_params",
            (
                *window_fields(plane, zero_point),
                ("out_width", plane.out_width),
                ("multiplier", ctx.node.op.multiplier),
                ("inner_begin", begin),
                ("inner_end", end),
                *lin.fields(),
            ),
        ),
        cost=Cost(instructions, int(instructions * 1.3)),
        note=lin.requant.note,
    )
