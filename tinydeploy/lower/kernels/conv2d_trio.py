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
_PRODUCT = 2**53  # bound of acc * m + c in the affine block


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights and one sample."""
    if not isinstance(ctx.node.op, Conv2d) or ctx.target.has_long_multiply or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    return [] if lin is None else [_offer(ctx, lin)]


def taps_together(weights: Ints) -> int:
    """The most taps, in equal windows but for the last, whose sums stay in their field for any int8 input."""
    taps = weights.shape[1]
    windows = 1
    while True:
        together = -(-taps // windows)
        edges = np.arange(0, taps, together)
        low = np.add.reduceat(np.minimum(weights * 127, weights * -128), edges, axis=1)
        high = np.add.reduceat(np.maximum(weights * 127, weights * -128), edges, axis=1)
        if max(int(high.max(initial=0)), -int(low.min(initial=0))) < _FIELD:
            return int(together)
        windows += 1


def _form(lin: Linear, together: int) -> str:
    """The end of the C function's name."""
    s, records = lin.scaling, lin.requant.records
    whole = together == lin.weights.shape[1] and (s.act_min, s.act_max) == (-128, 127)
    if lin.requant.affine:
        c = (records["c_hi"].astype(np.int64) << 32) + records["c_lo"].astype(np.int64)
        ends = np.abs(np.stack([s.low, s.high]) * records["m"].astype(np.int64) + c)
        return "" if whole and int(np.maximum(ends, np.abs(c)).max(initial=0)) < _PRODUCT else "_sums"
    ends = np.abs(np.stack([s.low, s.high]) + s.bias)
    whole &= int(ends.max(initial=0)) < _FIELD and bool((records["shift"] < 0).all())
    return "_exact" if whole else "_exact_sums"


def _staged_columns(plane: Plane) -> int:
    """Columns of the largest block that reaches over an end of a row, 0 where none does."""
    most = 0
    for begin, end in halves(plane.out_width, 6):
        pixels = 6 if end - begin > 3 else 3
        left = begin * plane.stride[1] - plane.pad[1]
        span = (pixels - 1) * plane.stride[1] + (plane.kernel[1] - 1) * plane.dilation[1] + 1
        if left < 0 or left + span > plane.in_width:
            most = max(most, span)
    return most


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    groups = ctx.node.op.groups
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    taps = lin.weights.shape[1]
    together = taps_together(lin.weights)
    form = _form(lin, together)
    words = (4 if plane.out_width > 3 else 2) * (taps + -(-taps // together))
    depth = plane.in_channels // groups
    return Offer(
        kernel="conv2d_trio_w8a8",
        call=Call(
            f"td_conv2d_trio_w8a8{form}",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(halves(plane.out_width, 6), reads_first=groups == 1, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d_trio.h",),
        sources=("td_conv2d_trio_w8a8.c", "td_trio.c", "td_trio_v6m.c", "td_trio_blocks_v6m.c"),
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
                ("together", together),
                ("stage", words),
                *lin.fields(),
            ),
        ),
        scratch_bytes=4 * words + _staged_columns(plane) * depth,
        cost=_cost(plane, taps, groups, form),
        note=lin.requant.note,
    )


def _cost(plane: Plane, taps: int, groups: int, form: str) -> Cost:
    blocks = halves(plane.out_width, 6)
    sixes = sum(end - begin > 3 for begin, end in blocks) * plane.out_height
    threes = len(blocks) * plane.out_height - sixes
    outputs = plane.out_height * plane.out_row
    per_output = {"": 21, "_exact": 25, "_sums": 60, "_exact_sums": 90}[form]
    per_channel = sixes * (10.4 * taps + 66) + threes * (6.4 * taps + 50)
    gather = groups * (sixes * (30 * taps + 300) + threes * (17 * taps + 250))
    instructions = int(plane.out_channels * per_channel + gather + outputs * per_output)
    return Cost(instructions, int(instructions * 1.35))
