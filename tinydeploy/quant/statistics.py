"""What is remembered of an activation while calibration samples pass: limits, a histogram, channel means."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.ir import Array

BINS = 8192
_LEAST_EXPONENT = -120


@dataclasses.dataclass
class Statistics:
    """Streaming statistics of one value. Real units.

    ``counts``, ``sums``: of the values other than 0, in equal bins over [-2**exponent, 2**exponent]; the limit doubles
    when a value lies outside, so that one pass over the data is enough. Sums make a bin's mean exact: data with few
    levels (pixels) are seen as they are.
    ``zeros``: how many values were exactly 0 (0 is always exact, so it costs a range nothing).
    ``channel_sums``: an index of the last axis, of what `add` was given (merging leaves it alone).
    """

    low: float = math.inf
    high: float = -math.inf
    zeros: int = 0
    exponent: int = _LEAST_EXPONENT
    counts: Array = dataclasses.field(default_factory=lambda: np.zeros(BINS, np.int64))
    sums: Array = dataclasses.field(default_factory=lambda: np.zeros(BINS))
    channel_sums: Array | None = None

    def add(self, values: Array) -> None:
        """Take in an array of finite real values, any shape."""
        flat = values.ravel()
        if flat.size == 0:
            return
        low, high = float(flat.min()), float(flat.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._reach(max(abs(low), abs(high)))
        by_channel = values.reshape(-1, values.shape[-1] if values.ndim else 1).sum(axis=0, dtype=np.float64)
        self.channel_sums = by_channel if self.channel_sums is None else self.channel_sums + by_channel
        nonzero = flat[flat != 0].astype(np.float64)
        self.zeros += flat.size - nonzero.size
        index = np.ldexp(nonzero, -self.exponent)
        index += 1.0
        index *= BINS / 2
        np.minimum(index, BINS - 1, out=index)
        bins = index.astype(np.int32)
        self.counts = self.counts + np.bincount(bins, minlength=BINS)
        self.sums = self.sums + np.bincount(bins, weights=nonzero, minlength=BINS)

    def merge(self, other: Statistics) -> None:
        """Take in what another one has seen."""
        if other.count == 0:
            return
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.zeros += other.zeros
        twin = dataclasses.replace(other)
        self._widen(twin.exponent)
        twin._widen(self.exponent)
        self.counts = self.counts + twin.counts
        self.sums = self.sums + twin.sums

    @property
    def count(self) -> int:
        """How many values were taken in."""
        return self.zeros + int(self.counts.sum())

    def channel_means(self) -> Array:
        """Mean an index of the last axis, float64."""
        assert self.channel_sums is not None
        return self.channel_sums * (len(self.channel_sums) / self.count)

    def points(self) -> tuple[Array, Array]:
        """Means of the bins that hold something, ascending, and how many values each holds; zeros left out."""
        held = np.flatnonzero(self.counts)
        return self.sums[held] / self.counts[held], self.counts[held]

    def _reach(self, magnitude: float) -> None:
        if magnitude > math.ldexp(1.0, self.exponent):
            self._widen(math.ceil(math.log2(magnitude)))

    def _widen(self, exponent: int) -> None:
        """Raise the limit to 2**exponent: every doubling joins neighbouring bins."""
        steps = exponent - self.exponent
        if steps <= 0:
            return
        if self.counts.any():
            for _ in range(min(steps, BINS.bit_length())):
                self.counts = np.pad(self.counts.reshape(-1, 2).sum(axis=1), BINS // 4)
                self.sums = np.pad(self.sums.reshape(-1, 2).sum(axis=1), BINS // 4)
        self.exponent = exponent
