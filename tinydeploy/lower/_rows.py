"""Row kernels: which rows a call needs, and which bytes it touches when."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tinydeploy.lower._contract import AccessPlan, Bytes, Span, Window


@dataclasses.dataclass(frozen=True)
class Plane:
    """A sliding window over an NHWC tensor of one sample; sizes are elements of one byte.

    ``pad``: (top, left); padding at the other ends is what is missing there.
    """

    in_height: int
    in_width: int
    in_channels: int
    out_height: int
    out_width: int
    out_channels: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad: tuple[int, int]

    @property
    def in_row(self) -> int:
        """Bytes of an input row."""
        return self.in_width * self.in_channels

    @property
    def out_row(self) -> int:
        """Bytes of an output row."""
        return self.out_width * self.out_channels

    @property
    def is_pointwise(self) -> bool:
        """True for a 1x1 kernel that visits every pixel: the plane may be seen as one long row."""
        return self.kernel == self.stride == (1, 1) and self.pad == (0, 0) and self.in_width == self.out_width

    def as_one_row(self) -> Plane:
        """The same pointwise window on the plane as one row."""
        assert self.is_pointwise
        pixels = self.in_height * self.in_width
        return dataclasses.replace(self, in_height=1, in_width=pixels, out_height=1, out_width=pixels)

    def simplest(self) -> Plane:
        """The same window with the fewest rows: a pointwise one on one long row, a plane of one column as a row."""
        if self.is_pointwise:
            return self.as_one_row()
        if self.in_width == self.out_width == self.kernel[1] == 1 and self.pad[1] == 0:
            return dataclasses.replace(
                self,
                in_height=1,
                in_width=self.in_height,
                out_height=1,
                out_width=self.out_height,
                kernel=self.kernel[::-1],
                stride=self.stride[::-1],
                dilation=self.dilation[::-1],
                pad=self.pad[::-1],
            )
        return self

    def needs_pad_row(self) -> bool:
        """True if some output row reads a row above or below the input."""
        last = (self.out_height - 1) * self.stride[0] - self.pad[0] + (self.kernel[0] - 1) * self.dilation[0]
        return self.pad[0] > 0 or last >= self.in_height

    def needs_pad_columns(self) -> bool:
        """True if some window reaches over an end of a row."""
        return self.inner() != (0, self.out_width)

    def window(self, pad_table: str = "pad") -> Window:
        """The rows of a call."""
        return Window(
            rows=self.kernel[0],
            stride=self.stride[0],
            dilation=self.dilation[0],
            pad=self.pad[0],
            height=self.in_height,
            row_bytes=self.in_row,
            pad_table=pad_table if self.needs_pad_row() else None,
        )

    def inner(self) -> tuple[int, int]:
        """Output columns ``begin <= x < end`` whose windows lie inside the row (begin = end where there are none)."""
        stride, left = self.stride[1], self.pad[1]
        begin = -(-left // stride)
        end = (self.in_width - 1 - (self.kernel[1] - 1) * self.dilation[1] + left) // stride + 1
        begin, end = min(begin, self.out_width), max(0, min(end, self.out_width))
        return (begin, end) if begin < end else (0, 0)

    def access(self, blocks: Sequence[tuple[int, int]], reads_first: bool, inputs: int = 1) -> AccessPlan:
        """Row after row in the given blocks of output columns (first, end); input 0 is the plane, others constants."""
        first = np.array([b[0] for b in blocks], np.int64)
        last = np.array([b[1] for b in blocks], np.int64) - 1
        rows = np.arange(self.out_height, dtype=np.int64)[:, None]
        top = rows * self.stride[0] - self.pad[0]
        low_row, high_row = _touched(top, top, self.kernel[0], self.dilation[0], self.in_height)
        left, right = first * self.stride[1] - self.pad[1], last * self.stride[1] - self.pad[1]
        low_column, high_column = _touched(left, right, self.kernel[1], self.dilation[1], self.in_width)
        none = (low_row > high_row) | (low_column > high_column)[None, :]
        low = low_row * self.in_row + low_column[None, :] * self.in_channels
        high = high_row * self.in_row + (high_column[None, :] + 1) * self.in_channels
        reads = Span(np.where(none, 0, low).ravel(), np.where(none, 0, high).ravel())
        out = rows * self.out_row
        writes = Span(
            (out + first[None, :] * self.out_channels).ravel(), (out + (last + 1)[None, :] * self.out_channels).ravel()
        )
        return AccessPlan((reads, *(None,) * (inputs - 1)), (writes,), reads_first)


def _touched(first: Bytes, last: Bytes, taps: int, dilation: int, size: int) -> tuple[Bytes, Bytes]:
    """Lowest and highest index inside 0..size-1 among ``first .. last`` plus taps (a hull; low > high if none)."""
    below = np.maximum(-first, 0)
    low = first + -(-below // dilation) * dilation  # the first tap of the first window that is inside
    above = np.maximum(last + (taps - 1) * dilation - (size - 1), 0)
    high = last + (taps - 1) * dilation - -(-above // dilation) * dilation
    spread = last > first  # several windows: any index between may be touched
    low = np.where(spread, np.maximum(first, 0), low)
    high = np.where(spread, np.minimum(last + (taps - 1) * dilation, size - 1), high)
    inside = (low < size) & (high >= 0) & (low >= 0) & (high < size)
    return np.where(inside, low, size), np.where(inside, high, -1)


def split_row(width: int, block: int) -> list[tuple[int, int]]:
    """Blocks of ``block`` columns (first, end), the last one shorter."""
    return [(x, min(x + block, width)) for x in range(0, width, block)]


def split_inner(width: int, block: int, begin: int, end: int) -> list[tuple[int, int]]:
    """Columns ``begin`` to ``end`` in blocks of ``block`` while so many are left there, single columns elsewhere."""
    blocks: list[tuple[int, int]] = []
    x = 0
    while x < width:
        step = block if x >= begin and end - x >= block else 1
        blocks.append((x, x + step))
        x += step
    return blocks
