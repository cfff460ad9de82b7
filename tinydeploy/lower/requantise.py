"""Requantisation solved at convert time: one affine map a channel where it is proved equal to TFLite's rounding.

TFLite's function of an accumulator is monotone, and so is ``((acc * m + c) >> 32) >> shift``. Two monotone step
functions are equal if they step at the same places, so the proof compares at most 255 thresholds a channel instead of
2**32 accumulators. For a fixed m every threshold is an interval for c; m is varied until the intervals meet.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
import numpy.typing as npt

from tinydeploy.ir import Array
from tinydeploy.lower._contract import Table
from tinydeploy.numerics import requantise as numerics

Ints = npt.NDArray[np.int64]
Rounding = Literal["double", "single"]
AFFINE = np.dtype([("c_lo", "<u4"), ("c_hi", "<i4"), ("m", "<i4")])
EXACT = np.dtype([("bias", "<i4"), ("m", "<i4"), ("shift", "<i4")])
MAX_AFFINE_SHIFT = 22  # 8-bit levels times 2**(32 + shift) stay far inside int64
_REACH = 1 << 16  # multipliers tried on each side of the real ratio


@dataclasses.dataclass(frozen=True)
class Scaling:
    """What TFLite does to a layer's accumulators: ``clamp(zero_point + round((acc + bias) * m * 2**(shift - 31)))``.

    Vectors of one element a channel (int64). ``bias`` already holds minus the input zero point times the sum of
    weights, so that ``acc`` is the sum of weight times stored input; ``low``/``high`` bound that sum.
    """

    bias: Ints
    multiplier: Ints
    shift: Ints
    low: Ints
    high: Ints
    zero_point: int
    act_min: int
    act_max: int
    rounding: Rounding = "double"

    def output(self, acc: Ints) -> Ints:
        """TFLite's clamped output; ``acc`` has channels on axis 0."""
        extra = (slice(None),) + (None,) * (acc.ndim - 1)
        scale = (
            numerics.multiply_by_quantised_multiplier
            if self.rounding == "double"
            else numerics.multiply_by_quantised_multiplier_single
        )
        real = scale(acc + self.bias[extra], self.multiplier[extra], self.shift[extra]) + self.zero_point
        return np.clip(real, self.act_min, self.act_max)

    def is_plain(self) -> bool:
        """True if nothing wraps on the way, so that the function is monotone in the mathematical sense."""
        ends = np.stack([self.low + self.bias, self.high + self.bias])
        room = np.int64(2**31 - 1) >> np.maximum(self.shift, 0)
        return bool((np.abs(ends) <= room).all() and (self.multiplier >= 0).all())


@dataclasses.dataclass(frozen=True)
class Requant:
    """The form chosen for a layer. ``table``: one struct a channel; ``shift``: affine only, 0 otherwise."""

    form: Literal["affine", "exact"]
    records: Array
    shift: int
    note: str

    @property
    def affine(self) -> bool:
        """True for the affine form."""
        return self.form == "affine"

    def table(self, name: str = "requant") -> Table:
        """The records as a table of the node."""
        return Table(name, "td_affine" if self.affine else "td_exact", self.records)


def solve(scaling: Scaling) -> Requant:
    """Find one affine map a channel with a common shift, proved equal on every accumulator in bounds, or keep TFLite's.

    Shift 0 is tried first (the high word is the result), then the largest shift that the largest ratio allows.
    """
    if scaling.is_plain():
        ratio = np.ldexp(scaling.multiplier.astype(np.float64), (scaling.shift - 31).astype(np.int32))
        largest = float(ratio.max(initial=0.0))
        room = MAX_AFFINE_SHIFT if largest == 0 else min(MAX_AFFINE_SHIFT, -1 - int(np.frexp(largest)[1]))
        lines = Thresholds.of(scaling)
        for shift in sorted({0, max(room, 0)}) if room >= 0 else []:
            found = lines.fit(np.rint(np.ldexp(ratio, 32 + shift)).astype(np.int64), 32 + shift)
            if found is not None:
                return _affine(*found, shift=shift)
    return exact(scaling)


