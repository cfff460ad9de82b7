"""Depthwise convolution without SIMD: four or five pixels a block, three taps a group."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower import _pairs
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
    Target,
)
from tinydeploy.lower._linear import Linear, linear
from tinydeploy.lower._rows import Plane, split_row
from tinydeploy.lower._window import POINTER_BYTES, conv_plane, pad_tables, pixel_table, window_fields
from tinydeploy.lower.requantise import Requant, affine_terms
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATOR = "depthwise_conv2d"
_BLOCKS = (4, 5)  # pixels made at once
_PRODUCT = 2**53  # bound of acc * m + c where there is no long multiply


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights, one sample, multiplier 1, stride 1 or 2 and no dilation along a row."""
    op = ctx.node.op
    if not isinstance(op, DepthwiseConv2d) or op.multiplier != 1:
        return []
    plane = conv_plane(ctx).simplest()
    if ctx.signature.input(0).shape[0] != 1 or plane.stride[1] > 2 or (plane.dilation[1] > 1 and plane.kernel[1] > 1):
        return []
    lin = linear(ctx, (3, 0, 1, 2))
    requant = None if lin is None else _pairs.requant(lin)
    if lin is None or requant is None:
        return []
    if requant.affine and lin.scaling.reach(*affine_terms(requant.records)) >= _PRODUCT:
        return []
    return [_offer(ctx, plane, lin, requant)]


def _offer(ctx: LowerContext, plane: Plane, lin: Linear, requant: Requant) -> Offer:
    zero_point = ctx.signature.input(0).zero_point
    rows, taps = plane.kernel
    groups = -(-taps // 3)
    affine = requant.affine
    costs = {block: _cost(ctx.target, plane, rows * groups, affine, block) for block in _BLOCKS}
    block = min(_BLOCKS, key=lambda size: costs[size].instructions)
    grouped = np.zeros((plane.out_channels, rows, 3 * groups), np.int8)
    grouped[:, :, :taps] = lin.weights.reshape(-1, rows, taps)
    zeros = pixel_table("zeros", plane, zero_point)
    return Offer(
        kernel="depthwise_groups_w8a8",
        call=Call(
            f"td_depthwise_groups_s{plane.stride[1]}_w8a8{'' if affine else '_exact'}",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, block), reads_first=False, inputs=len(ctx.node.inputs)),
        headers=("td_depthwise_groups.h",),
        sources=("td_depthwise_groups_w8a8.c", "td_columns.c", "td_columns_v6m.c"),
        tables=(Table("weights", "int8_t", grouped.ravel()), requant.table(), zeros, *pad_tables(plane, zero_point)),
        params=Params(
            "td_depthwise_groups_params",
            (
                *window_fields(plane, zero_point),
                ("zeros", "zeros"),
                ("groups", groups),
                ("block", block),
                ("out_width", plane.out_width),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=rows * groups * ((block - 1) * plane.stride[1] + 3) * POINTER_BYTES,
        cost=costs[block],
        note=requant.note,
    )


def _cost(target: Target, plane: Plane, groups: int, affine: bool, block: int) -> Cost:
    row = 0.0
    for first, end in split_row(plane.out_width, block):
        pixels = end - first
        columns = (pixels - 1) * plane.stride[1] + 3
        if target.has_long_multiply:
            channel = groups * (5 + columns * 4 / 3 + 3 * pixels) + 19 + pixels * (7 if affine else 11)
        elif affine:
            channel = groups * (9 + columns + 9 * pixels) + 45 + pixels * 22
        else:
            channel = groups * pixels * 28 + pixels * 90
        row += plane.in_channels * channel + groups * columns * 9 + 60
    instructions = plane.out_height * row
    return Cost(int(instructions), int(instructions * (1.5 if target.has_long_multiply else 1.25)))
