"""Convolution on cores with the vector extension: four pixels by two channels, sixteen taps at a time."""

from __future__ import annotations

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
from tinydeploy.lower._window import conv_plane, pixel_table, row_fields
from tinydeploy.lower.kernels import _mve_pack
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"
MAX_CHANNELS = 2**14  # offsets of four pixels are 16-bit


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for ungrouped int8 with constant weights and one sample."""
    if ctx.target.cpu_class != "mve" or not isinstance(ctx.node.op, Conv2d):
        return []
    if ctx.node.op.groups != 1 or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    if lin is None or not _mve_pack.fits(lin) or len(lin.weights) > MAX_CHANNELS:
        return []
    return [_offer(ctx, lin)]


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    plane = conv_plane(ctx)
    if plane.is_pointwise:
        plane = plane.as_one_row()
    padded = plane.needs_pad_row() or plane.needs_pad_columns()
    pad = pixel_table("pad", plane, ctx.signature.input(0).zero_point, plane.kernel[1])
    steps = -(-lin.weights.shape[1] // _mve_pack.VECTOR)
    return Offer(
        kernel="conv2d_w8a8_mve",
        call=Call(
            "td_conv2d_w8a8_mve",
            (ParamsArg(), Rows(0), Tab("stream"), Tab("pad") if padded else 0, Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 4), reads_first=True, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d_mve.h",),
        sources=("td_conv2d_w8a8_mve.c", "td_block_mve.c"),
        tables=(
            Table("stream", "int32_t", _mve_pack.pair_stream(lin)),
            *((pad,) if padded else ()),
        ),
        params=Params(
            "td_conv2d_mve_params",
            (
                *row_fields(plane),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=4 * _mve_pack.VECTOR * steps,
        cost=_cost(plane, steps),
        note=_mve_pack.NOTE,
    )


def _cost(plane: Plane, steps: int) -> Cost:
    """Per four pixels: windows and calls; per pair of channels: steps of sixteen taps and requantisation."""
    quads = plane.out_height * -(-plane.out_width // 4)
    blocks = quads * -(-plane.out_channels // 2)
    gather = 140 + plane.kernel[0] * (60 + 12 * -(-plane.kernel[1] * plane.in_channels // _mve_pack.VECTOR))
    instructions = quads * gather + blocks * (14 * steps + 27)
    return Cost(instructions, 2 * instructions)
