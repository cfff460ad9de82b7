"""Depthwise convolution on cores with the vector extension: any window, eight channels of a pixel together."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array
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
from tinydeploy.lower._window import POINTER_BYTES, conv_plane, pixel_table, taps_window_fields
from tinydeploy.lower.kernels import _mve_pack
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATOR = "depthwise_conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8, constant weights above -128, an even number of channels, one sample, one output a channel."""
    if ctx.target.cpu_class != "mve" or not isinstance(ctx.node.op, DepthwiseConv2d):
        return []
    if ctx.node.op.multiplier != 1 or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (3, 0, 1, 2))
    if lin is None or not _mve_pack.fits(lin) or lin.weights.min() < -127 or len(lin.weights) % 2:
        return []
    return [_offer(ctx, lin)]


def taps_stream(lin: Linear) -> Array:
    """The stream of td_taps_mve.h."""
    weights = _mve_pack.filled(lin.weights, 8, 0)
    eights = len(weights) // 8
    taps = _mve_pack.bytes_to_words(weights.reshape(eights, 8, -1).swapaxes(1, 2).reshape(eights, -1))
    # [eights, bias m shift, even odd, four]
    scales = _mve_pack.filled(_mve_pack.records(lin), 8, 0).reshape(eights, 4, 2, 3).transpose(0, 3, 2, 1)
    scales = scales.reshape(eights, -1).astype(np.int32)
    return np.concatenate([scales[:, :8], taps, scales[:, 8:]], axis=1).ravel()


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    plane = conv_plane(ctx)
    taps = lin.weights.shape[1]
    padded = plane.needs_pad_row() or plane.needs_pad_columns()
    pad = pixel_table("pad", plane, ctx.signature.input(0).zero_point)
    return Offer(
        kernel="depthwise_conv2d_w8a8_mve",
        call=Call(
            "td_depthwise_conv2d_w8a8_mve",
            (ParamsArg(), Rows(0), Tab("stream"), Tab("pad") if padded else 0, Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 1), reads_first=False, inputs=len(ctx.node.inputs)),
        headers=("td_depthwise_conv2d_mve.h",),
        sources=("td_depthwise_conv2d_w8a8_mve.c", "td_taps_mve.c"),
        tables=(
            Table("stream", "int32_t", taps_stream(lin)),
            *((pad,) if padded else ()),
        ),
        params=Params(
            "td_depthwise_conv2d_mve_params",
            (
                *taps_window_fields(plane),
                ("out_width", plane.out_width),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=taps * POINTER_BYTES,
        cost=_cost(plane, taps),
        note=_mve_pack.NOTE,
    )


def _cost(plane: Plane, taps: int) -> Cost:
    """Per pixel: the list of taps and a call; per eight channels: pairs of taps and requantisation."""
    pixels = plane.out_height * plane.out_width
    eights = pixels * -(-plane.in_channels // 8)
    instructions = pixels * (10 * taps + 80) + eights * (7 * taps + 26)
    return Cost(instructions, 2 * instructions)
