"""Images of another size: rows and columns are weighted sums of a few others, as TensorFlow's resize takes them."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.frontends.keras_call import Call
from tinydeploy.ir import Array

_TABLE = 1024  # TensorFlow looks the bicubic filter up in a table of so many steps
FILTERS = ("bilinear", "bicubic", "lanczos3", "lanczos5")


def take(call: Call, x: str, axis: int, index: Array, stem: str) -> str:
    """Rows ``index`` of an axis."""
    return call.emit("gather", (x, call.constant(f"{stem}/index", index)), stem=stem, axis=axis, batch_dims=0)


def resize(call: Call, x: str, size: tuple[int, int], method: str, antialias: bool = False) -> str:
    """An image [batch, height, width, channels] of another height and width.

    Source: TensorFlow tf.image.resize (half-pixel centres).
    """
    if method == "nearest":
        for axis, length in enumerate(size, 1):
            old = call.type(x).shape[axis]
            index = np.minimum(np.floor((np.arange(length) + 0.5) * old / length), old - 1)
            if length != old:
                x = take(call, x, axis, index.astype(np.int32), f"axis{axis}")
        return x
    if method == "bilinear" and not antialias:
        if call.type(x).shape[1:3] == size:
            return x
        return call.emit(
            "resize_bilinear", (x,), stem="resize", size=size, align_corners=False, half_pixel_centers=True
        )
    for axis, length in enumerate(size, 1):
        call.check_table(length, 16, max(call.type(x).shape[axis] // length, 1) if antialias else 1)
        index, weights = taps(call.type(x).shape[axis], length, method, antialias)
        constants = call.constant(f"index{axis}", index), call.constant(f"weights{axis}", weights)
        x = call.emit("resample", (x, *constants), stem=f"resample{axis}", axis=axis)
    return x


def _weight(method: str, x: Array) -> Array:
    """A filter at distances ``x``. Source: Keys 1981 (a = -1/2, TensorFlow's), Lanczos 1988."""
    x = np.asarray(np.abs(x))
    if method == "bilinear":
        return np.asarray(np.maximum(1 - x, 0))
    if method == "bicubic":
        near = (1.5 * x - 2.5) * x * x + 1
        far = ((-0.5 * x + 2.5) * x - 4) * x + 2
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    radius = int(method[-1])
    return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


def taps(old: int, new: int, method: str, antialias: bool) -> tuple[Array, Array]:
    """Indices int32 [new, taps] and weights float32 [new, taps]; what lies outside the image has no weight."""
    radius = {"bilinear": 1, "bicubic": 2}.get(method) or int(method[-1])
    scale = old / new
    spread = max(scale, 1.0) if antialias else 1.0
    centre = (np.arange(new) + 0.5) * scale
    count = math.ceil(radius * spread) * 2 + 1
    first = np.floor(centre - radius * spread).astype(int)
    index = first[:, np.newaxis] + np.arange(count)
    distances = (index + 0.5 - centre[:, np.newaxis]) / spread
    if method == "bicubic" and not antialias:
        distances = np.rint(distances * _TABLE) / _TABLE
    weights = _weight(method, distances)
    weights = np.where((index >= 0) & (index < old), weights, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.clip(index, 0, old - 1).astype(np.int32), weights.astype(np.float32)
