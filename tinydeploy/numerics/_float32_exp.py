"""Exponential, logarithm and hyperbolic functions: the twin of td_math.c, bit for bit.

Polynomials were fitted here (weighted minimax on Chebyshev nodes).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics._float32_core import (
    INFINITY,
    LN2_HIGH,
    LN2_LOW,
    NOT_A_NUMBER,
    F,
    Reals,
    bits,
    from_bits,
    polynomial,
    quiet,
    scale,
    with_sign,
)

_LOG2E = F(1.442695)
_MAGIC = F(12582912.0)  # 1.5 * 2**23: adding and subtracting it rounds to a whole number
_LN2 = F(0.6931472)
_EXP = (0.5, 1.6666512e-01, 4.1666187e-02, 8.369599e-03, 1.3951717e-03)
_LOG = (6.666678e-01, 3.997708e-01, 2.988519e-01)
_TANH = (-3.3333284e-01, 1.3331491e-01, -5.3743497e-02, 2.0650579e-02, -5.717037e-03)
_SINH = (1.6666667e-01, 8.3333505e-03, 1.9836066e-04, 2.8174397e-06)
_ERF_NEAR = (1.2837917e-01, -3.7612635e-01, 1.1283737e-01, -2.6861774e-02, 5.207219e-03, -8.216547e-04, 8.698966e-05)
_ERF_FAR = (
    *(5.364941e00, 4.418161e00, 9.237513e-01, 1.6466144e-02, -3.5716358e-03),
    *(7.279399e-04, -1.3788968e-04, 2.3534025e-05, 9.3879186e-07),
)


def _reduce(x: Reals) -> tuple[Reals, npt.NDArray[np.int64]]:
    """``x = r + n * ln 2`` with abs(r) below 0.35; abs(x) is below 110."""
    n = (x * _LOG2E + _MAGIC) - _MAGIC
    return (x - n * LN2_HIGH) - n * LN2_LOW, n.astype(np.int64)


def exp_less_one(r: Reals) -> Reals:
    """``exp(r) - 1`` for abs(r) below 0.35."""
    return r + (r * r) * polynomial(r, _EXP)


def _exp_scaled(x: Reals, extra: int) -> Reals:
    """``exp(x) * 2**extra``."""
    r, n = _reduce(np.where((x >= -105) & (x <= 90), x, F(0)))
    y = scale(F(1) + exp_less_one(r), n + extra)
    y = np.where(x > 90, INFINITY, np.where(x < -105, F(0), y))
    return np.where(np.isnan(x), x, y)


@quiet
def exp(x: Reals) -> Reals:
    """Euler's number to the power x."""
    return _exp_scaled(x, 0)


@quiet
def expm1(x: Reals) -> Reals:
    """``exp(x) - 1``, exact in small x too."""
    r, n = _reduce(np.where((x >= -18) & (x <= 90), x, F(0)))
    one = np.where(n > 30, F(0), from_bits((127 - np.minimum(n, 30)) << 23))
    y = scale((F(1) - one) + exp_less_one(r), n)
    y = np.where(x > 90, INFINITY, np.where(x < -18, F(-1), y))
    return np.where(np.isnan(x) | (np.abs(x) < F(2.0**-25)), x, y)


def _split(x: Reals) -> tuple[Reals, Reals]:
    """``x = 2**e * (1 + f)`` with 1 + f from sqrt(1/2) to sqrt(2), x > 0 and finite: f and e as floats."""
    small = x < F(2.0**-126)
    b = bits(np.where(small, x * F(8388608.0), x)) + 0x004AFB0D
    e = (b >> 23) - 127 - np.where(small, 23, 0)
    return from_bits((b & 0x7FFFFF) + 0x3F3504F3) - F(1), e.astype(np.float32)


def _log_parts(f: Reals, e: Reals, c: Reals) -> Reals:
    """``log(1 + f) + e * ln 2 + c``."""
    s = f / (F(2) + f)
    z = s * s
    h = F(0.5) * f * f
    low = s * (h + z * polynomial(z, _LOG)) + (e * LN2_LOW + c)
    return np.asarray(e * LN2_HIGH + (f - (h - low)))


