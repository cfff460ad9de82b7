"""Weighted sums: exact integer dot products through BLAS, and what follows them (bias, rescaling, clamp)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import (
    INT32_MAX,
    float_to_int32,
    multiply_by_quantised_multiplier,
    quantise_multipliers,
    round_half_away,
    wrap_int32,
)
from tinydeploy.numerics.wide import multiply_wide
from tinydeploy.ops._op import Rule, Signature, Types, clamp_limits, optional
from tinydeploy.ops._windows import Pair, tap, windows
from tinydeploy.ops._windows_nd import Axis, window_sums


def _activations(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and (x.elem.is_float or x.elem.bits <= 8 or x.elem is (Elem.S16 if x.quant else Elem.S32))


ACTIVATIONS = Rule("activations are float, 8 bits wide, int16, or int32 without a scale", _activations)


def correlate(x: Array, weights: Array, stride: Pair, dilation: Pair, groups: int) -> Array:
    """Convolution of a padded ``x`` [N, H, W, C] with OHWI ``weights``: [N, OH, OW, O] in their dtype."""
    out_channels, height, width, depth = weights.shape
    view = windows(x, (height, width), stride, dilation)
    positions = view.shape[:3]
    per_group = out_channels // groups
    parts = []
    for group in range(groups):
        columns = view[..., group * depth : (group + 1) * depth].reshape(-1, height * width * depth)
        matrix = weights[group * per_group : (group + 1) * per_group].reshape(per_group, -1)
        parts.append(columns @ matrix.T)
    result = parts[0] if groups == 1 else np.concatenate(parts, axis=1)
    return result.reshape(*positions, out_channels)


def correlate_depthwise(x: Array, weights: Array, stride: Pair, dilation: Pair, multiplier: int, plane: Pair) -> Array:
    """Depthwise convolution of a padded ``x`` [N, H, W, C] with [1, KH, KW, C*multiplier]: [N, OH, OW, C*multiplier].

    Output channel ``c * multiplier + m`` reads input channel ``c``.
    """
    if multiplier != 1:
        x = np.repeat(x, multiplier, axis=-1)
    result = np.zeros((x.shape[0], *plane, x.shape[-1]), x.dtype)
    product = np.empty_like(result)
    for row in range(weights.shape[1]):
        for column in range(weights.shape[2]):
            np.multiply(tap(x, row, column, stride, dilation, plane), weights[0, row, column], out=product)
            result += product
    return result


def centred_weights(weights: Array, kind: Type) -> Array:
    """Weights less their zero point, as int64."""
    assert kind.quant is not None
    zero = kind.quant.broadcast(kind.quant.zero_points(), weights.ndim)
    return np.asarray(weights.astype(np.int64) - zero)


def exact_dtype(weights: Array, axes: tuple[int, ...], elem: Elem) -> np.dtype[Any]:
    """The float type in which sums of ``weights`` times integers of ``elem`` over ``axes`` are exact in any order."""
    largest = int(np.abs(weights).sum(axis=axes).max(initial=0)) * max(abs(limit) for limit in elem.limits)
    return np.dtype(np.float32 if largest <= 2**24 else np.float64)


def channel_scales(sig: Signature) -> Array:
    """Accumulator step over output step, one or one an output channel, float64 (TFLite: effective_output_scale)."""
    weights = sig.input(1).quant
    assert weights is not None
    return np.asarray(sig.input(0).scale * weights.scales() / sig.outputs[0].scale)


def add_offsets(sums: Array, bias: Array | None, kind: Type, weight_sums: Array) -> Array:
    """Raw dot products to accumulators ``bias + sum(w * (x - zero_point))`` for x of ``kind``.

    They are int32 and wrap as its addition does, but for 16-bit activations, whose accumulators have 64 bits.
    """
    offset = -kind.zero_point * weight_sums
    if bias is not None:
        offset = offset + bias.astype(np.int64)
    accumulators = sums.astype(np.int64)
    accumulators += offset
    if kind.elem.bits <= 8 and max(accumulators.max(initial=0), -accumulators.min(initial=0)) > INT32_MAX:
        return wrap_int32(accumulators)
    return accumulators


def held(sums: Array, kind: Type) -> Array:
    """Sums of products with x of ``kind`` as the kernel holds them: int32 that wraps, for int16 int64."""
    return sums if kind.elem is Elem.S16 else wrap_int32(sums)


def finish(accumulators: Array, scales: Array, clamp: tuple[float, float], kind: Type) -> Array:
    """Rescale accumulators [..., O], add the zero point, clamp to ``kind``.

    With TFLite's double rounding; to 16 bits with a multiplier of 15 bits and one rounding.
    """
    multipliers, shifts = quantise_multipliers(scales)
    rescale = multiply_wide if kind.elem is Elem.S16 else multiply_by_quantised_multiplier
    values = rescale(accumulators, multipliers, shifts)
    return to_elem(values, clamp, kind)


def finish_layer(op: Any, sig: Signature, accumulators: Array) -> Array:
    """What a convolution makes of its accumulators: `finish_once` where it says so, else `finish`.

    int16 whose sums are said to be int32 is rounded as int8 is.
    """
    scales, kind = channel_scales(sig), sig.outputs[0]
    if op.exact_scale:
        return finish_once(accumulators, scales, op.clamp, kind)
    if kind.elem is Elem.S16 and getattr(op, "int32_sums", False):
        values = multiply_by_quantised_multiplier(wrap_int32(accumulators), *quantise_multipliers(scales))
        return to_elem(values, op.clamp, kind)
    return finish(accumulators, scales, op.clamp, kind)


def finish_once(accumulators: Array, scales: Array, clamp: tuple[float, float], kind: Type) -> Array:
    """Scale accumulators [..., O] by real (float64) scales, round once, halves away from zero, clamp to ``kind``.

    What leaves int32 saturates (a C++ cast on x86 would give the lowest integer).
    """
    return to_elem(float_to_int32(round_half_away(accumulators * scales)), clamp, kind)


def to_elem(values: Array, clamp: tuple[float, float], kind: Type) -> Array:
    """Add the zero point (int32 addition), clamp and narrow to the element type of ``kind``."""
    low, high = clamp_limits(clamp, kind)
    shifted = values + kind.zero_point
    # The second bound wins where they cross, as in min(max(x, low), high).
    return np.asarray(np.minimum(np.maximum(shifted, low), high).astype(kind.elem.dtype))


def float_sums(
    sig: Signature,
    arrays: tuple[Array, Array, Array | None],
    axes: Sequence[Axis],
    groups: int,
    clamp: tuple[float, float],
) -> Array:
    """What the float kernels make of ``arrays``: x [N, ..., C], weights [O, ..., C / groups] and bias, as float32.

    Weights with a scale are integers as they are stored: their sums are made in float32 and scaled at the end.
    """
    x, weights, bias = arrays
    kind = sig.input(1).quant
    if kind is None:
        sums = window_sums(x, weights, axes, groups)
    else:
        zero = kind.zero_points().reshape(-1, *(1,) * (weights.ndim - 1))
        centred = (weights.astype(np.int64) - zero).astype(np.float32)
        sums = window_sums(x, centred, axes, groups) * kind.scales().astype(np.float32)
    return real_clamp(sums if bias is None else sums + bias, clamp)


def real_clamp(x: Array, clamp: tuple[float, float]) -> Array:
    """``x`` limited to a real range; nothing is copied when there is no bound."""
    if clamp == (float("-inf"), float("inf")):
        return x
    return np.asarray(np.minimum(np.maximum(x, np.float32(clamp[0])), np.float32(clamp[1])))
