"""Functions of one int8 value as tables of 256 results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics.requantise import round_half_away
from tinydeploy.ops._op import Signature

Reals = npt.NDArray[np.float32]


def table(sig: Signature, function: Callable[[Reals], Reals]) -> Array:
    """``quantise(function(dequantise(q)))`` for every q from the lowest up: 256 values of the output's element type.

    All in float32, rounded half away from zero. Source: TFLite LUTPopulate.
    """
    source, kind = sig.input(0), sig.outputs[0]
    low, high = source.elem.limits
    assert source.elem.bits == 8
    integers = np.arange(low, high + 1, dtype=np.int64) - source.zero_point
    results = function(np.float32(source.scale) * integers.astype(np.float32))
    steps = round_half_away(results * (np.float32(1) / np.float32(kind.scale)))
    return _saturate(steps.astype(np.float32) + np.float32(kind.zero_point), kind)


def _saturate(values: Reals, kind: Type) -> Array:
    low, high = kind.elem.limits
    return np.asarray(np.clip(values, low, high).astype(kind.elem.dtype))


def lookup(x: Array, entries: Array, source: Type) -> Array:
    """The table's entry for each integer of x."""
    return np.asarray(entries[x.astype(np.int64) - source.elem.limits[0]])
