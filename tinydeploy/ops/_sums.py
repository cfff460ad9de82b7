"""Sums of float32 in a fixed order, as a C loop makes them: one rounding a term, from the first to the last."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32]
_MANY_SUMS = 4096  # of so many a product each is made at once, of fewer all products of each


def ordered_sum(x: npt.ArrayLike, axis: int = -1) -> Reals:
    """``0 + x[0] + x[1] + ...`` along ``axis``, which stays with length 1."""
    terms = np.asarray(x, np.float32)
    running = np.add.accumulate(terms, axis=axis, dtype=np.float32)
    last = np.take(running, [-1], axis=axis)
    return np.asarray(last + np.float32(0))  # the loop starts at +0, which a sum of -0 alone does not show


def ordered_dot(start: npt.ArrayLike, x: npt.ArrayLike, weights: npt.ArrayLike) -> Reals:
    """``start + x[0] * w[0] + x[1] * w[1] + ...``: x [..., K], weights [O, K], start broadcasts to [..., O]."""
    left, right = np.asarray(x, np.float32), np.asarray(weights, np.float32)
    total = np.array(np.broadcast_to(np.asarray(start, np.float32), (*left.shape[:-1], len(right))))
    if total.size >= _MANY_SUMS:
        for k in range(left.shape[-1]):
            total += left[..., k, None] * right[:, k]
        return total
    terms = np.concatenate([total[..., None], left[..., None, :] * right], axis=-1)
    return np.asarray(np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1])
