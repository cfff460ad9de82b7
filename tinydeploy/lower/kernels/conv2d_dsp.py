"""Convolution on cores with the 32-bit SIMD: two pixels by two channels, weights of one byte, small scratch."""

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
from tinydeploy.lower._window import POINTER_BYTES, conv_plane, pixel_table, row_fields
from tinydeploy.lower.kernels import _dsp_pack, _dsp_requant
from tinydeploy.lower.kernels._dsp_dense import dense_offers
from tinydeploy.lower.kernels._dsp_requant import Affine, Exact
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"
AFFINE_SHIFT = 2  # in td_block_affine_dsp


def offers(ctx: LowerContext) -> list[Offer]:
    """For ungrouped int8 with constant weights and one sample; a window as large as the input is a dense layer."""
    if ctx.target.cpu_class not in ("dsp", "mve") or not isinstance(ctx.node.op, Conv2d):
        return []
    if ctx.node.op.groups != 1 or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    if lin is None or not _dsp_pack.fits(lin.weights):
        return []
    form = _dsp_requant.solve(lin.scaling, _dsp_pack.lane_bits(len(lin.weights)), AFFINE_SHIFT)
    dense = dense_offers(ctx, lin, 1) if _is_dense(conv_plane(ctx)) else []
    return dense if form is None else [_offer(ctx, lin, form), *dense]


def _is_dense(plane: Plane) -> bool:
    """True where the one window is the whole input, in its order."""
    whole = plane.kernel == (plane.in_height, plane.in_width) and plane.pad == (0, 0)
    return whole and plane.dilation == (1, 1) and (plane.out_height, plane.out_width) == (1, 1)


def _offer(ctx: LowerContext, lin: Linear, form: Affine | Exact) -> Offer:
    plane = conv_plane(ctx)
    affine = isinstance(form, Affine)
    if plane.is_pointwise:
        plane = plane.as_one_row()
    suffix = "_exact" if not affine else "_odd" if plane.out_width % 2 else ""
    row_taps = plane.kernel[1] * plane.in_channels
    order = _dsp_pack.tap_order(plane.kernel[0], row_taps)
    beside = plane.needs_pad_columns()
    padded = plane.needs_pad_row() or beside
    pad = pixel_table("pad", plane, ctx.signature.input(0).zero_point, plane.kernel[1])
    split = beside or plane.dilation[1] > 1
    spare = 2 * POINTER_BYTES * plane.kernel[0] if split else 0
    spare += 2 * plane.kernel[0] * row_taps if split and plane.in_channels % 4 else 0
    return Offer(
        kernel="conv2d_w8a8_dsp",
        call=Call(
            f"td_conv2d_w8a8_dsp{suffix}",
            (ParamsArg(), Rows(0), Tab("stream"), Tab("pad") if padded else 0, Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 2), reads_first=True, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d_dsp.h",),
        sources=("td_conv2d_w8a8_dsp.c", "td_gather_dsp.c", "td_block_dsp.c", "td_block_one_dsp.c"),
        tables=(
            Table("stream", "uint32_t", _dsp_pack.pair_stream(lin.weights, order, form)),
            *((pad,) if padded else ()),
        ),
        params=Params(
            "td_conv2d_dsp_params",
            (
                *row_fields(plane),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=4 * len(order) + spare,
        cost=_cost(plane, len(order), affine),
        note=form.note,
    )


def _cost(plane: Plane, taps: int, affine: bool) -> Cost:
    """Per pair of pixels: windows, a call, and the blocks of two channels."""
    pairs = plane.out_height * -(-plane.out_width // 2)
    blocks = pairs * -(-plane.out_channels // 2)
    gather = 2 * taps + 40 + 30 * plane.kernel[0]
    instructions = pairs * (gather + 60) + blocks * (2.875 * taps + (29 if affine else 38))
    cycles = pairs * (2.5 * taps + 120 + 40 * plane.kernel[0]) + blocks * (4.4 * taps + (48 if affine else 60))
    return Cost(int(instructions), int(cycles))
