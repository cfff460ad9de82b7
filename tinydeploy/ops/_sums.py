"""Sums of float32 in a fixed order, as a C loop makes them: one rounding a term, from the first to the last."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32]
_CHUNK_ELEMENTS = 1 << 22  # products held at once


def ordered_sum(x: npt.ArrayLike, axis: int = -1) -> Reals:
    """``0 + x[0] + x[1] + ...`` along ``axis``, which stays with length 1."""
    terms = np.asarray(x, np.float32)
    running = np.add.accumulate(terms, axis=axis, dtype=np.float32)
    last = np.take(running, [-1], axis=axis)
    return np.asarray(last + np.float32(0))  # the loop starts at +0, which a sum of -0 alone does not show


def ordered_dot(start: npt.ArrayLike, x: npt.ArrayLike, weights: npt.ArrayLike) -> Reals:
    """``start + x[0] * w[0] + x[1] * w[1] + ...``: x [..., K], weights [O, K], start broadcasts to [..., O]."""
    left, right = np.asarray(x, np.float32), np.asarray(weights, np.float32)
    shape = (*left.shape[:-1], len(right))
    first = np.broadcast_to(np.asarray(start, np.float32), shape).reshape(-1, len(right), 1)
    rows = left.reshape(-1, 1, left.shape[-1])
    result = np.empty((len(rows), len(right)), np.float32)
    many = max(1, _CHUNK_ELEMENTS // max(1, len(right) * (left.shape[-1] + 1)))
    for begin in range(0, len(rows), many):
        part = slice(begin, begin + many)
        terms = np.concatenate([first[part], rows[part] * right], axis=-1)
        result[part] = np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]
    return result.reshape(shape)
