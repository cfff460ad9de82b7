"""Requantisation solved at convert time: one affine map a channel where it is proved equal to TFLite's rounding.

TFLite's function of an accumulator is monotone, and so is ``((acc * m + c) >> 32) >> shift``. Two monotone step
functions are equal if they step at the same places, so the proof compares at most 255 thresholds a channel instead of
2**32 accumulators. For a fixed m every threshold is an interval for c; m is varied until the intervals meet.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal

import numpy as np
import numpy.typing as npt

from tinydeploy.ir import Array
from tinydeploy.lower._contract import Table
from tinydeploy.numerics import requantise as numerics

Ints = npt.NDArray[np.int64]
Rounding = Literal["double", "once"]
Form = Literal["affine", "wide", "exact"]
RECORDS: dict[Form, np.dtype[np.void]] = {
    "affine": np.dtype([("c_lo", "<u4"), ("c_hi", "<i4"), ("m", "<i4")]),
    "wide": np.dtype([("c_lo", "<u4"), ("c_hi", "<i4"), ("m", "<i4"), ("shift", "<i4")]),
    "exact": np.dtype([("bias", "<i4"), ("m", "<i4"), ("shift", "<i4")]),
}
MAX_BITS = 54  # 8-bit levels times 2**54 stay far inside int64
_FAR = np.int64(2**61)  # stands for infinity among values of c
_REACH = 1 << 16  # multipliers tried on each side of the real ratio


@dataclasses.dataclass(frozen=True)
class Scaling:
    """What TFLite does to a layer's accumulators: ``clamp(zero_point + round((acc + bias) * ratio))``.

    Vectors of one element a channel. ``bias`` (int64) already holds minus the input zero point times the sum of
    weights, so that ``acc`` is the sum of weight times stored input; ``low``/``high`` (int64) bound that sum.
    ``rounding``: "double" is gemmlowp's with a Q31 multiplier, "once" multiplies by the float64 ``ratio`` and rounds
    halves away from zero.
    """

    bias: Ints
    ratio: npt.NDArray[np.float64]
    low: Ints
    high: Ints
    zero_point: int
    act_min: int
    act_max: int
    rounding: Rounding = "double"
    fixed: tuple[Ints, Ints] | None = None  # multiplier and shift, where TFLite makes them otherwise

    @functools.cached_property
    def _multipliers(self) -> tuple[Ints, Ints]:
        return numerics.quantise_multipliers(self.ratio) if self.fixed is None else self.fixed

    @property
    def multiplier(self) -> Ints:
        """The ratios' Q31 multipliers as TFLite makes them."""
        return self._multipliers[0]

    @property
    def shift(self) -> Ints:
        """The ratios' shifts, positive to the left, as TFLite makes them."""
        return self._multipliers[1]

    @functools.cached_property
    def thresholds(self) -> Thresholds:
        """Where the output steps, worked out once."""
        return Thresholds.of(self)

    def output(self, acc: Ints) -> Ints:
        """TFLite's clamped output; ``acc`` has channels on axis 0. Nothing may wrap (see `is_plain`)."""
        extra = (slice(None),) + (None,) * (acc.ndim - 1)
        x = acc + self.bias[extra]
        if self.rounding == "once":
            scaled = numerics.float_to_int32(numerics.round_half_away(x * self.ratio[extra]))
        else:
            scaled = numerics.multiply_by_quantised_multiplier(x, self.multiplier[extra], self.shift[extra])
        return np.minimum(np.maximum(scaled + self.zero_point, self.act_min), self.act_max)

    def is_plain(self) -> bool:
        """True if no int32 wraps on the way, so that the function is monotone."""
        left = np.maximum(self.shift, 0) if self.rounding == "double" else np.zeros_like(self.bias)
        room = np.int64(2**31 - 1) >> np.minimum(left, 31)
        ends = np.stack([self.low + self.bias, self.high + self.bias])
        return bool((np.abs(ends) <= room).all() and (self.ratio >= 0).all())

    def reach(self, m: Ints, c: Ints) -> int:
        """The largest magnitude that c and acc * m + c take for sums in bounds; ``m``, ``c``: one a channel."""
        return int(np.abs(np.stack([self.low * m + c, self.high * m + c, c])).max(initial=0))

    def sums_below(self, bound: int) -> bool:
        """True if no raw sum reaches ``bound`` in magnitude."""
        return int(np.maximum(-self.low, self.high).max(initial=0)) < bound


@dataclasses.dataclass(frozen=True)
class Requant:
    """The form chosen for a layer. ``records``: one struct a channel; ``shift``: the common one of "affine", else 0."""

    form: Form
    records: Array
    shift: int
    note: str

    @property
    def affine(self) -> bool:
        """True for the affine form."""
        return self.form == "affine"

    def table(self, name: str = "requant") -> Table:
        """The records as a table of the node."""
        return Table(name, f"td_{self.form}", self.records)


