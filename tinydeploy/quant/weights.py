"""Weights and biases to integers, with scales that keep biases and multipliers inside what the arithmetic holds."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array, Quant, Type
from tinydeploy.ir.types import quantise
from tinydeploy.quant.schemes import Scheme

# A channel whose whole effect on the output is far below one step needs no finer scale than this (see `scales`).
_LEAST_MULTIPLIER = 2.0**-30


def scales(weights: Array, axis: int, bias: Array | None, source: Type, result: Type, scheme: Scheme) -> Quant:
    """Symmetric scales, one an index of ``axis``, for real ``weights``.

    A channel's scale is its largest weight over the largest integer, raised where
    - the bias in steps of input scale x weight scale, plus the largest sum of products, would leave its integer type;
    - the multiplier (input scale x weight scale / output scale) would be so small that it is lost (dead channels).
    """
    channels = np.moveaxis(np.asarray(weights, np.float64), axis, 0).reshape(weights.shape[axis], -1)
    form = scheme.weights
    wanted = np.abs(channels).max(axis=1, initial=0.0) / form.high
    wanted = np.maximum(wanted, _LEAST_MULTIPLIER * result.scale / source.scale)
    if bias is not None:
        span = source.elem.limits[1] - source.elem.limits[0]
        most = scheme.bias.limits[1] * (1 - 2.0**-20)  # scales are rounded to float32
        room = most - min(channels.shape[1] * form.high * span, most / 2)
        wanted = np.maximum(wanted, np.abs(np.asarray(bias, np.float64)) / (source.scale * room))
    return Quant.per_channel(wanted, axis)


def row_scales(weights: Array) -> Quant:
    """Symmetric scales of int8, one a row of a matrix, for kernels that make real numbers of them again."""
    largest = np.abs(np.asarray(weights, np.float64)).max(axis=1, initial=0.0)
    return Quant.per_channel(np.maximum(largest / 127, np.finfo(np.float32).tiny), 0)


def bias_quant(source: Type, weights: Quant) -> Quant:
    """int32 biases count steps of input scale x weight scale; the product is float32, as in a TFLite file."""
    product = np.float32(source.scale) * np.asarray(weights.scale, np.float32)
    return Quant.per_channel(product, 0)


def mean_shift(errors: Array, axis: int, means: Array) -> Array:
    """How far ``errors`` of the weights move the mean of every output, for inputs with these channel means.

    Weights are [O, ..., I] with their outputs on axis 0, or depthwise [1, KH, KW, O], where output ``o`` reads channel
    ``o * I // O``. With groups, output ``o`` reads the ``o * groups // O``-th run of channels. Padding is not seen.
    Source: Nagel et al. 2019 (bias correction, with measured means).
    """
    if axis != 0:
        taps = errors.reshape(-1, errors.shape[axis]).sum(axis=0)
        return np.asarray(taps * np.repeat(means, len(taps) // len(means)))
    taps = errors.reshape(len(errors), -1, errors.shape[-1]).sum(axis=1)
    groups = len(means) // taps.shape[1]
    runs = np.repeat(means.reshape(groups, -1), len(taps) // groups, axis=0)
    return np.asarray((taps * runs).sum(axis=1))


def to_integers(real: Array, kind: Type, low: int, high: int) -> Array:
    """Real values to integers of ``kind``, saturated to ``low..high``."""
    return np.clip(quantise(real, kind), low, high).astype(kind.elem.dtype)
