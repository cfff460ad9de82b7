"""TFLite's integer arithmetic of two quantised operands with scales of their own; add, sub, mul: see `_binary`."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import fixed
from tinydeploy.numerics.requantise import (
    Ints,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
)
from tinydeploy.ops._op import Signature

Multiplier: TypeAlias = "tuple[int, int]"  # Q31 and shift
DIFFERENCE_SHIFT = 7  # bits by which operands are raised before they are brought to a common scale
COMPARISON_SHIFT = 8


def _centred(x: Array, kind: Type) -> Ints:
    return np.asarray(x.astype(np.int64) - kind.zero_point)


def _finish(values: Ints, kind: Type) -> Array:
    return np.asarray(np.clip(values + kind.zero_point, *kind.elem.limits).astype(kind.elem.dtype))


def prelu_multipliers(sig: Signature) -> tuple[Multiplier, Multiplier]:
    """Of x, and of products of x and the slope."""
    x, slope, kind = sig.input(0), sig.input(1), sig.outputs[0]
    return quantise_multiplier(x.scale / kind.scale), quantise_multiplier(x.scale * slope.scale / kind.scale)


def prelu(sig: Signature, a: Array, b: Array) -> Array:
    """Both halves with double rounding. Source: TFLite PRELU; checked against LiteRT on all pairs."""
    above, below = prelu_multipliers(sig)
    x = _centred(a, sig.input(0))
    product = x * _centred(b, sig.input(1))
    kept, sloped = multiply_by_quantised_multiplier(x, *above), multiply_by_quantised_multiplier(product, *below)
    return _finish(np.where(x >= 0, kept, sloped), sig.outputs[0])


def difference_multipliers(sig: Signature) -> tuple[Multiplier, Multiplier, Multiplier]:
    """Of a, of b, and of the square of their difference."""
    common = 2.0 * max(sig.input(0).scale, sig.input(1).scale)
    a, b = (quantise_multiplier(sig.input(i).scale / common) for i in (0, 1))
    return a, b, quantise_multiplier(common * common / (2 ** (2 * DIFFERENCE_SHIFT) * sig.outputs[0].scale))


def squared_difference(sig: Signature, a: Array, b: Array) -> Array:
    """On a common scale of twice the larger. Source: TFLite SQUARED_DIFFERENCE; checked against LiteRT on all pairs."""
    first, second, result = difference_multipliers(sig)
    left = _centred(a, sig.input(0)) << DIFFERENCE_SHIFT
    right = _centred(b, sig.input(1)) << DIFFERENCE_SHIFT
    gap = multiply_by_quantised_multiplier(left, *first) - multiply_by_quantised_multiplier(right, *second)
    return _finish(multiply_by_quantised_multiplier(gap * gap, *result), sig.outputs[0])


def comparable(x: Array, kind: Type) -> Ints:
    """Values of one operand of a comparison in 256ths, as TFLite compares them; what leaves int32 there stays large."""
    if kind.scale * 2.0 ** (COMPARISON_SHIFT + kind.elem.bits) >= 2.0**31:
        exact = _centred(x, kind) * (2.0**COMPARISON_SHIFT * kind.scale)
        return np.asarray(np.clip(exact, -(2.0**62), 2.0**62).astype(np.int64))
    return multiply_by_quantised_multiplier(_centred(x, kind) << COMPARISON_SHIFT, *quantise_multiplier(kind.scale))


def quotient_multiplier(sig: Signature) -> Multiplier:
    """Of quotients of a and b."""
    return quantise_multiplier(sig.input(0).scale / (sig.input(1).scale * sig.outputs[0].scale))


def divide(sig: Signature, a: Array, b: Array) -> Array:
    """With the reciprocal of b from Newton's method; division by 0 gives the largest or the lowest number, 0 / 0 is 0.

    Source: TFLite DIV; equal to LiteRT where that does not shift by more than 31 bits (small dividends: it then is off
    by one or returns noise, and this 0) nor divide by 0 (which it refuses).
    """
    x, y = np.broadcast_arrays(_centred(a, sig.input(0)), _centred(b, sig.input(1)))
    x, divisor = np.where(y < 0, -x, x), np.abs(y)
    inverse, bits = fixed.reciprocal(np.maximum(divisor, 1), 31)
    multiplier, shift = quotient_multiplier(sig)
    room = headroom(x)
    raw = saturating_rounding_doubling_high_mul(x << room, inverse)
    right = bits + room - shift
    scaled = saturating_rounding_doubling_high_mul(raw, multiplier)
    result = np.where(right > 31, 0, rounding_divide_by_pot(scaled, np.clip(right, 0, 31)))
    return _finish(np.where(divisor == 0, np.sign(x) * 2**31, result), sig.outputs[0])


def headroom(x: Ints) -> Ints:
    """By how many bits an int32 can be shifted to the left without loss."""
    size = np.where(x < 0, ~x, x)
    return np.asarray(31 - np.ceil(np.log2(size + 1.0)).astype(np.int64))