def solve(scaling: Scaling) -> Requant | None:
    """Find one affine map a channel with a common shift, proved equal on every accumulator in bounds.

    Where there is none: TFLite's own arithmetic for double rounding ("exact"); for rounding once an affine map with a
    shift a channel ("wide"), or None if there is not even that.
    Shift 0 is tried first (the high word is the result), then the largest shift that the largest ratio allows.
    """
    if not scaling.is_plain():
        return exact(scaling) if scaling.rounding == "double" else None
    largest = float(scaling.ratio.max(initial=0.0))
    room = MAX_BITS - 32 if largest == 0 else min(MAX_BITS - 32, -1 - int(np.frexp(largest)[1]))
    for shift in sorted({0, room}) if room >= 0 else []:
        records = affine_records(scaling, shift)
        if records is not None:
            return Requant("affine", records, shift, f"affine, shift {32 + shift}, proved")
    return exact(scaling) if scaling.rounding == "double" else wide(scaling)


def affine_records(scaling: Scaling, shift: int) -> Array | None:
    """Records of td_affine for a given common shift (0 to 22), None where a channel has none."""
    found = scaling.thresholds.fit(_scaled(scaling.ratio, 32 + shift), 32 + shift)
    return None if found is None else affine_table(*found)


def affine_table(m: Ints, c: Ints) -> Array:
    """Records of td_affine."""
    return _records("affine", m, c)


def affine_terms(records: Array) -> tuple[Ints, Ints]:
    """(m, c) of records of td_affine or td_wide."""
    return records["m"].astype(np.int64), (records["c_hi"].astype(np.int64) << 32) + records["c_lo"]


def exact(scaling: Scaling) -> Requant:
    """TFLite's own arithmetic: bias, multiplier and shift of each channel."""
    records = np.empty(len(scaling.bias), RECORDS["exact"])
    records["bias"] = numerics.wrap_int32(scaling.bias)
    records["m"], records["shift"] = scaling.multiplier, scaling.shift
    return Requant("exact", records, 0, "double rounding as TFLite")


def wide(scaling: Scaling) -> Requant | None:
    """An affine map with a shift a channel, proved equal within the bounds; for rounding once, which never wraps."""
    bits = np.clip(31 - np.frexp(scaling.ratio)[1].astype(np.int64), 0, MAX_BITS)
    found = scaling.thresholds.fit(_scaled(scaling.ratio, bits), bits)
    if found is None:
        return None
    records = _records("wide", *found)
    records["shift"] = bits
    return Requant("wide", records, 0, "affine, a shift a channel, proved")


def _scaled(ratio: npt.NDArray[np.float64], bits: Ints | int) -> Ints:
    return np.rint(np.minimum(np.ldexp(ratio, bits), 2.0**31 - 1)).astype(np.int64)


def _records(form: Form, m: Ints, c: Ints) -> Array:
    records = np.empty(len(m), RECORDS[form])
    records["m"], records["c_hi"] = m, c >> 32
    records["c_lo"] = (c & 0xFFFFFFFF).astype(np.uint32)
    return records


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

    def fit(self, guess: Ints, shift: Ints | int) -> tuple[Ints, Ints] | None:
        """Find (m, c) of each channel for ``y = (acc * m + c) >> shift``; None if a channel has none near ``guess``.

        ``shift``: 0 to 54, common or one a channel.
        """
        m, bits = guess.copy(), np.broadcast_to(np.asarray(shift, np.int64), guess.shape)
        if not self.level.shape[1]:
            return m, np.zeros_like(m)
        failed = np.flatnonzero(self._slack(m, bits) < 0)
        if len(failed):
            m[failed] = self._rows(failed).climb(m[failed], bits[failed])
        least, most = self._interval(m, bits)
        if (least > most).any():
            return None
        # an output that never changes leaves c open on a side: stay within a step, far from any overflow
        step = np.int64(2) << bits
        low = np.where(least == -_FAR, most - step, least)
        high = np.where(most == _FAR, least + step, most)
        return m, low + ((high - low) >> 1)

    def climb(self, guess: Ints, bits: Ints) -> Ints:
        """The m within 2**16 of ``guess`` that leaves most room for c. The room is a concave function of m."""
        low, high = np.maximum(guess - _REACH, 0), np.minimum(guess + _REACH, 2**31 - 1)
        while (low < high).any():
            middle = (low + high) >> 1
            rising = (self._slack(middle + 1, bits) > self._slack(middle, bits)) & (low < high)
            low, high = np.where(rising, middle + 1, low), np.where(rising, high, middle)
        return low

    def _rows(self, rows: Ints) -> Thresholds:
        return Thresholds(*(getattr(self, field.name)[rows] for field in dataclasses.fields(self)))

    def _interval(self, m: Ints, bits: Ints) -> tuple[Ints, Ints]:
        edge = self.level << bits[:, None]
        least = np.where(self.must, edge - self.at * m[:, None], -_FAR).max(axis=1)
        most = np.where(self.must_not, edge - self.below * m[:, None] - 1, _FAR).min(axis=1)
        return least, most

    def _slack(self, m: Ints, bits: Ints) -> Ints:
        least, most = self._interval(m, bits)
        return most - least
