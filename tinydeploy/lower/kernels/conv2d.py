"""Plain C convolution for every core: windows of two pixels are copied together, two output channels at a time."""

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
    Target,
)
from tinydeploy.lower._linear import Linear, interleave, linear
from tinydeploy.lower._rows import Plane, split_row
from tinydeploy.lower._window import conv_plane, pad_tables, window_fields
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights and one sample."""
    if not isinstance(ctx.node.op, Conv2d) or ctx.signature.input(0).shape[0] != 1:
        return []
    lin = linear(ctx, (0, 1, 2, 3))
    return [] if lin is None else [_offer(ctx, lin)]


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    groups = ctx.node.op.groups
    zero_point = ctx.signature.input(0).zero_point
    plane = conv_plane(ctx).simplest()
    terms = lin.weights.shape[1]
    affine = lin.requant.affine
    return Offer(
        kernel="conv2d_w8a8",
        call=Call(
            "td_conv2d_w8a8" if affine else "td_conv2d_w8a8_exact",
            (ParamsArg(), Rows(0), Tab("weights"), Tab("requant"), Out(0), Scratch()),
            calls=plane.out_height,
            windows=((0, plane.window()),),
            out_row_bytes=(plane.out_row,),
        ),
        access=plane.access(split_row(plane.out_width, 2), reads_first=groups == 1, inputs=len(ctx.node.inputs)),
        headers=("td_conv2d.h",),
        sources=("td_conv2d_w8a8.c",),
        tables=(
            Table("weights", "int8_t", interleave(lin.weights, groups, 2)),
            lin.requant.table(),
            *pad_tables(plane, zero_point),
        ),
        params=Params(
            "td_conv2d_params",
            (
                *window_fields(plane, zero_point),
                ("out_width", plane.out_width),
                ("out_channels", plane.out_channels),
                ("groups", groups),
                *lin.fields(),
            ),
        ),
        scratch_bytes=2 * terms,
        cost=_cost(ctx.target, plane, terms, groups),
        note=lin.requant.note,
    )


def _cost(target: Target, plane: Plane, terms: int, groups: int) -> Cost:
    outputs = plane.out_height * plane.out_row
    made = plane.out_height * -(-plane.out_width // 2) * 2 * -(-plane.out_channels // groups // 2) * 2 * groups
    macs = made * terms  # of whole blocks: what a last one has too many is made and dropped
    copies = plane.out_height * plane.out_width * terms * groups
    per_output = 30 if target.has_long_multiply else 75
    instructions = int(macs * (3.5 if target.has_long_multiply else 5.5) + copies * 5 + outputs * per_output)
    return Cost(instructions, int(instructions * 1.3))
