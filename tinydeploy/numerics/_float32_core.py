"""What the float32 functions share: bits, powers of two, polynomials, in the order of td_math_bits.h."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Reals: TypeAlias = npt.NDArray[np.float32]
Function: TypeAlias = "Callable[..., Reals]"

F = np.float32
INFINITY = F(np.inf)
NOT_A_NUMBER = F(np.nan)
LN2_HIGH = F(0.69314575)  # 15 bits: times a binary exponent it is exact
LN2_LOW = F(1.4286068e-06)
SIGN = np.uint32(0x80000000)


def quiet(function: Function) -> Function:
    """Take and give float32 arrays of any rank; overflow, division by zero and NaN are results, not warnings."""

    @functools.wraps(function)
    def wrapped(*arguments: npt.ArrayLike) -> Reals:
        arrays = [np.asarray(x, np.float32) for x in arguments]
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in arrays]
        with np.errstate(all="ignore"):
            result = function(*flat)
        assert result.dtype == np.float32
        return result.reshape(shape)

    return wrapped


def bits(x: Reals) -> npt.NDArray[np.int64]:
    """The 32 bits as a number from 0."""
    return np.ascontiguousarray(x).view(np.uint32).astype(np.int64)


def from_bits(b: npt.NDArray[Any]) -> Reals:
    """The float of 32 bits."""
    return np.ascontiguousarray(b).astype(np.uint32).view(np.float32)


def with_sign(magnitude: Reals, x: Reals) -> Reals:
    """``magnitude`` (not negative) with the sign of x."""
    return np.copysign(magnitude, x)


def scale(y: Reals, n: npt.NDArray[np.int64]) -> Reals:
    """``y * 2**n`` for -252 <= n <= 254 in two products, of which only the second rounds."""
    half = n >> 1
    return (y * from_bits((half + 127) << 23)) * from_bits((n - half + 127) << 23)


def polynomial(x: Reals, coefficients: tuple[float, ...]) -> Reals:
    """Horner's rule; the coefficients begin with the constant one."""
    result = np.full_like(x, F(coefficients[-1]))
    for c in coefficients[-2::-1]:
        result = result * x + F(c)
    return result
