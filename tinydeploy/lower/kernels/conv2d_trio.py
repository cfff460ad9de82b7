"""Convolution without a long multiply (M0, M23): three pixels by two multiplications, six pixels a block."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower import _trio
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
from tinydeploy.lower._window import conv_plane, pad_tables, window_fields
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights and one sample, where sums and products fit the blocks."""
    if not isinstance(ctx.node.op, Conv2d) or ctx.target.has_long_multiply or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    if lin is None:
        return []
    blocks = _trio.blocks(lin)
    return [] if blocks is None else [_offer(ctx, lin, blocks)]


def _staged_columns(plane: Plane) -> int:
    """Columns of the largest block that reaches over an end of a row, 0 where none does."""
    most = 0
    for begin, end in split_row(plane.out_width, 6):
        pixels = 6 if end - begin > 3 else 3
        left = (end - pixels) * plane.stride[1] - plane.pad[1]
        span = (pixels - 1) * plane.stride[1] + (plane.kernel[1] - 1) * plane.dilation[1] + 1
        if left < 0 or left + span > plane.in_width:
            most = max(most, span)
    return most


def _offer(ctx: LowerContext, lin: Linear, blocks: _trio.Blocks) -> Offer:
    groups = ctx.node.op.groups
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    taps = lin.weights.shape[1]
    words = (4 if plane.out_width > 3 else 2) * (taps + blocks.windows)
    depth = plane.in_channels // groups
    return Offer(
        kernel="conv2d_trio_w8a8",
        call=Call(
            f"td_conv2d_trio_w8a8{blocks.form}",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 6), reads_first=groups == 1, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d_trio.h",),
        sources=(
            "td_conv2d_trio_w8a8.c",
            "td_trio.c",
            "td_trio_v6m.c",
            "td_trio_blocks_v6m.c",
            "td_trio_windows_v6m.c",
        ),
        tables=(
            Table("weights", "uint8_t", (lin.weights + 128).astype(np.uint8).ravel()),
            blocks.requant,
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_conv2d_trio_params",
            (
                *window_fields(plane, zero_point),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                ("groups", groups),
                ("together", taps // blocks.windows),
                ("stage", words),
                ("constant", blocks.constant),
                ("part", blocks.part),
                ("act_min", lin.scaling.act_min),
                ("act_max", lin.scaling.act_max),
            ),
        ),
        scratch_bytes=4 * words + _staged_columns(plane) * depth,
        cost=_cost(ctx, plane, taps, blocks),
        note=blocks.note,
    )


def _cost(ctx: LowerContext, plane: Plane, taps: int, how: _trio.Blocks) -> Cost:
    """Per block: windows are gathered; then per channel the taps, what is done once, and the rounding of each pixel."""
    groups = ctx.node.op.groups
    blocks = split_row(plane.out_width, 6)
    sixes = sum(end - begin > 3 for begin, end in blocks) * plane.out_height
    threes = len(blocks) * plane.out_height - sixes
    outputs = plane.out_height * plane.out_row
    per_output = {"_short": 16, "": 21, "_exact": 25, "_windows": 28, "_exact_windows": 34}[how.form]
    once = 67 if how.windows == 1 else 50 + 50 * how.windows
    channels = plane.out_channels * (sixes * (10.4 * taps + once) + threes * (6.4 * taps + 0.8 * once))
    gather = groups * (sixes * (28 * taps + 200) + threes * (17 * taps + 200) + (sixes + threes) * plane.kernel[0] * 70)
    instructions = int(channels + gather + outputs * per_output)
    return Cost(instructions, int(instructions * 1.45))
