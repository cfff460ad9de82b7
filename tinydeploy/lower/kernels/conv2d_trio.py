"""Convolution without a long multiply (M0, M23): three pixels by two multiplications, six pixels a block."""

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
from tinydeploy.lower._rows import Plane, halves
from tinydeploy.lower.kernels.conv2d import conv_plane, pad_tables, window_fields
from tinydeploy.lower.requantise import Ints
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"
_FIELD = 2**20  # bound of a window's sums


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights and one sample, where sums and products fit the blocks."""
    if not isinstance(ctx.node.op, Conv2d) or ctx.target.has_long_multiply or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    if lin is None:
        return []
    windows = window_count(lin.weights)
    return [_offer(ctx, lin, windows)] if _fits(lin, windows) else []


def window_count(weights: Ints) -> int:
    """The fewest windows of equal size whose sums stay in their field for any int8 input."""
    taps = weights.shape[1]
    least, most = np.minimum(weights * 127, weights * -128), np.maximum(weights * 127, weights * -128)
    windows = 1
    while True:
        if taps % windows == 0:
            edges = np.arange(0, taps, taps // windows)
            low, high = np.add.reduceat(least, edges, axis=1), np.add.reduceat(most, edges, axis=1)
            if max(int(high.max(initial=0)), -int(low.min(initial=0))) < _FIELD:
                return windows
        windows += 1


def _fits(lin: Linear, windows: int) -> bool:
    """True if the blocks' parts of products stay in 32 bits."""
    s, records = lin.scaling, lin.requant.records
    sums, products = (_FIELD, 2**53) if windows == 1 else (2**23, 2**55)
    if not s.sums_below(sums):
        return False
    if lin.requant.affine:
        c = (records["c_hi"].astype(np.int64) << 32) + records["c_lo"].astype(np.int64)
        ends = np.abs(np.stack([s.low, s.high]) * records["m"].astype(np.int64) + c)
        return int(np.maximum(ends, np.abs(c)).max(initial=0)) < products
    ends = np.abs(np.stack([s.low, s.high]) + s.bias)
    return int(ends.max(initial=0)) < sums and bool((records["shift"] < 0).all())


def _staged_columns(plane: Plane) -> int:
    """Columns of the largest block that reaches over an end of a row, 0 where none does."""
    most = 0
    for begin, end in halves(plane.out_width, 6):
        pixels = 6 if end - begin > 3 else 3
        left = (end - pixels) * plane.stride[1] - plane.pad[1]
        span = (pixels - 1) * plane.stride[1] + (plane.kernel[1] - 1) * plane.dilation[1] + 1
        if left < 0 or left + span > plane.in_width:
            most = max(most, span)
    return most


def _offer(ctx: LowerContext, lin: Linear, windows: int) -> Offer:
    groups = ctx.node.op.groups
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    taps = lin.weights.shape[1]
    exact = not lin.requant.affine
    words = (4 if plane.out_width > 3 else 2) * (taps + windows)
    depth = plane.in_channels // groups
    return Offer(
        kernel="conv2d_trio_w8a8",
        call=Call(
            f"td_conv2d_trio_w8a8{'_exact' * exact}{'_windows' * (windows > 1)}",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(halves(plane.out_width, 6), reads_first=groups == 1, inputs=len(ctx.node.inputs)),
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
            lin.requant.table(),
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_conv2d_trio_params",
            (
                *window_fields(plane, zero_point),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                ("groups", groups),
                ("together", taps // windows),
                ("stage", words),
                ("constant", 2 * lin.scaling.zero_point + 1 if exact else 10 + lin.requant.shift),
                ("act_min", lin.scaling.act_min),
                ("act_max", lin.scaling.act_max),
            ),
        ),
        scratch_bytes=4 * words + _staged_columns(plane) * depth,
        cost=_cost(ctx, plane, taps, windows, exact),
        note=lin.requant.note,
    )


def _cost(ctx: LowerContext, plane: Plane, taps: int, windows: int, exact: bool) -> Cost:
    """Per block: windows are gathered; then per channel the taps, what is done once, and the rounding of each pixel."""
    groups = ctx.node.op.groups
    blocks = halves(plane.out_width, 6)
    sixes = sum(end - begin > 3 for begin, end in blocks) * plane.out_height
    threes = len(blocks) * plane.out_height - sixes
    outputs = plane.out_height * plane.out_row
    per_output = (25 if exact else 21) if windows == 1 else (34 if exact else 28)
    once = 67 if windows == 1 else 50 + 50 * windows
    channels = plane.out_channels * (sixes * (10.4 * taps + once) + threes * (6.4 * taps + 0.8 * once))
    gather = groups * (sixes * (28 * taps + 200) + threes * (17 * taps + 200) + (sixes + threes) * plane.kernel[0] * 70)
    instructions = int(channels + gather + outputs * per_output)
    return Cost(instructions, int(instructions * 1.35))
