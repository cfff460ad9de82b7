"""Requantisation for the dsp blocks: affine with a fixed shift where it is proved, else TFLite's double rounding.

The sum of a pair's second channel arrives times 256 (``lane_bits`` 8); see td_block_dsp.h.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.lower.requantise import Ints, Scaling

_LIMIT = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Affine:
    """``y = (acc * m + c) >> (32 + shift)``, acc being the sum as it arrives, shift growing with its lane's bits."""

    m: Ints
    c: Ints
    note: str


@dataclasses.dataclass(frozen=True)
class Exact:
    """``y = zero_point + round(SRDHM(acc + bias, m) * p / 2**32)``, halves away from zero.

    ``p`` is 2**(32 - right shift).
    """

    m: Ints
    p: Ints
    bias: Ints
    note: str


def solve(scaling: Scaling, lane_bits: Ints, shift: int) -> Affine | Exact | None:
    """The cheapest proved form; None where the dsp blocks have none (the plain kernels do).

    ``shift``: right shift of the affine high word that the block's code has built in, for lanes of 0 bits.
    """
    sums = np.maximum(np.abs(scaling.low), np.abs(scaling.high))
    # the blocks of two pixels take the difference of their sums
    reach = np.maximum(sums, scaling.high - scaling.low)
    if not scaling.is_plain() or (reach >= 2 ** (31 - lane_bits)).any():
        return None
    return _affine(scaling, lane_bits, shift) or _exact(scaling, lane_bits, sums)


def _affine(scaling: Scaling, lane_bits: Ints, shift: int) -> Affine | None:
    guess = np.rint(np.ldexp(scaling.ratio, 32 + shift))
    if (guess > _LIMIT).any():
        return None
    found = scaling.thresholds.fit(guess.astype(np.int64), 32 + shift)
    if found is None:
        return None
    m, c = found
    ends = np.stack([scaling.low, scaling.high]).astype(np.float64) * m + c
    if (np.abs(np.ldexp(ends, lane_bits.astype(np.int32))) >= 2.0**62).any():
        return None
    return Affine(m, c << lane_bits, f"affine, shift {32 + shift}, proved")


def _exact(scaling: Scaling, lane_bits: Ints, sums: Ints) -> Exact | None:
    if scaling.rounding != "double":
        return None
    # a multiplier of zero gives zero with any shift
    right = np.where(scaling.multiplier == 0, 31, -scaling.shift)
    ends = sums + np.abs(scaling.bias)
    if (right < 2).any() or (ends >= np.minimum(2 ** (31 - lane_bits), 2**30)).any():
        return None
    return Exact(scaling.multiplier, np.int64(1) << (32 - right), scaling.bias, "double rounding as TFLite")
