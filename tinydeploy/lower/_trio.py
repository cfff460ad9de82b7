"""What the blocks with three sums in two words ask of a layer (runtime_c/include/td_trio.h): windows and rounding."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from tinydeploy.lower._contract import Table
from tinydeploy.lower._linear import Linear
from tinydeploy.lower.requantise import MAX_BITS, Ints, Scaling, affine_table, affine_terms

Form = Literal["_short", "", "_exact", "_windows", "_exact_windows"]
FIELD = 2**20  # bound of a window's sums
_MANY = 2**23  # bound of the sums of several windows
_BITS, _MANY_BITS = 53, 55  # of acc * m + c where m goes in three or four parts


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Windows of a layer and the rounding of its sums. ``constant`` and ``part``: as in the C struct td_trio."""

    windows: int
    form: Form
    requant: Table
    note: str
    constant: int
    part: int = 0


def blocks(lin: Linear) -> Blocks | None:
    """How the blocks run a layer; None where sums or products do not fit."""
    windows = window_count(lin.weights)
    short = _short(lin.scaling) if windows == 1 and lin.scaling.is_plain() else None
    if short is not None:
        return short
    if not lin.scaling.sums_below(FIELD if windows == 1 else _MANY):
        return None
    return _affine(lin, windows) if lin.requant.affine else _exact(lin, windows)


def window_count(weights: Ints) -> int:
    """The fewest windows of equal size whose sums stay in their field for any int8 input."""
    taps = weights.shape[1]
    least, most = np.minimum(weights * 127, weights * -128), np.maximum(weights * 127, weights * -128)
    windows = 1
    while True:
        if taps % windows == 0:
            edges = np.arange(0, taps, taps // windows)
            low, high = np.add.reduceat(least, edges, axis=1), np.add.reduceat(most, edges, axis=1)
            if max(int(high.max(initial=0)), -int(low.min(initial=0))) < FIELD:
                return windows
        windows += 1


def _affine(lin: Linear, windows: int) -> Blocks | None:
    if lin.scaling.reach(*affine_terms(lin.requant.records)) >> (_BITS if windows == 1 else _MANY_BITS):
        return None
    form: Form = "" if windows == 1 else "_windows"
    return Blocks(windows, form, lin.requant.table(), lin.requant.note, 10 + lin.requant.shift)


def _exact(lin: Linear, windows: int) -> Blocks | None:
    s = lin.scaling
    ends = np.abs(np.stack([s.low, s.high]) + s.bias)
    if int(ends.max(initial=0)) >= (FIELD if windows == 1 else _MANY) or (s.shift >= 0).any():
        return None
    form: Form = "_exact" if windows == 1 else "_exact_windows"
    return Blocks(windows, form, lin.requant.table(), lin.requant.note, 2 * s.zero_point + 1)


def _short(scaling: Scaling) -> Blocks | None:
    """The affine form with m in two parts, as wide as sums allow; None if it is not proved.

    A channel whose output never changes gets m = 0, so that its constants ask for no bits.
    """
    part = 31 - int(np.maximum(-scaling.low, scaling.high).max(initial=0)).bit_length()
    lines = scaling.thresholds
    ratio = np.where(lines.must.any(axis=1) & lines.must_not.any(axis=1), scaling.ratio, 0.0)
    ends = (np.stack([scaling.low, scaling.high]) + scaling.bias) * ratio
    bits = min(31 + part - int(np.ceil(np.log2(float(np.abs(ends).max(initial=0.0)) + 257))), MAX_BITS)
    guess = np.rint(np.ldexp(ratio, bits))
    if bits <= part or (guess >= 2**31).any():
        return None
    found = lines.fit(guess.astype(np.int64), bits)
    if found is None or scaling.reach(*found) >> (31 + part):
        return None
    table = Table("requant", "td_affine", affine_table(*found))
    return Blocks(1, "_short", table, f"affine, shift {bits}, proved", bits - part, part)
