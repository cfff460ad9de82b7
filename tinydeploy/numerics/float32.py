"""Mathematical functions in float32, each equal in every bit to ``td_<name>f`` of runtime_c/include/td_math.h.

They take arrays (or numbers) of any shape, convert them to float32 and return float32 arrays. Errors stay below 3 units
in the last place (tangent: 4), mostly below 1; ``sqrt`` and the roundings are exact. NaN in,
NaN out (its bits are not defined).
"""

from __future__ import annotations

import numpy as np

from tinydeploy.numerics._float32_core import Reals, quiet
from tinydeploy.numerics._float32_exp import (
    acosh,
    asinh,
    atanh,
    cosh,
    erf,
    exp,
    expm1,
    log,
    log1p,
    sigmoid,
    sinh,
    tanh,
)
from tinydeploy.numerics._float32_pow import pow
from tinydeploy.numerics._float32_trig import acos, asin, atan, atan2, cos, sin, tan

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "pow",
    "rint",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@quiet
def sqrt(x: Reals) -> Reals:
    """Square root, rounded correctly; NaN below 0."""
    return np.sqrt(x)


@quiet
def floor(x: Reals) -> Reals:
    """The next whole number below."""
    return np.floor(x)


@quiet
def ceil(x: Reals) -> Reals:
    """The next whole number above."""
    return np.ceil(x)


@quiet
def rint(x: Reals) -> Reals:
    """The nearest whole number, halves to even."""
    return np.rint(x)
