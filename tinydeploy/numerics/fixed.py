"""Fixed-point exponential and reciprocal of int32 raw values, as gemmlowp computes them.

A raw value with ``i`` integer bits stands for ``raw / 2**(31 - i)``. Everything is int64 arrays of int32 values.
Source: gemmlowp/fixedpoint.h (constants are its own), TFLite GetReciprocal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics.requantise import (
    INT32_MAX,
    INT32_MIN,
    Ints,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
)

_EXP_MINUS_EIGHTH = 1895147668  # exp(-1/8) in Q0.31
_ONE_THIRD = 715827883
_EXP_STEPS = (  # (power of two p, exp(-2**p) in Q0.31)
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)
_48_OVER_17 = 1515870810  # Q2.29
_MINUS_32_OVER_17 = -1010580540

_mul = saturating_rounding_doubling_high_mul


def shift_left_saturating(x: npt.ArrayLike, bits: int) -> Ints:
    """``x * 2**bits`` limited to int32."""
    return np.asarray(np.clip(np.asarray(x, np.int64) << bits, INT32_MIN, INT32_MAX))


def exp_on_negative_values(raw: npt.ArrayLike, integer_bits: int) -> Ints:
    """``exp(a)`` for a <= 0: input with ``integer_bits`` (0 to 5), result in Q0.31 (exp(0) is INT32_MAX)."""
    a = np.asarray(raw, np.int64)
    fractional_bits = 31 - integer_bits
    quarter = 1 << (fractional_bits - 2)
    reduced = (a & (quarter - 1)) - quarter
    result = _exp_near_minus_eighth(shift_left_saturating(reduced, integer_bits))
    remainder = reduced - a
    for power, factor in _EXP_STEPS:
        if integer_bits > power:
            bit = 1 << (fractional_bits + power)
            result = np.where(remainder & bit, _mul(result, factor), result)
    return np.where(a == 0, INT32_MAX, result)


def _exp_near_minus_eighth(a: Ints) -> Ints:
    """``exp(a)`` for a in [-1/4, 0), Q0.31: a Taylor series around -1/8."""
    x = a + (1 << 28)
    x2 = _mul(x, x)
    x3 = _mul(x2, x)
    x4 = _mul(x2, x2)
    series = rounding_divide_by_pot(_mul(rounding_divide_by_pot(x4, 2) + x3, _ONE_THIRD) + x2, 1)
    return _EXP_MINUS_EIGHTH + _mul(_EXP_MINUS_EIGHTH, x + series)


def one_over_one_plus_x(raw: npt.ArrayLike) -> Ints:
    """``1 / (1 + x)`` for x in [0, 1), Q0.31 in and out: three Newton steps on the half denominator."""
    total = np.asarray(raw, np.int64) + INT32_MAX
    half = np.where(total >= 0, (total + 1) >> 1, -((1 - total) >> 1))
    x = _48_OVER_17 + _mul(half, _MINUS_32_OVER_17)
    for _ in range(3):
        error = (1 << 29) - _mul(half, x)
        x = x + shift_left_saturating(_mul(x, error), 2)
    return shift_left_saturating(x, 1)


def reciprocal(x: npt.ArrayLike, integer_bits: int) -> tuple[Ints, Ints]:
    """``(scale, bits)`` with ``1 / x ~ scale * 2**-31 * 2**-bits`` for raw x > 0 with ``integer_bits``.

    ``bits`` is how many bits x lies above 1. Source: TFLite GetReciprocal.
    """
    values = np.asarray(x, np.int64)
    headroom = 32 - (np.floor(np.log2(values.astype(np.float64))).astype(np.int64) + 1)
    fraction = (values << headroom) - (1 << 31)
    return one_over_one_plus_x(fraction), integer_bits - headroom