def exact(scaling: Scaling) -> Requant:
    """TFLite's own arithmetic: bias, multiplier and shift of each channel."""
    records = np.empty(len(scaling.bias), EXACT)
    records["bias"] = numerics.wrap_int32(scaling.bias)
    records["m"], records["shift"] = scaling.multiplier, scaling.shift
    return Requant("exact", records, 0, f"{scaling.rounding} rounding as TFLite")


def _affine(m: Ints, c: Ints, shift: int) -> Requant:
    records = np.empty(len(m), AFFINE)
    records["m"], records["c_hi"] = m, c >> 32
    records["c_lo"] = (c & 0xFFFFFFFF).astype(np.uint32)
    return Requant("affine", records, shift, f"affine, shift {32 + shift}, proved")


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """Conditions on ``y = (acc * m + c) >> s``, one row a channel: ``y(at) >= level`` and ``y(below) < level``.

    ``level``: [channels, levels]; ``must``, ``must_not``: which conditions exist.
    """

    level: Ints
    at: Ints
    below: Ints
    must: npt.NDArray[np.bool_]
    must_not: npt.NDArray[np.bool_]

    @staticmethod
    def of(scaling: Scaling) -> Thresholds:
        """The thresholds of TFLite's function within the bounds, by bisection of all of them at once."""
        low, high = scaling.low[:, None], scaling.high[:, None]
        first, last = scaling.output(low), scaling.output(high)
        levels = np.arange(scaling.act_min + 1, scaling.act_max + 1, dtype=np.int64)[None, :].repeat(len(low), 0)
        # bisection for the first accumulator at which the output reaches the level; high + 1 where it never does
        left, right = low.repeat(levels.shape[1], 1), (high + 1).repeat(levels.shape[1], 1)
        while (left < right).any():
            middle = (left + right) >> 1
            reached = scaling.output(middle) >= levels
            right = np.where(reached, middle, right)
            left = np.where(reached, left, np.minimum(middle + 1, right))
        return Thresholds(levels, left, left - 1, levels <= last, levels > first)

    def fit(self, guess: Ints, bits: int) -> tuple[Ints, Ints] | None:
        """Find (m, c) of every channel for ``y = (acc * m + c) >> bits``; None if a channel has none near ``guess``."""
        if not self.level.shape[1]:
            return guess, np.zeros_like(guess)
        m = guess.copy()
        failed = np.flatnonzero(self._slack(m, bits) < 0)
        if len(failed):
            m[failed] = self._rows(failed).climb(m[failed], bits)
        least, most = self._interval(m, bits)
        return None if (least > most).any() else (m, least + ((most - least) >> 1))

    def climb(self, guess: Ints, bits: int) -> Ints:
        """The m within 2**16 of ``guess`` that leaves most room for c. The room is a concave function of m."""
        low, high = np.maximum(guess - _REACH, 0), np.minimum(guess + _REACH, 2**31 - 1)
        while (low < high).any():
            middle = (low + high) >> 1
            rising = (self._slack(middle + 1, bits) > self._slack(middle, bits)) & (low < high)
            low, high = np.where(rising, middle + 1, low), np.where(rising, high, middle)
        return low

    def _rows(self, rows: Ints) -> Thresholds:
        return Thresholds(*(getattr(self, field.name)[rows] for field in dataclasses.fields(self)))

    def _interval(self, m: Ints, bits: int) -> tuple[Ints, Ints]:
        far = np.int64(2**61)
        edge = self.level << bits
        least = np.where(self.must, edge - self.at * m[:, None], -far).max(axis=1)
        most = np.where(self.must_not, edge - self.below * m[:, None] - 1, far).min(axis=1)
        return least, most

    def _slack(self, m: Ints, bits: int) -> Ints:
        least, most = self._interval(m, bits)
        return most - least
