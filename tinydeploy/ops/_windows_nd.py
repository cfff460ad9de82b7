"""Windows that slide over any number of axes, forwards or transposed, and weighted sums over them in a fixed order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from tinydeploy.ir.types import Array

Sizes = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Axis:
    """A spatial axis: tap ``k`` of output ``o`` reads input ``(o * step + k * tap + first) / divisor``.

    A tap whose division leaves a rest, or whose input is outside 0 .. size - 1, adds nothing.
    """

    size: int
    out: int
    taps: int
    step: int
    tap: int
    first: int
    divisor: int = 1

    def slices(self, k: int) -> tuple[slice, slice]:
        """The outputs that tap ``k`` serves and the inputs that it reads, position by position."""
        offset = k * self.tap + self.first
        if self.divisor == 1:
            low = max(0, -(offset // self.step))
            high = min(self.out, (self.size - 1 - offset) // self.step + 1)
            count = max(0, high - low)
            begin = low * self.step + offset
            return slice(low, low + count), slice(begin, begin + max(0, (count - 1) * self.step + 1), self.step)
        assert self.step == 1
        low = max(-offset, 0)
        low += -(low + offset) % self.divisor
        begin = (low + offset) // self.divisor
        count = max(0, min(-(-(self.out - low) // self.divisor), self.size - begin))
        return slice(low, low + max(0, (count - 1) * self.divisor + 1), self.divisor), slice(begin, begin + count)


def forward_axes(sizes: Sizes, kernel: Sizes, stride: Sizes, dilation: Sizes, padding: Sizes) -> tuple[Axis, ...]:
    """The axes of a convolution or pooling; ``padding`` is (before, after) an axis, one axis after the other."""
    made = []
    for axis, (size, taps, step, tap) in enumerate(zip(sizes, kernel, stride, dilation, strict=True)):
        before, after = padding[2 * axis], padding[2 * axis + 1]
        out = (size + before + after - (taps - 1) * tap - 1) // step + 1
        made.append(Axis(size, out, taps, step, tap, -before))
    return tuple(made)


def transposed_axes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, dilation: Sizes, cut: Sizes, extra: Sizes
) -> tuple[Axis, ...]:
    """The axes of a transposed convolution: ``cut`` (before, after) an axis goes off, ``extra`` is added at the end."""
    made = []
    for axis, (size, taps, step, tap) in enumerate(zip(sizes, kernel, stride, dilation, strict=True)):
        before, after = cut[2 * axis], cut[2 * axis + 1]
        out = (size - 1) * step + (taps - 1) * tap + 1 - before - after + extra[axis]
        made.append(Axis(size, out, taps, 1, -tap, before, step))
    return tuple(made)


def taps_of(axes: Sequence[Axis]) -> Iterator[tuple[Sizes, tuple[slice, ...], tuple[slice, ...]]]:
    """Every tap in rising order: its index, the outputs that it serves and the inputs that it reads, samples first."""
    for taps in itertools.product(*(range(axis.taps) for axis in axes)):
        pairs = [axis.slices(k) for axis, k in zip(axes, taps, strict=True)]
        outputs, inputs = tuple(out for out, _ in pairs), tuple(place for _, place in pairs)
        yield taps, (slice(None), *outputs), (slice(None), *inputs)


def window_sums(x: Array, weights: Array, axes: Sequence[Axis], groups: int) -> Array:
    """``y[n, ..., o] = sum of x[n, ..., c] * w[o, taps ..., c]`` in the arrays' own arithmetic.

    x [N, sizes ..., C], weights [O, taps ..., C / groups]; y [N, outs ..., O]. Every sum begins at zero and adds tap
    after tap in rising order, within a tap channel after channel: the order of the C kernels.
    """
    outputs, depth = weights.shape[0], weights.shape[-1]
    outs = tuple(axis.out for axis in axes)
    sums = np.zeros((x.shape[0], *outs, groups, outputs // groups), x.dtype)
    grouped = x.reshape(*x.shape[:-1], groups, depth)
    # [taps ..., depth, groups, outputs of a group]
    split = weights.reshape(groups, outputs // groups, *weights.shape[1:])
    ordered = np.ascontiguousarray(np.moveaxis(split, (0, 1), (-2, -1)))
    for taps, to, at in taps_of(axes):
        target, source = sums[to], grouped[at]
        product = np.empty(target.shape, x.dtype)
        for channel in range(depth):
            factors = ordered[taps][channel]
            np.multiply(source[..., channel, np.newaxis], factors, out=product)
            np.add(target, product, out=target)
    return sums.reshape(x.shape[0], *outs, outputs)
