"""Rescaling of int32 accumulators by a Q31 multiplier and a shift, as TFLite's reference kernels do it.

All functions take and return int64 arrays that hold int32 values (so that products need no care); inputs of other
integer types are converted. A multiplier stands for ``m * 2**(shift - 31)``; ``shift`` > 0 shifts left.
Source: gemmlowp/fixedpoint.h, LiteRT kernels/internal/common.cc and quantization_util.cc; formulas derived here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1


def quantise_multiplier(real: float) -> tuple[int, int]:
    """Return ``(m, shift)`` with ``real ~ m * 2**(shift - 31)`` and 2**30 <= m < 2**31 (0, 0 for 0).

    Multipliers below about 2**-32 (shift < -31) are flushed to (0, 0), and so are those of 2**31 and more: a left shift
    that wraps leaves no bit of any int32 (C and TFLite define no shift by 32).
    Source: TFLite QuantizeMultiplier.
    """
    if real == 0.0 or not math.isfinite(real):
        return 0, 0
    fraction, shift = math.frexp(real)
    scaled = fraction * 2.0**31
    multiplier = math.floor(abs(scaled) + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if not -31 <= shift <= 31:
        return 0, 0
    return (multiplier if scaled >= 0 else -multiplier), shift


def quantise_multipliers(reals: npt.ArrayLike) -> tuple[Ints, Ints]:
    """`quantise_multiplier` of every element of a vector: (multipliers, shifts)."""
    pairs = [quantise_multiplier(float(real)) for real in np.asarray(reals, np.float64).ravel()]
    return np.array([m for m, _ in pairs], np.int64), np.array([s for _, s in pairs], np.int64)


def wrap_int32(values: npt.ArrayLike) -> Ints:
    """Reduce modulo 2**32 to the int32 range, as two's complement addition does."""
    return np.asarray(values).astype(np.int64).astype(np.int32).astype(np.int64)


def round_half_away(real: npt.ArrayLike) -> npt.NDArray[Any]:
    """Round to the nearest integer, halves away from zero (C's ``round``). Float type, infinities, NaN are kept."""
    values = np.asarray(real)
    whole = np.trunc(values)
    with np.errstate(invalid="ignore"):
        half = np.abs(values - whole) >= 0.5
    return np.asarray(whole + np.copysign(half, values).astype(values.dtype))


def float_to_int32(real: npt.ArrayLike) -> Ints:
    """Cast whole floats to int32, saturating; NaN gives 0 (what an Arm core's conversion does)."""
    return np.clip(np.nan_to_num(np.asarray(real, np.float64), nan=0.0), INT32_MIN, INT32_MAX).astype(np.int64)


def saturating_rounding_doubling_high_mul(a: npt.ArrayLike, b: npt.ArrayLike) -> Ints:
    """``round(a * b / 2**31)``, halves up; only INT32_MIN squared saturates (to INT32_MAX).

    gemmlowp nudges by 2**30 or 1 - 2**30 and truncates toward zero, which is the same as the one shift here.
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return np.asarray(np.minimum((product + (1 << 30)) >> 31, INT32_MAX))


def rounding_divide_by_pot(x: npt.ArrayLike, exponent: npt.ArrayLike) -> Ints:
    """``x / 2**exponent`` rounded to nearest, halves away from zero; 0 <= exponent <= 31."""
    values, bits = np.asarray(x, np.int64), np.asarray(exponent, np.int64)
    return (values + ((1 << bits) >> 1) - ((values < 0) & (bits > 0))) >> bits


def multiply_by_quantised_multiplier(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Ints:
    """``x * m * 2**(shift - 31)`` with gemmlowp's two roundings; a left shift wraps as in C.

    ``multiplier`` and ``shift`` broadcast against ``x`` (per channel: vectors for the last axis).
    """
    values, shifts = np.asarray(x, np.int64), np.asarray(shift, np.int64)
    left = np.maximum(shifts, 0)
    if left.any():
        values = wrap_int32(values << left)
    high = saturating_rounding_doubling_high_mul(values, multiplier)
    return rounding_divide_by_pot(high, np.maximum(-shifts, 0))
