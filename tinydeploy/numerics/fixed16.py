"""Fixed-point sigmoid and hyperbolic tangent of int16 raw values, as gemmlowp computes them.

A raw value with ``i`` integer bits stands for ``raw / 2**(15 - i)``. Everything is int64 arrays of int16 values.
Source: gemmlowp/fixedpoint.h; its 32-bit constants are rounded to 16 bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics.requantise import Ints, rounding_divide_by_pot

INT16_MIN = -(2**15)
INT16_MAX = 2**15 - 1

_EXP_MINUS_EIGHTH = 28918  # exp(-1/8) in Q0.15
_ONE_THIRD = 10923
_EXP_STEPS = ((-2, 25520), (-1, 19875), (0, 12055), (1, 4435), (2, 600), (3, 11), (4, 0))  # (p, exp(-2**p)) in Q0.15
_48_OVER_17 = 23130  # Q2.13
_MINUS_32_OVER_17 = -15420
_CLAMP = -32  # below, exp is 0


def multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> Ints:
    """``round(a * b / 2**15)``, halves up; only INT16_MIN squared saturates."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return np.asarray(np.minimum((product + (1 << 14)) >> 15, INT16_MAX))


def saturate(x: npt.ArrayLike) -> Ints:
    """X limited to int16."""
    return np.asarray(np.clip(np.asarray(x, np.int64), INT16_MIN, INT16_MAX))


def wrap(x: npt.ArrayLike) -> Ints:
    """X modulo 2**16 as int16."""
    return np.asarray(x, np.int64).astype(np.int16).astype(np.int64)


def sigmoid(raw: npt.ArrayLike, integer_bits: int) -> Ints:
    """``1 / (1 + exp(-x))``: input with ``integer_bits``, result in Q0.15."""
    x = np.asarray(raw, np.int64)
    positive = _halves_inverse(_exp(-np.abs(x), integer_bits), minus_one=False)
    return np.where(x == 0, 1 << 14, np.where(x > 0, positive, INT16_MAX - positive))


def tanh(raw: npt.ArrayLike, integer_bits: int) -> Ints:
    """``tanh(x)``: input with ``integer_bits``, result in Q0.15."""
    x = np.asarray(raw, np.int64)
    size = _halves_inverse(_exp(-np.abs(x), integer_bits + 1), minus_one=True)
    return np.where(x == 0, 0, np.where(x > 0, size, -size))


def _exp(a: Ints, integer_bits: int) -> Ints:
    """``exp(a)`` for a <= 0, Q0.15."""
    fractional_bits = 15 - integer_bits
    quarter = 1 << (fractional_bits - 2)
    reduced = (a & (quarter - 1)) - quarter
    result = _exp_near_minus_eighth(saturate(reduced << integer_bits))
    remainder = reduced - a
    for power, factor in _EXP_STEPS:
        if integer_bits > power:
            result = np.where(remainder & (1 << (fractional_bits + power)), multiply(result, factor), result)
    if integer_bits > 5:
        result = np.where(a < _CLAMP << fractional_bits, 0, result)
    return np.where(a == 0, INT16_MAX, result)


def _exp_near_minus_eighth(a: Ints) -> Ints:
    """``exp(a)`` for a in [-1/4, 0), Q0.15: a Taylor series around -1/8."""
    x = a + (1 << 12)
    x2 = multiply(x, x)
    x3 = multiply(x2, x)
    x4 = multiply(x2, x2)
    series = rounding_divide_by_pot(multiply(rounding_divide_by_pot(x4, 2) + x3, _ONE_THIRD) + x2, 1)
    return saturate(_EXP_MINUS_EIGHTH + multiply(_EXP_MINUS_EIGHTH, x + series))


def _halves_inverse(a: Ints, *, minus_one: bool) -> Ints:
    """``1 / (1 + a)`` for a in [0, 1), or with ``minus_one`` ``(1 - a) / (1 + a)``: three Newton steps in Q2.13."""
    half = (a + INT16_MAX + 1) >> 1
    x = _48_OVER_17 + multiply(half, _MINUS_32_OVER_17)
    for _ in range(3):
        error = (1 << 13) - multiply(half, x)
        x = wrap(x + saturate(multiply(x, error) << 2))
    return saturate((x - (1 << 13)) << 2) if minus_one else saturate(x << 1)
