"""What kernels with a sliding window share: a node's geometry, and how C is told of it."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import LowerContext, Table
from tinydeploy.lower._rows import Plane

POINTER_BYTES = 8  # of the widest machine that a folder may be built for: scratch is planned before that is known

Fields = tuple[tuple[str, int], ...]


def window_plane(ctx: LowerContext, kernel: tuple[int, int], dilation: tuple[int, int]) -> Plane:
    """The geometry of a node with one NHWC input, whose operator has a stride and a padding."""
    op, sig = ctx.node.op, ctx.signature
    _, height, width, channels = sig.input(0).shape
    _, out_height, out_width, out_channels = sig.outputs[0].shape
    return Plane(
        in_height=height,
        in_width=width,
        in_channels=channels,
        out_height=out_height,
        out_width=out_width,
        out_channels=out_channels,
        kernel=kernel,
        stride=op.stride,
        dilation=dilation,
        pad=(op.padding[0], op.padding[2]),
    )


def conv_plane(ctx: LowerContext) -> Plane:
    """The geometry of a convolution, plain or depthwise."""
    _, height, width, _ = ctx.signature.input(1).shape
    return window_plane(ctx, (height, width), ctx.node.op.dilation)


def row_fields(plane: Plane) -> Fields:
    """The horizontal geometry, as the params of most kernels begin."""
    return (
        ("in_width", plane.in_width),
        ("in_channels", plane.in_channels),
        ("kernel_h", plane.kernel[0]),
        ("kernel_w", plane.kernel[1]),
        ("stride", plane.stride[1]),
        ("dilation", plane.dilation[1]),
        ("pad_left", plane.pad[1]),
    )


def window_fields(plane: Plane, zero_point: int) -> Fields:
    """The C struct td_window as params fields."""
    return tuple((f"window.{name}", value) for name, value in (*row_fields(plane), ("zero_point", zero_point)))


def taps_window_fields(plane: Plane) -> Fields:
    """The C struct td_taps_window as params fields."""
    return tuple((f"window.{name.replace('in_channels', 'channels')}", value) for name, value in row_fields(plane))


def pad_tables(plane: Plane, zero_point: int) -> tuple[Table, ...]:
    """The constant row that stands for rows outside the input, where one is ever needed."""
    if not plane.needs_pad_row():
        return ()
    return (Table("pad", "int8_t", np.full(plane.in_row, zero_point, np.int8)),)


def pixel_table(name: str, plane: Plane, zero_point: int, pixels: int = 1) -> Table:
    """Neighbouring pixels of padding."""
    return Table(name, "int8_t", np.full(pixels * plane.in_channels, zero_point, np.int8))
