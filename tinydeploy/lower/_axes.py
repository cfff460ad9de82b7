"""Kernels over windows of any batch and number of axes: their geometry in C, and what they read and write when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinydeploy.lower._contract import AccessPlan, Bytes, LowerContext, Span
from tinydeploy.ops._windows_nd import Axis

_POINT = Axis(1, 1, 1, 1, 1, 0)  # an axis that a layer lacks


def three(axes: Sequence[Axis]) -> tuple[Axis, Axis, Axis]:
    """Depth, height and width."""
    depth, height, width = (*(_POINT,) * (3 - len(axes)), *axes)
    return depth, height, width


def axes_fields(
    axes: Sequence[Axis], batch: int, in_channels: int, out_channels: int, groups: int, prefix: str = "axes."
) -> tuple[tuple[str, int], ...]:
    """The C struct td_axes as params fields."""
    fields: list[tuple[str, int]] = []
    for number, axis in enumerate(three(axes)):
        named = (
            ("in", axis.size),
            ("out", axis.out),
            ("taps", axis.taps),
            ("step", axis.step),
            ("tap", axis.tap),
            ("first", axis.first),
            ("divisor", axis.divisor),
        )
        fields += [(f"{prefix}axis[{number}].{name}", value) for name, value in named]
    width = three(axes)[2]
    merged = groups == 1 and width.tap == 1 and width.divisor == 1
    sizes = (("batch", batch), ("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups))
    return (*fields, *((f"{prefix}{name}", value) for name, value in sizes), (f"{prefix}merged", int(merged)))


def axes_access(ctx: LowerContext, axes: Sequence[Axis], batch: int, constant: Sequence[bool]) -> AccessPlan:
    """One output row after the other, each from the hull of the input rows it needs; other inputs at any time.

    Input 0 has ``axes`` behind the batch; ``constant``: which inputs are not in the arena.
    """
    sig = ctx.signature
    depth, height, _ = three(axes)
    x = sig.input(0)
    in_row = x.size // (batch * depth.size * height.size) * x.elem.dtype.itemsize
    (low_plane, high_plane), (low_line, high_line) = _touched(depth), _touched(height)
    low = (low_plane[:, None] * height.size + low_line).ravel()
    high = (high_plane[:, None] * height.size + high_line).ravel()
    none = ((low_plane > high_plane)[:, None] | (low_line > high_line)).ravel()
    starts = (np.arange(batch, dtype=np.int64) * depth.size * height.size)[:, None]
    empty = np.broadcast_to(none, (batch, len(none))).ravel()
    reads = Span(
        np.where(empty, 0, ((starts + low) * in_row).ravel()),
        np.where(empty, 0, ((starts + high + 1) * in_row).ravel()),
    )
    steps = np.arange(len(empty), dtype=np.int64)
    rows = [kind.size // len(empty) * kind.elem.dtype.itemsize for kind in sig.outputs]
    spans: list[Span | None] = [None if constant[0] else reads]
    for kind, fixed in zip(sig.inputs[1:], constant[1:], strict=True):
        size = 0 if kind is None else kind.size * kind.elem.dtype.itemsize
        spans.append(None if fixed else Span(np.zeros_like(steps), np.full_like(steps, size)))
    return AccessPlan(tuple(spans), tuple(Span(steps * row, (steps + 1) * row) for row in rows), reads_first=False)


def _touched(axis: Axis) -> tuple[Bytes, Bytes]:
    """Lowest and highest input position of each output; low > high where there is none."""
    low, high = np.full(axis.out, axis.size, np.int64), np.full(axis.out, -1, np.int64)
    places = np.arange(axis.size, dtype=np.int64)
    for k in range(axis.taps):
        outputs, inputs = axis.slices(k)
        low[outputs] = np.minimum(low[outputs], places[inputs])
        high[outputs] = np.maximum(high[outputs], places[inputs])
    return low, high
