"""From an activation's statistics to the range it is quantised over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.ir import Array
from tinydeploy.quant.schemes import Format
from tinydeploy.quant.statistics import Statistics

PERCENTILE = 99.99
_SHRINK = np.linspace(1.0, 0.25, 61)
_ROUNDS = 2


def minmax(statistics: Statistics, form: Format) -> tuple[float, float]:
    """Everything that was seen."""
    return min(statistics.low, 0.0), max(statistics.high, 0.0)


def percentile(statistics: Statistics, form: Format) -> tuple[float, float]:
    """The range left when the outermost 0.01 % of the values are cut off, shared by both ends."""
    low, high = minmax(statistics, form)
    points, counts = statistics.points()
    if not len(points):
        return low, high
    place = int(np.searchsorted(points, 0.0))
    points, counts = np.insert(points, place, 0.0), np.insert(counts, place, statistics.zeros)
    share = np.cumsum(counts) / counts.sum() * 100
    tail = (100 - PERCENTILE) / 2
    first, last = int(np.searchsorted(share, tail)), int(np.searchsorted(share, 100 - tail))
    cut_low, cut_high = float(points[first]), float(points[min(last, len(points) - 1)])
    return max(low, min(cut_low, 0.0)), min(high, max(cut_high, 0.0))


def mse(statistics: Statistics, form: Format) -> tuple[float, float]:
    """The range with the least mean squared error over the histogram, clipping included.

    Each end is shrunk in turn from what was seen down to a quarter of it; 0 stays inside.
    """
    low, high = minmax(statistics, form)
    points, counts = statistics.points()
    if not len(points) or low == high:
        return low, high
    down, up = 1.0, 1.0
    for _ in range(_ROUNDS):
        if low < 0:
            down = float(
                _SHRINK[np.argmin(_errors(points, counts, low * _SHRINK, np.full(len(_SHRINK), high * up), form))]
            )
        if high > 0:
            up = float(
                _SHRINK[np.argmin(_errors(points, counts, np.full(len(_SHRINK), low * down), high * _SHRINK, form))]
            )
    return low * down, high * up


DEFAULT_RANGES = "mse"
RANGES: dict[str, Callable[[Statistics, Format], tuple[float, float]]] = {
    "mse": mse,
    "minmax": minmax,
    "percentile": percentile,
}


def _errors(points: Array, counts: Array, low: Array, high: Array, form: Format) -> Array:
    """Sum of squared quantisation errors for each candidate range (``low[i]``, ``high[i]``)."""
    errors = np.empty(len(low))
    for i in range(len(low)):
        quant = form.quant(float(low[i]), float(high[i]))
        scale, zero_point = quant.scale[0], quant.zero_point[0]
        back = np.rint(points / scale)
        np.clip(back, form.low - zero_point, form.high - zero_point, out=back)
        back *= scale
        back -= points
        errors[i] = np.dot(back * back, counts)
    return errors
