"""Plain C convolution for every core: windows of two pixels are copied together, two output channels at a time."""

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
    Target,
)
from tinydeploy.lower._linear import Linear, linear
from tinydeploy.lower._rows import Plane, halves
from tinydeploy.ops.conv2d import Conv2d

OPERATOR = "conv2d"


def conv_plane(ctx: LowerContext) -> Plane:
    """The node's geometry."""
    op = ctx.node.op
    sig = ctx.signature
    _, height, width, channels = sig.input(0).shape
    _, out_height, out_width, out_channels = sig.outputs[0].shape
    kernel = sig.input(1).shape[1:3]
    return Plane(
        in_height=height,
        in_width=width,
        in_channels=channels,
        out_height=out_height,
        out_width=out_width,
        out_channels=out_channels,
        kernel=(kernel[0], kernel[1]),
        stride=op.stride,
        dilation=op.dilation,
        pad=(op.padding[0], op.padding[2]),
    )


def window_fields(plane: Plane, zero_point: int) -> tuple[tuple[str, int], ...]:
    """The C struct td_window as params fields."""
    return (
        ("window.in_width", plane.in_width),
        ("window.in_channels", plane.in_channels),
        ("window.kernel_h", plane.kernel[0]),
        ("window.kernel_w", plane.kernel[1]),
        ("window.stride", plane.stride[1]),
        ("window.dilation", plane.dilation[1]),
        ("window.pad_left", plane.pad[1]),
        ("window.zero_point", zero_point),
    )


def pad_tables(plane: Plane, zero_point: int) -> tuple[Table, ...]:
    """The constant row that stands for rows outside the input, where one is ever needed."""
    if not plane.needs_pad_row():
        return ()
    return (Table("pad", "int8_t", np.full(plane.in_row, zero_point, np.int8)),)


def interleave(weights: Array, groups: int, together: int) -> Array:
    """[outputs, terms] to [group][block of outputs][terms][together], missing outputs of a group's last block are 0."""
    terms = weights.shape[1]
    per_group = len(weights) // groups
    padded = np.zeros((groups, -(-per_group // together) * together, terms), np.int8)
    padded[:, :per_group] = weights.reshape(groups, per_group, terms)
    return np.ascontiguousarray(padded.reshape(groups, -1, together, terms).swapaxes(2, 3)).ravel()


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
        access=plane.access(halves(plane.out_width, 2), reads_first=groups == 1, inputs=len(ctx.node.inputs)),
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
