"""Resizing of one axis: from where in the input each output element comes, and with which weights.

Source: ONNX Resize-19 (coordinate transformations, nearest modes, cubic and antialiased weights).
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from tinydeploy.errors import Problem, UnsupportedError
from tinydeploy.ir import Array

MAX_COUNT = 1 << 20  # elements of one axis
MAX_TAPS = 1 << 22  # weights of one axis
Reals = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Axis:
    """One axis that is resized: ``size`` elements become ``count``; ``scale`` need not be their exact ratio.

    ``roi``: first and last place for tf_crop_and_resize, as parts of the axis.
    """

    size: int
    count: int
    scale: float
    transform: str = "half_pixel"
    roi: tuple[float, float] = (0.0, 1.0)

    def coordinates(self) -> Reals:
        """Where each output element lies in the input, in elements.

        Raises: UnsupportedError for an unknown transformation.
        """
        x = np.arange(self.count, dtype=np.float64)
        length = self.scale * self.size  # of the output, before it was rounded
        if self.transform == "half_pixel":
            return (x + 0.5) / self.scale - 0.5
        if self.transform == "asymmetric":
            return x / self.scale
        if self.transform == "align_corners":
            return np.zeros_like(x) if length == 1 else x * (self.size - 1) / (length - 1)
        if self.transform == "pytorch_half_pixel":
            return np.full_like(x, -0.5) if length == 1 else (x + 0.5) / self.scale - 0.5
        if self.transform == "half_pixel_symmetric":
            return self.size / 2 * (1 - self.count / length) + (x + 0.5) / self.scale - 0.5
        if self.transform == "tf_half_pixel_for_nn":
            return (x + 0.5) / self.scale
        if self.transform != "tf_crop_and_resize":
            raise UnsupportedError(Problem("", f"transforms coordinates as {self.transform!r}", "as ONNX Resize says"))
        start, end = self.roi
        if length == 1:
            return np.full_like(x, (start + end) / 2 * (self.size - 1))
        return start * (self.size - 1) + x * (end - start) * (self.size - 1) / (length - 1)

    def inside(self) -> range:
        """The output elements that come from within the input; all but those of tf_crop_and_resize do."""
        if self.transform != "tf_crop_and_resize":
            return range(self.count)
        at = self.coordinates()
        found = np.flatnonzero((at >= 0) & (at <= self.size - 1))
        return range(int(found[0]), int(found[-1]) + 1) if len(found) else range(0)


def nearest(axis: Axis, mode: str) -> Array:
    """The one input element of each output element, int32, clamped to the axis.

    Raises: UnsupportedError for an unknown mode.
    """
    at = axis.coordinates()
    down = np.floor(at)
    functions = {
        "round_prefer_floor": np.where(at - down <= 0.5, down, down + 1),
        "round_prefer_ceil": np.where(at - down < 0.5, down, down + 1),
        "floor": down,
        "ceil": np.ceil(at),
    }
    if mode not in functions:
        raise UnsupportedError(Problem("", f"takes the nearest by {mode!r}", f"one of {', '.join(functions)}"))
    return np.clip(functions[mode], 0, axis.size - 1).astype(np.int32)


def weighted(
    axis: Axis, *, cubic: bool, a: float = -0.75, antialias: bool = False, exclude_outside: bool = False
) -> tuple[Array, Array]:
    """Indices (int32, clamped to the axis) and weights (float32) of the neighbours of each output element: [out, taps].

    Raises: UnsupportedError above `MAX_TAPS` weights.
    """
    at = axis.coordinates()
    scale = min(axis.scale, 1.0) if antialias else 1.0
    reach = 2 if cubic else 1
    first = math.floor(-reach / scale) + 1
    if axis.count * (2 - 2 * first) > MAX_TAPS:
        raise UnsupportedError(Problem("", f"mixes {2 - 2 * first} elements into each of {axis.count}", "fewer"))
    taps = np.arange(first, 2 - first)
    base = np.ceil(at) - 1  # an element that lies exactly at a place counts as the right one of the two around it
    distance = np.abs(taps[None] - (at - base)[:, None]) * scale
    weights = _cubic(distance, a) if cubic else np.clip(1 - distance, 0, 1)
    indices = base.astype(np.int64)[:, None] + taps
    if exclude_outside:
        weights = np.where((indices < 0) | (indices >= axis.size), 0.0, weights)
    if antialias or exclude_outside:
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    return np.clip(indices, 0, axis.size - 1).astype(np.int32), weights.astype(np.float32)


def _cubic(x: Reals, a: float) -> Reals:
    """Keys' kernel."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
