"""Powers: the twin of td_math_pow.c, bit for bit.

The logarithm to base 2 is computed in 64-bit fixed point, since its error is multiplied by the result's exponent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics._float32_core import INFINITY, NOT_A_NUMBER, F, Reals, bits, quiet, scale
from tinydeploy.numerics._float32_exp import exp_less_one

# The 16 intervals of a mantissa: a reciprocal in 256ths, and minus its logarithm to base 2 times 2**55.
_RECIPROCAL = np.array([256, 234, 221, 210, 200, 191, 182, 174, 167, 161, 155, 149, 144, 139, 134, 128])
_LOGARITHM = np.array(
    [
        *(0, 4670603204625993, 7641615635927878, 10295390241266393, 12831433048166868, 15224730980765728),
        *(17733566999927299, 20070075716159827, 22204392950111157, 24106259987223193, 26080366869356319),
        *(28132418882286098, 29906603633551736, 31743493252590887, 33647682990813235, 36028797018963968),
    ]
)
_SERIES = (7605442891, -12392656058, 8261770733, -6196286431, 4957009571, -4152149614, 3562371098)  # times 2**34
_LN2_STEP = F(6.304137e-13)  # ln 2 / 2**40

Ints = npt.NDArray[np.int64]


def _normal(x: Reals) -> tuple[Ints, Ints]:
    """``x = m * 2**e`` with 2**23 <= m < 2**24, for finite x > 0."""
    small = x < F(2.0**-126)
    b = bits(np.where(small, x * F(8388608.0), x))
    return (b & 0x7FFFFF) | 0x800000, (b >> 23) - 150 - np.where(small, 23, 0)


def _log2(x: Reals) -> Ints:
    """The logarithm to base 2 of finite x > 0, times 2**55."""
    m, e = _normal(x)
    index = (m >> 19) & 15
    z = m * _RECIPROCAL[index] - 2**31
    h = np.full_like(z, _SERIES[-1])
    for c in _SERIES[-2::-1]:
        h = ((h * z) >> 31) + c
    return np.asarray((e + 23) * 2**55 + _LOGARITHM[index] + z * 2**24 + ((z * h) >> 10))


def _exp2_of_product(logarithm: Ints, y: Reals) -> Reals:
    """``2 ** (y * logarithm / 2**55)`` for finite y other than 0."""
    rest = np.abs(logarithm).astype(np.uint64)
    left = np.zeros_like(logarithm)
    for step in (32, 16, 8, 4, 2, 1):
        short = (rest >> np.uint64(64 - step)) == 0
        rest = np.where(short, rest << np.uint64(step), rest)
        left = np.where(short, left + step, left)
    m, e = _normal(np.abs(y))
    product = (rest >> np.uint64(24)) * m.astype(np.uint64)
    right = left - e - 9
    huge = (right < 0) | ((product >> np.clip(right, 0, 63).astype(np.uint64)) >= np.uint64(2**48))
    v = np.where(huge | (right > 63), np.uint64(0), product >> np.clip(right, 0, 63).astype(np.uint64)).astype(np.int64)
    negative = (logarithm < 0) != (y < 0)
    v = np.where(negative, -v, v)
    n = (v + 2**39) >> 40
    r = (v - n * 2**40).astype(np.float32) * _LN2_STEP
    result = np.where(n < -151, F(0), scale(F(1) + exp_less_one(r), np.clip(n, -151, 129)))
    result = np.where(huge, np.where(negative, F(0), INFINITY), result)
    return np.where(logarithm == 0, F(1), result)


@quiet
def pow(x: Reals, y: Reals) -> Reals:
    """``x`` to the power ``y``; signs, zeros, infinities and NaN as C's pow has them."""
    a, b = np.abs(x), np.abs(y)
    ordinary = (a > 0) & (a < INFINITY) & (b > 0) & (b < INFINITY)
    result = _exp2_of_product(_log2(np.where(ordinary, a, F(1))), np.where(ordinary, y, F(1)))
    grows = (a > 1) == (y > 0)
    edge = np.where(grows, INFINITY, F(0))  # 0, infinity or an infinite power
    result = np.where(ordinary, result, np.where((a == 1) & (b == INFINITY), F(1), edge))
    whole = (b >= F(2.0**23)) | (np.trunc(b) == b)
    odd = (b < F(2.0**24)) & whole & ((np.where(b < F(2.0**24), b, F(0)).astype(np.int64) & 1) == 1)
    result = np.where(np.signbit(x) & odd, -result, result)
    result = np.where((x < 0) & (a < INFINITY) & ~whole, NOT_A_NUMBER, result)
    result = np.where(np.isnan(x) | np.isnan(y), NOT_A_NUMBER, result)
    return np.where((y == 0) | (x == 1), F(1), result)
