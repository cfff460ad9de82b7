"""Convolution where 32 x 32 -> 64 bit is one instruction: two pixels a multiplication, four pixels a block."""

from __future__ import annotations

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
)
from tinydeploy.lower._linear import Linear, interleave, linear
from tinydeploy.lower._rows import Plane, split_row
from tinydeploy.lower._window import conv_plane, pad_tables, pixel_table, window_fields
from tinydeploy.lower.requantise import Requant
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for ungrouped int8 with constant weights and one sample."""
    op = ctx.node.op
    if not isinstance(op, Conv2d) or not ctx.target.has_long_multiply or op.groups != 1:
        return []
    if ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    requant = None if lin is None else _pairs.requant(lin)
    return [] if lin is None or requant is None else [_offer(ctx, lin, requant)]


def _offer(ctx: LowerContext, lin: Linear, requant: Requant) -> Offer:
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    terms = lin.weights.shape[1]
    beside = plane.needs_pad_columns()
    return Offer(
        kernel="conv2d_pairs_w8a8",
        call=Call(
            "td_conv2d_pairs_w8a8" if requant.affine else "td_conv2d_pairs_w8a8_exact",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 4), reads_first=True, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d_pairs.h",),
        sources=("td_conv2d_pairs_w8a8.c", "td_pairs.c"),
        tables=(
            Table("weights", "int8_t", interleave(lin.weights, 1, 2)),
            _pairs.even_records(requant.table()),
            *((pixel_table("zeros", plane, zero_point),) if beside else ()),
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_conv2d_pairs_params",
            (
                *window_fields(plane, zero_point),
                ("zeros", "zeros" if beside else 0),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                *lin.fields(shift=False),
            ),
        ),
        scratch_bytes=8 * terms,
        cost=_cost(ctx, plane, terms, requant.affine),
        note=requant.note,
    )


def _cost(ctx: LowerContext, plane: Plane, terms: int, affine: bool) -> Cost:
    blocks = plane.out_height * -(-plane.out_width // 4)
    pairs = blocks * -(-plane.out_channels // 2)
    instructions = pairs * (7.1 * terms + (71 if affine else 103)) + blocks * (11 * terms + 90)
    # a long multiply takes one cycle on the cores with the SIMD, about 4.5 on the M3
    cycles = pairs * (terms * (10 if ctx.target.cpu_class != "plain" else 24) + 110) + blocks * (17 * terms + 130)
    return Cost(int(instructions), int(cycles))
