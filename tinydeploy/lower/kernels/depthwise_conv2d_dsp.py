"""Depthwise convolution on cores with the 32-bit SIMD: any window, four channels of a pixel together."""

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
from tinydeploy.lower._window import POINTER_BYTES, conv_plane, pixel_table, taps_window_fields
from tinydeploy.lower.kernels import _dsp_requant
from tinydeploy.lower.kernels._dsp_pack import Words32, as_words
from tinydeploy.lower.kernels._dsp_requant import Affine, Exact
from tinydeploy.lower.requantise import Ints
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

OPERATOR = "depthwise_conv2d"
AFFINE_SHIFT = 2  # in td_taps_affine_dsp


def offers(ctx: LowerContext) -> list[Offer]:
    """For int8, constant weights, one sample and one output a channel; 3x3 windows can slide along a row."""
    if ctx.target.cpu_class not in ("dsp", "mve") or not isinstance(ctx.node.op, DepthwiseConv2d):
        return []
    if ctx.node.op.multiplier != 1 or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (3, 0, 1, 2))
    if lin is None:
        return []
    form = _dsp_requant.solve(lin.scaling, np.zeros(len(lin.weights), np.int64), AFFINE_SHIFT)
    if form is None:
        return []
    plane = conv_plane(ctx)
    slides = plane.kernel == (3, 3) and plane.stride == plane.dilation == (1, 1) and plane.in_channels % 4 == 0
    sliding = [_sliding(ctx, lin, form, plane)] if slides and isinstance(form, Affine) else []
    return [*sliding, _general(ctx, lin, form, plane)]


def _fours(values: Ints) -> Ints:
    """[channels, n] to [fours, 4, n], missing channels being 0."""
    padded = np.pad(values, ((0, -len(values) % 4), (0, 0)))
    return padded.reshape(len(padded) // 4, 4, -1)


def taps_stream(weights: Ints, form: Affine | Exact) -> Words32:
    """The stream of td_taps_dsp.h from weights [channels, taps]."""
    fours = _fours(weights) & 0xFFFF
    odd = fours.shape[2] % 2
    parts = []
    if isinstance(form, Exact):
        parts.append(_fours(form.bias[:, None]))
    if odd:
        single = fours[:, :, 0]
        parts.append(single[:, :2] | single[:, 2:] << 16)
    pairs = fours[:, :, odd:].swapaxes(1, 2).reshape(len(fours), -1, 2, 4)
    parts.append(pairs[:, :, 0] | pairs[:, :, 1] << 16)
    if isinstance(form, Affine):
        parts.append(_fours(np.stack([form.c & 0xFFFFFFFF, form.c >> 32, form.m], axis=1)))
    else:
        parts.append(_fours(np.stack([form.m, form.p], axis=1)))
    return as_words(np.concatenate([part.reshape(len(fours), -1) for part in parts], axis=1)).ravel()


def slide_stream(weights: Ints, form: Affine) -> Words32:
    """The stream of td_slide_dsp.h from weights [channels, 9] in the order [ky][kx]."""
    fours = _fours(weights).reshape(-1, 4, 3, 3).transpose(0, 3, 1, 2) & 0xFFFF  # [fours, kx, channel, ky]
    upper = fours[..., 0] | fours[..., 1] << 16
    lower = fours[:, :, :2, 2] | fours[:, :, 2:, 2] << 16
    columns = np.concatenate([upper, lower], axis=2).reshape(len(fours), -1)
    records = _fours(np.stack([form.c & 0xFFFFFFFF, form.c >> 32, form.m], axis=1)).reshape(len(fours), -1)
    return as_words(np.concatenate([columns, records], axis=1)).ravel()


def _general(ctx: LowerContext, lin: Linear, form: Affine | Exact, plane: Plane) -> Offer:
    taps = lin.weights.shape[1]
    affine = isinstance(form, Affine)
    return _offer(
        ctx,
        lin,
        plane,
        kernel="depthwise_conv2d_w8a8_dsp",
        function="td_depthwise_conv2d_w8a8_dsp" if affine else "td_depthwise_conv2d_w8a8_dsp_exact",
        sources=("td_depthwise_conv2d_w8a8_dsp.c", "td_taps_dsp.c"),
        stream=taps_stream(lin.weights, form),
        scratch_bytes=taps * (POINTER_BYTES + (4 if plane.in_channels % 4 else 0)),
        cost=_cost(plane, taps, affine),
        note=form.note,
    )


def _sliding(ctx: LowerContext, lin: Linear, form: Affine, plane: Plane) -> Offer:
    return _offer(
        ctx,
        lin,
        plane,
        kernel="depthwise_3x3_w8a8_dsp",
        function="td_depthwise_3x3_w8a8_dsp",
        sources=("td_depthwise_3x3_w8a8_dsp.c", "td_slide_dsp.c"),
        stream=slide_stream(lin.weights, form),
        scratch_bytes=12 * plane.in_channels,
        cost=_sliding_cost(plane),
        note=form.note,
    )


def _offer(
    ctx: LowerContext,
    lin: Linear,
    plane: Plane,
    *,
    kernel: str,
    function: str,
    sources: tuple[str, ...],
    stream: Words32,
    scratch_bytes: int,
    cost: Cost,
    note: str,
) -> Offer:
    padded = plane.needs_pad_row() or plane.needs_pad_columns()
    pad = pixel_table("pad", plane, ctx.signature.input(0).zero_point)
    return Offer(
        kernel=kernel,
        call=Call(
            function,
            (ParamsArg(), Rows(0), Tab("stream"), Tab("pad") if padded else 0, Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 1), reads_first=False, inputs=len(ctx.node.inputs)),
        headers=("td_depthwise_conv2d_dsp.h",),
        sources=sources,
        tables=(
            Table("stream", "uint32_t", stream),
            *((pad,) if padded else ()),
        ),
        params=Params(
            "td_depthwise_conv2d_dsp_params",
            (
                *taps_window_fields(plane),
                ("out_width", plane.out_width),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=scratch_bytes,
        cost=cost,
        note=note,
    )


def _cost(plane: Plane, taps: int, affine: bool) -> Cost:
    """Per pixel: the list of taps and a call; per four channels: pairs of taps and requantisation."""
    pixels = plane.out_height * plane.out_width
    rest = 20 * taps + 60 if plane.in_channels % 4 else 0
    fours = pixels * -(-plane.in_channels // 4)
    instructions = pixels * (10 * taps + 80 + rest) + fours * (7 * taps + (25 if affine else 38))
    cycles = pixels * (17 * taps + 130 + 2 * rest) + fours * (10.5 * taps + (50 if affine else 56))
    return Cost(instructions, int(cycles))


def _sliding_cost(plane: Plane) -> Cost:
    """Per row: two columns; per pixel: a call; per four channels of it: a column unpacked, sums, requantisation."""
    pixels = plane.out_height * plane.out_width
    fours = plane.in_channels // 4
    instructions = plane.out_height * (28 * fours + 150) + pixels * (70 * fours + 60)
    return Cost(instructions, plane.out_height * (56 * fours + 250) + pixels * (125 * fours + 100))
