"""Sliding windows over NHWC tensors, shared by convolution and pooling."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tinydeploy.ir.types import Array

Pair: TypeAlias = "tuple[int, int]"
Padding: TypeAlias = "tuple[int, int, int, int]"


def out_size(size: int, kernel: int, stride: int, dilation: int, pads: int) -> int:
    """Number of windows along an axis; zero or less if none fits."""
    return (size + pads - ((kernel - 1) * dilation + 1)) // stride + 1


def out_plane(shape: tuple[int, ...], kernel: Pair, stride: Pair, dilation: Pair, padding: Padding) -> Pair:
    """Height and width of the result for an NHWC ``shape``; ``padding`` is (top, bottom, left, right)."""
    top, bottom, left, right = padding
    return (
        out_size(shape[1], kernel[0], stride[0], dilation[0], top + bottom),
        out_size(shape[2], kernel[1], stride[1], dilation[1], left + right),
    )


def geometry_holds(kernel: Pair, stride: Pair, dilation: Pair, padding: Padding) -> bool:
    """True if the numbers make sense: everything at least 1, padding at least 0."""
    return min(*kernel, *stride, *dilation) >= 1 and min(padding) >= 0


def pad_plane(x: Array, padding: Padding, value: float) -> Array:
    """``x`` [N, H, W, C] with ``value`` around each plane."""
    top, bottom, left, right = padding
    if padding == (0, 0, 0, 0):
        return x
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)


def windows(x: Array, kernel: Pair, stride: Pair, dilation: Pair) -> Array:
    """All windows of a padded ``x`` [N, H, W, C] as a view [N, OH, OW, KH, KW, C]."""
    spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(1, 2))
    view = view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return np.asarray(view.transpose(0, 1, 2, 4, 5, 3))


def tap(x: Array, row: int, column: int, stride: Pair, dilation: Pair, plane: Pair) -> Array:
    """What kernel element (``row``, ``column``) meets at each output: a view [N, OH, OW, C] of a padded ``x``."""
    top, left = row * dilation[0], column * dilation[1]
    bottom, right = top + (plane[0] - 1) * stride[0] + 1, left + (plane[1] - 1) * stride[1] + 1
    return x[:, top : bottom : stride[0], left : right : stride[1], :]
