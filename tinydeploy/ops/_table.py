"""Functions of one int8 value as tables of 256 results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import fixed
from tinydeploy.numerics.requantise import (
    Ints,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    round_half_away,
    rounding_divide_by_pot,
)
from tinydeploy.ops._op import Signature

Reals = npt.NDArray[np.float32]
Rounding = Callable[[Reals], npt.NDArray[Any]]


def table(sig: Signature, function: Callable[[Reals], Reals], rounding: Rounding = round_half_away) -> Array:
    """``quantise(function(dequantise(q)))`` for every q from the lowest up: 256 values of the output's element type.

    All in float32, rounded half away from zero unless ``rounding`` says otherwise; NaN becomes the zero point.
    Source: TFLite LUTPopulate.
    """
    source, kind = sig.input(0), sig.outputs[0]
    low, high = source.elem.limits
    assert source.elem.bits == 8
    integers = np.arange(low, high + 1, dtype=np.int64) - source.zero_point
    results = function(np.float32(source.scale) * integers.astype(np.float32))
    steps = rounding(results * (np.float32(1) / np.float32(kind.scale))).astype(np.float32)
    return _saturate(np.where(np.isnan(steps), np.float32(0), steps) + np.float32(kind.zero_point), kind)


def hard_swish(sig: Signature) -> Array:
    """The table of hard_swish: int16 products of x in 128ths of its step, without float.

    x is multiplied into two scales, one in which 3 is 2**15 and one near the output's, and both are multiplied.
    Source: TFLite HARD_SWISH, reference_ops::HardSwish and HardSwishPrepare; checked against LiteRT.
    """
    source, kind = sig.input(0), sig.outputs[0]
    low, high = source.elem.limits
    fine = np.float32(1 / 128) * np.float32(source.scale)
    gate_factor, gate_shift = _narrow(fine / np.float32(3 / 32768))
    out_factor, out_shift = _narrow(fine / np.float32(kind.scale))
    x = (np.arange(low, high + 1, dtype=np.int64) - source.zero_point) * 128
    gate = _high_product(_int16(x << max(gate_shift - 1, 0)), gate_factor)
    gate = _int16(gate << min(max(gate_shift, 0), 1))
    gate = (rounding_divide_by_pot(gate, max(-gate_shift, 0)) + 2**15) >> 1
    product = gate * _high_product(x, out_factor)
    steps = np.sign(product) * (np.abs(product) >> 15) << max(out_shift, 0)
    steps = rounding_divide_by_pot(steps, max(-out_shift, 0))
    return np.asarray(np.clip(steps + kind.zero_point, *kind.elem.limits).astype(kind.elem.dtype))


def rsqrt(sig: Signature) -> Array:
    """The table of 1 / sqrt(x): 20 bits of it from Newton's method, then rescaled; the largest number from 0 down.

    Source: TFLite RSQRT, RsqrtEvalQuantized; checked against LiteRT.
    """
    source, kind = sig.input(0), sig.outputs[0]
    low, high = source.elem.limits
    x = np.arange(low, high + 1, dtype=np.int64) - source.zero_point
    inverse, shift = fixed.inverse_square_root(np.maximum(x, 1))
    multiplier, out_shift = quantise_multiplier(1.0 / float(np.sqrt(np.float32(source.scale)) * np.float32(kind.scale)))
    steps = multiply_by_quantised_multiplier(np.ones_like(x), inverse, shift + 20)
    steps = multiply_by_quantised_multiplier(steps, multiplier, out_shift - 20) + kind.zero_point
    return np.asarray(np.clip(np.where(x > 0, steps, kind.elem.limits[1]), *kind.elem.limits).astype(kind.elem.dtype))


def _narrow(real: np.float32) -> tuple[int, int]:
    """A multiplier with 15 bits and its shift."""
    multiplier, shift = quantise_multiplier(float(real))
    return min((multiplier + 2**15) >> 16, 2**15 - 1), shift


def _high_product(a: Ints, b: int) -> Ints:
    return np.asarray(np.minimum((a * b + 2**14) >> 15, 2**15 - 1))


def _int16(values: Ints) -> Ints:
    return np.asarray(np.clip(values, -(2**15), 2**15 - 1))


def _saturate(values: Reals, kind: Type) -> Array:
    low, high = kind.elem.limits
    return np.asarray(np.clip(values, low, high).astype(kind.elem.dtype))


def lookup(x: Array, entries: Array, source: Type) -> Array:
    """The table's entry for each integer of x."""
    return np.asarray(entries[x.astype(np.int64) - source.elem.limits[0]])
