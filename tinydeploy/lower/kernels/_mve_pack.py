"""Weights and requantisation for the mve blocks."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array
from tinydeploy.lower._linear import Linear
from tinydeploy.lower.requantise import Ints

VECTOR = 16  # bytes of a vector register
NOTE = "double rounding as TFLite"


def fits(lin: Linear) -> bool:
    """True where the blocks' double rounding serves: every multiplier shifts to the right, and nothing wraps."""
    scaling = lin.scaling
    shifts = scaling.shift[scaling.multiplier != 0]
    return scaling.rounding == "double" and scaling.is_plain() and bool((shifts <= -1).all())


def records(lin: Linear) -> Ints:
    """[channels, 3]: bias, multiplier, shift (td_exact); a multiplier of zero gives zero with any shift."""
    scaling = lin.scaling
    return np.stack([scaling.bias, scaling.multiplier, np.where(scaling.multiplier == 0, -1, scaling.shift)], axis=1)


def filled(values: Array, multiple: int, axis: int) -> Array:
    """Zeros at the end of an axis up to a multiple."""
    widths = [(0, -values.shape[axis] % multiple if i == axis else 0) for i in range(values.ndim)]
    return np.pad(values, widths)


def bytes_to_words(values: Array) -> Array:
    """[..., n] int8 to [..., n / 4] little-endian int32."""
    return np.ascontiguousarray(values.astype(np.int8)).view(np.dtype("<i4"))


def pair_stream(lin: Linear) -> Array:
    """The stream of td_block_mve.h."""
    weights = filled(filled(lin.weights, VECTOR, 1), 2, 0)
    pairs = weights.reshape(len(weights) // 2, 2, -1, VECTOR).swapaxes(1, 2).reshape(len(weights) // 2, -1)
    scales = filled(records(lin), 2, 0).reshape(len(pairs), -1).astype(np.int32)
    return np.concatenate([bytes_to_words(pairs), scales], axis=1).ravel()
