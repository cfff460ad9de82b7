"""Sine, cosine, tangent and their inverses: the twin of td_math_trig.c, bit for bit.

Arguments are reduced with 96 bits of 2/pi in integers, right for every float. Polynomials were fitted here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics._float32_core import INFINITY, NOT_A_NUMBER, F, Reals, bits, polynomial, quiet, with_sign

_TWO_OVER_PI = np.array(  # 32 zero bits, then the fraction
    [0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB], np.uint64
)
_QUARTER = F(0.7853982)  # pi / 4
_STEP = F(3.4061217e-19)  # pi / 2 / 2**62
_HALF_HIGH, _HALF_LOW = F(1.5707964), F(-4.371139e-08)  # pi / 2
_PI_HIGH, _PI_LOW = F(3.1415927), F(-8.742278e-08)
_QUARTER_LOW = F(-2.1855695e-08)
_SIN = (-1.6666667e-01, 8.333329e-03, -1.9839327e-04, 2.7182373e-06)
_COS = (4.1666646e-02, -1.3887362e-03, 2.4437728e-05)
_TAN = (3.3333352e-01, 1.33326e-01, 5.4066755e-02, 2.1248586e-02, 1.0919236e-02, -1.2279032e-05, 4.424833e-03)
_ASIN = (1.6666754e-01, 7.4952416e-02, 4.5477096e-02, 2.4147611e-02, 4.2218547e-02)
_ATAN = (-3.3333316e-01, 1.9998479e-01, -1.4243628e-01, 1.0594273e-01, -6.0788497e-02)


def _quadrant(a: Reals) -> tuple[Reals, npt.NDArray[np.int64]]:
    """``a = r + n * pi / 2`` modulo 2 pi with abs(r) up to pi / 4, for finite a >= 0: r and n modulo 4."""
    near = ~(a > _QUARTER)
    b = bits(np.where(near, F(1), a))
    mantissa = ((b & 0x7FFFFF) | 0x800000).astype(np.uint64)
    at = (b >> 23) - 120
    word, shift = at >> 5, (at & 31).astype(np.uint64)
    low32, bits32 = np.uint64(0xFFFFFFFF), np.uint64(32)
    high, middle, low = (
        ((((_TWO_OVER_PI[word + i] << bits32) | _TWO_OVER_PI[word + i + 1]) << shift) >> bits32) & low32
        for i in range(3)
    )
    product = ((mantissa * high) << bits32) + mantissa * middle + ((mantissa * low) >> bits32)
    n = (product + np.uint64(2**61)) >> np.uint64(62)
    rest = (product - (n << np.uint64(62))).astype(np.int64)
    r = rest.astype(np.float32) * _STEP
    return np.where(near, a, r), np.where(near, 0, (n & np.uint64(3)).astype(np.int64))


def _sin_near(r: Reals) -> Reals:
    z = r * r
    return r + r * (z * polynomial(z, _SIN))


def _cos_near(r: Reals) -> Reals:
    z = r * r
    h = F(0.5) * z
    w = F(1) - h
    return np.asarray(w + (((F(1) - w) - h) + (z * z) * polynomial(z, _COS)))


def _finite(a: Reals) -> Reals:
    return np.where(a < INFINITY, a, F(0))


@quiet
def sin(x: Reals) -> Reals:
    """Sine; NaN for infinities."""
    a = np.abs(x)
    r, n = _quadrant(_finite(a))
    y = np.where(n & 1, _cos_near(r), _sin_near(r))
    y = np.where(n & 2, -y, y)
    return np.where(a < INFINITY, np.where(np.signbit(x), -y, y), NOT_A_NUMBER)


@quiet
def cos(x: Reals) -> Reals:
    """Cosine; NaN for infinities."""
    a = np.abs(x)
    r, n = _quadrant(_finite(a))
    y = np.where(n & 1, _sin_near(r), _cos_near(r))
    return np.where(a < INFINITY, np.where((n + 1) & 2, -y, y), NOT_A_NUMBER)


@quiet
def tan(x: Reals) -> Reals:
    """Tangent; NaN for infinities."""
    a = np.abs(x)
    r, n = _quadrant(_finite(a))
    z = r * r
    y = r + r * (z * polynomial(z, _TAN))
    y = np.where(n & 1, F(-1) / y, y)
    return np.where(a < INFINITY, np.where(np.signbit(x), -y, y), NOT_A_NUMBER)


def _asin_near(a: Reals, z: Reals) -> Reals:
    """What ``asin(a) - a`` is, for z = a * a up to 1/4."""
    return a * (z * polynomial(z, _ASIN))


@quiet
def asin(x: Reals) -> Reals:
    """Inverse sine; NaN beyond 1."""
    a = np.abs(x)
    z = F(0.5) * (F(1) - a)
    s = np.sqrt(z)
    far = _HALF_HIGH - (F(2) * (s + _asin_near(s, z)) - _HALF_LOW)
    y = np.where(a < F(0.5), a + _asin_near(a, a * a), far)
    return with_sign(np.where(a <= 1, y, NOT_A_NUMBER), x)


@quiet
def acos(x: Reals) -> Reals:
    """Inverse cosine; NaN beyond 1."""
    a = np.abs(x)
    z = F(0.5) * (F(1) - a)
    s = np.sqrt(z)
    twice = F(2) * (s + _asin_near(s, z))
    far = np.where(x < 0, _PI_HIGH - (twice - _PI_LOW), twice)
    near = _HALF_HIGH - (x - (_HALF_LOW - _asin_near(x, x * x)))
    return np.asarray(np.where(a <= 1, np.where(a < F(0.5), near, far), NOT_A_NUMBER))


def _atan_magnitude(a: Reals) -> Reals:
    """The inverse tangent of a >= 0."""
    large, middle = a > F(2.4142137), a > F(0.41421357)
    t = np.where(large, F(-1) / a, np.where(middle, (a - F(1)) / (a + F(1)), a))
    high = np.where(large, _HALF_HIGH, np.where(middle, _QUARTER, F(0)))
    low = np.where(large, _HALF_LOW, np.where(middle, _QUARTER_LOW, F(0)))
    z = t * t
    return np.asarray(high + (t + (t * (z * polynomial(z, _ATAN)) + low)))


@quiet
def atan(x: Reals) -> Reals:
    """Inverse tangent."""
    return with_sign(_atan_magnitude(np.abs(x)), x)


@quiet
def atan2(y: Reals, x: Reals) -> Reals:
    """The angle of the point (x, y), from -pi to pi, signs of zeros and infinities as in C."""
    a, b = np.abs(y), np.abs(x)
    ratio = np.where(a == b, np.where(a == 0, F(0), F(1)), a / b)
    p = _atan_magnitude(ratio)
    p = np.where(np.signbit(x), _PI_HIGH - (p - _PI_LOW), p)
    return with_sign(np.where(np.isnan(x) | np.isnan(y), NOT_A_NUMBER, p), y)
