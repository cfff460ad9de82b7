"""Fixed-point exponential, logarithm, reciprocal, inverse square root of int32 raw values, as gemmlowp computes them.

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
_HALF_SQRT_2 = 1518500250  # Q0.31, as the next two
_FOURTH_ROOT_OF_HALF = 1805811301
_LOG_2 = 1488522236

_mul = saturating_rounding_doubling_high_mul


def shift_left_saturating(x: npt.ArrayLike, bits: npt.ArrayLike) -> Ints:
    """``x * 2**bits`` limited to int32."""
    return np.asarray(np.clip(np.asarray(x, np.int64) << np.asarray(bits, np.int64), INT32_MIN, INT32_MAX))


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


def inverse_square_root(x: npt.ArrayLike) -> tuple[Ints, Ints]:
    """``(multiplier, shift)`` with ``1 / sqrt(x) ~ multiplier * 2**(shift - 31)`` for whole x, 0 taken as 1.

    Five Newton steps from 1 in Q3.28. Source: TFLite GetInvSqrtQuantizedMultiplierExp.
    """
    values = np.asarray(x, np.int64)
    shift = np.full(values.shape, 11, np.int64)
    for _ in range(2):  # an int32 is below 2**31: twice by 4 brings it below 2**29
        large = values >= 1 << 29
        values, shift = np.where(large, values >> 2, values), shift + large
    pairs = (31 - _length(np.maximum(values, 1))) // 2 - 1
    shift -= pairs
    scaled = np.maximum(values, 1) << (2 * pairs)
    raw = scaled >> 1
    half = rounding_divide_by_pot(raw, 1)
    y = np.full(values.shape, 1 << 28, np.int64)
    for _ in range(5):
        cube = shift_left_saturating(_mul(_mul(y, y), y), 6)
        y = shift_left_saturating(_mul((1 << 28) + (1 << 27), y) - _mul(half, cube), 3)
    y = _mul(y, _HALF_SQRT_2)
    y, shift = np.where(shift < 0, y << np.maximum(-shift, 0), y), np.maximum(shift, 0)
    small = np.asarray(x, np.int64) <= 1
    return np.where(small, INT32_MAX, y), np.where(small, 0, -shift)


def logarithm(raw: npt.ArrayLike, integer_bits: int, result_bits: int) -> Ints:
    """``log(x)`` for x >= 1 with ``integer_bits``; the result has ``result_bits`` integer bits.

    x is brought to a power of two times r near 1 in two ways, the larger power is taken; log(r) is a rational function.
    Source: TFLite log_x_for_x_greater_than_or_equal_to_1_impl.
    """
    x = np.asarray(raw, np.int64)
    unit = 31 - (result_bits + 1)  # fractional bits of powers and sums: one integer bit more than the result has
    quarter = 1 << (unit - 2)
    leading = 32 - _length(x)
    r_a = shift_left_saturating(_mul(shift_left_saturating(x, leading - 1), _HALF_SQRT_2), 1)
    power_a = shift_left_saturating(integer_bits - leading, unit) + quarter
    headroom = 31 - _length(_mul(x, _HALF_SQRT_2))
    r_b = shift_left_saturating(x, headroom)
    power_b = shift_left_saturating(integer_bits - headroom, unit) - quarter
    r, power = np.minimum(r_a, r_b), np.maximum(power_a, power_b)
    p = (r + _FOURTH_ROOT_OF_HALF + 1) >> 1
    q = 2 * (r - _FOURTH_ROOT_OF_HALF)
    square = _mul(q, q)
    numerator = _mul(q, r) + _mul(_mul(q, square), 117049297)
    denominator = _mul(p, 1057819769 + q + _mul(127690142, square)) + _mul(638450708, q)
    rest = _mul(rounding_divide_by_pot(numerator, result_bits + 1), one_over_one_plus_x(denominator))
    return shift_left_saturating(_mul(power, _LOG_2) + rest, 1)


def _length(x: Ints) -> Ints:
    """Bits of each x >= 1 up to its highest one."""
    return np.floor(np.log2(x.astype(np.float64))).astype(np.int64) + 1
