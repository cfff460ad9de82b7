"""Weights for the dsp blocks: two channels share a half-word, taps lie as SXTB16 unpacks them (see td_block_dsp.h)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tinydeploy.ir import Array
from tinydeploy.lower.kernels._dsp_requant import Affine, Exact
from tinydeploy.lower.requantise import Ints

Words32 = npt.NDArray[np.uint32]


def fits(weights: Ints) -> bool:
    """True if every second channel can be stored less its neighbour's borrow."""
    return bool((weights[1::2] >= -127).all())


def lane_bits(channels: int) -> Ints:
    """Bits by which the blocks deliver each channel's sum shifted: 0 and 8 in turn."""
    return np.arange(channels, dtype=np.int64) % 2 * 8


def tap_order(rows: int, row_taps: int) -> Ints:
    """Index of every tap in the order of the windows, -1 for a filling zero.

    Of every kernel row the first multiple of four, then what is left of all rows, then zeros up to a multiple of four
    and at least eight.
    """
    whole = row_taps // 4 * 4
    taps = np.arange(rows * row_taps, dtype=np.int64).reshape(rows, row_taps)
    order = np.concatenate([taps[:, :whole].ravel(), taps[:, whole:].ravel()])
    return np.concatenate([order, np.full(max(-len(order) % 4, 8 - len(order)), -1, np.int64)])


def pair_words(weights: Ints, order: Ints) -> Words32:
    """[channels, taps] to words [pairs, 2 * groups of four taps]; an odd last channel is paired with zeros."""
    channels = len(weights)
    padded = np.zeros((channels + channels % 2, weights.shape[1] + 1), np.int64)
    padded[:channels, :-1] = weights
    halves = padded[0::2] + 256 * padded[1::2]
    taps = halves[:, order].reshape(len(halves), -1, 2, 2) & 0xFFFF  # [pair, group, k // 2, k % 2]
    words = taps[:, :, 0] | taps[:, :, 1] << 16  # word j holds taps j and j + 2
    return as_words(words.reshape(len(halves), -1))


def requant_words(form: Affine | Exact) -> tuple[Words32, Words32]:
    """(before the weights, after them) of every pair: affine [pairs, 0], [pairs, 6]; exact [pairs, 2], [pairs, 4]."""
    if isinstance(form, Affine):
        c_lo, c_hi, m = (as_pairs(v) for v in (form.c & 0xFFFFFFFF, form.c >> 32, form.m))
        return np.zeros((len(m), 0), np.uint32), as_words(np.stack([c_lo, c_hi, m], axis=2).reshape(-1, 6))
    m, p, bias = (as_pairs(v) for v in (form.m, form.p, form.bias))
    before = np.stack([bias[:, 0], bias[:, 0] + 256 * bias[:, 1]], axis=1)
    return as_words(before), as_words(np.stack([m, p], axis=2).reshape(-1, 4))


def as_pairs(values: Ints) -> Ints:
    """[channels] to [pairs, 2], a missing last channel being 0."""
    return np.append(values, [0] * (len(values) % 2)).reshape(-1, 2)


def as_words(values: Array) -> Words32:
    """Integers modulo 2**32."""
    return (values.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def pair_stream(weights: Ints, order: Ints, form: Affine | Exact) -> Words32:
    """The stream of td_block_affine_dsp or td_block_exact_dsp."""
    before, after = requant_words(form)
    return np.concatenate([before, before, pair_words(weights, order), after], axis=1).ravel()