@quiet
def log(x: Reals) -> Reals:
    """Natural logarithm; -inf for 0, NaN below."""
    f, e = _split(np.where((x > 0) & (x < INFINITY), x, F(1)))
    y = np.where(x == INFINITY, INFINITY, _log_parts(f, e, np.zeros_like(f)))
    y = np.where(x == 0, -INFINITY, y)
    return np.where(x >= 0, y, NOT_A_NUMBER)


@quiet
def log1p(x: Reals) -> Reals:
    """``log(1 + x)``, exact in small x too."""
    inside = np.where((x > -1) & (x < INFINITY), x, F(0))
    u = F(1) + inside
    f, e = _split(u)
    c = np.where(e > 0, F(1) - (u - inside), inside - (u - F(1))) / u
    near = e == 0
    y = _log_parts(np.where(near, inside, f), e, np.where(near, F(0), c))
    y = np.where(x == INFINITY, INFINITY, y)
    y = np.where(x == -1, -INFINITY, y)
    y = np.where(x >= -1, y, NOT_A_NUMBER)
    return np.where(np.abs(x) < F(2.0**-25), x, y)


@quiet
def tanh(x: Reals) -> Reals:
    """Hyperbolic tangent."""
    a = np.abs(x)
    z = a * a
    near = a + a * (z * polynomial(z, _TANH))
    far = F(1) - F(2) / (_exp_scaled(F(2) * np.minimum(a, F(20)), 0) + F(1))
    y = np.where(a < F(0.625), near, np.where(a > 10, F(1), far))
    return np.where(np.isnan(x), x, with_sign(y, x))


@quiet
def sigmoid(x: Reals) -> Reals:
    """``1 / (1 + exp(-x))``."""
    e = _exp_scaled(-np.abs(x), 0)
    return np.asarray(np.where(x >= 0, F(1), e) / (F(1) + e))


@quiet
def erf(x: Reals) -> Reals:
    """The error function."""
    a = np.abs(x)
    near = a + a * polynomial(a * a, _ERF_NEAR)
    far = F(1) - _exp_scaled(-polynomial(np.minimum(a, F(4)) - F(2), _ERF_FAR), 0)
    y = np.where(a < F(0.875), near, np.where(a > 4, F(1), far))
    return np.where(np.isnan(x), x, with_sign(y, x))


@quiet
def sinh(x: Reals) -> Reals:
    """Hyperbolic sine."""
    a = np.abs(x)
    z = a * a
    half = _exp_scaled(a, -1)
    y = np.where(a < 1, a + a * (z * polynomial(z, _SINH)), half - F(0.25) / half)
    return with_sign(y, x)


@quiet
def cosh(x: Reals) -> Reals:
    """Hyperbolic cosine."""
    half = _exp_scaled(np.abs(x), -1)
    return np.asarray(half + F(0.25) / half)


@quiet
def asinh(x: Reals) -> Reals:
    """Inverse hyperbolic sine."""
    a = np.abs(x)
    z = a * a
    root = np.sqrt(F(1) + z)
    middle = log(F(2) * a + F(1) / (root + a))
    y = np.where(a > 2, middle, log1p(a + z / (F(1) + root)))
    return with_sign(np.where(a > 8192, log(a) + _LN2, y), x)


@quiet
def acosh(x: Reals) -> Reals:
    """Inverse hyperbolic cosine; NaN below 1."""
    t = x - F(1)
    middle = log(F(2) * x - F(1) / (x + np.sqrt(x * x - F(1))))
    y = np.where(x > 2, middle, log1p(t + np.sqrt(F(2) * t + t * t)))
    y = np.where(x > 8192, log(x) + _LN2, y)
    return np.where(x >= 1, y, NOT_A_NUMBER)


@quiet
def atanh(x: Reals) -> Reals:
    """Inverse hyperbolic tangent; infinite at 1 and -1, NaN beyond."""
    a = np.abs(x)
    t = a + a
    argument = np.where(a < F(0.5), t + t * a / (F(1) - a), t / (F(1) - a))
    y = np.where(a <= 1, F(0.5) * log1p(argument), NOT_A_NUMBER)
    return with_sign(y, x)
