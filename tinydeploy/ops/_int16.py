"""int16 activations: results of functions that come in steps of 2**-15, and functions as tables with interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type, dequantise
from tinydeploy.numerics.requantise import (
    float_to_int32,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    round_half_away,
)
from tinydeploy.numerics.wide import lookup16, lut16
from tinydeploy.ops._op import Signature

UNIT = 2.0**-15  # the scale TFLite prescribes for results of logistic, tanh and softmax


def is_int16(sig: Signature) -> bool:
    """True if the first input is quantised int16."""
    kind = sig.input(0)
    return kind.elem is Elem.S16 and kind.quant is not None


def has_unit_scale(kind: Type) -> bool:
    """True for int16 in steps of 2**-15 (to a thousandth, as TFLite checks it), without a zero point."""
    if kind.elem is not Elem.S16 or kind.quant is None or len(kind.quant.scale) != 1:
        return False
    return kind.zero_point == 0 and math.isclose(kind.scale, UNIT, rel_tol=1e-3)


def from_units(values: Array, kind: Type) -> Array:
    """Steps of 2**-15 in ``kind``: as they are where that is its scale, else rescaled with double rounding."""
    if not has_unit_scale(kind):
        values = multiply_by_quantised_multiplier(values, *quantise_multiplier(UNIT / kind.scale)) + kind.zero_point
    return np.asarray(np.clip(values, *kind.elem.limits).astype(kind.elem.dtype))


def table16(sig: Signature, function: Callable[[Any], Any]) -> Array:
    """The 513 entries of a real float32 ``function`` between int16 types; see `numerics.wide.lut16`."""
    source, kind = sig.input(0), sig.outputs[0]
    with np.errstate(all="ignore"):
        return lut16(function, (source.scale, source.zero_point), (kind.scale, kind.zero_point))


def interpolate(x: Array, entries: Array) -> Array:
    """Interpolated values of a table of 513 at int16 ``x``, int16 (they wrap as TFLite's do)."""
    return lookup16(x, entries).astype(np.int16)


def rounded(sig: Signature, x: Array, function: Callable[[Array], Array]) -> Array:
    """``function`` of the real numbers (float64) that x stands for, rounded half away from zero."""
    kind = sig.outputs[0]
    steps = float_to_int32(round_half_away(function(dequantise(x, sig.input(0)).astype(np.float64)) / kind.scale))
    return np.asarray(np.clip(steps + kind.zero_point, *kind.elem.limits).astype(kind.elem.dtype))


def slope_multiplier(sig: Signature, slope: float) -> tuple[int, int]:
    """Q31 multiplier and shift of ``slope`` times input scale over output scale, in float32 as in TFLite."""
    with np.errstate(over="ignore"):
        ratio = np.float32(sig.input(0).scale) * np.float32(slope) / np.float32(sig.outputs[0].scale)
    return quantise_multiplier(float(ratio))


def slopes(sig: Signature, x: Array, above: float, below: float) -> Array:
    """``above * x`` from 0 on, ``below * x`` under it: rescaled with double rounding, for integers of any width.

    Source: TFLite QuantizeLeakyRelu.
    """
    source, kind = sig.input(0), sig.outputs[0]
    centred = x.astype(np.int64) - source.zero_point
    parts = [multiply_by_quantised_multiplier(centred, *slope_multiplier(sig, slope)) for slope in (above, below)]
    values = np.where(centred >= 0, *parts) + kind.zero_point
    return np.asarray(np.clip(values, *kind.elem.limits).astype(kind.elem.dtype))
