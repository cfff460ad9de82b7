"""What the poolings share: their rules, geometry and arithmetic over any number of spatial axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _linear
from tinydeploy.ops._op import Arrays, Rule, Signature, Types, clamp_limits, count_rule, optional, present, require_tied
from tinydeploy.ops._windows_nd import Axis, forward_axes, taps_of

MAX_TAPS = 2**18  # a plane of 512 x 512


def _geometry(op: Any, inputs: Types, rank: int) -> bool:
    x = optional(inputs, 0)
    if x is None or x.rank != rank + 2 or {len(op.kernel), len(op.stride), len(op.dilation)} != {rank}:
        return False
    if min((*op.kernel, *op.stride, *op.dilation)) < 1 or len(op.padding) != 2 * rank or min(op.padding) < 0:
        return False
    return min(axis.out for axis in axes_of(op, x.shape)) >= 1 and math.prod(op.kernel) <= MAX_TAPS


def _not_only_padding(op: Any, _: Types) -> bool:
    """Every window touches the input: padding is smaller than the (dilated) kernel on each side."""
    spans = [(k - 1) * d + 1 for k, d in zip(op.kernel, op.dilation, strict=False) for _ in (0, 1)]
    return all(pad < span for pad, span in zip(op.padding, spans, strict=False))


def _rules(rank: int, layout: str) -> tuple[Rule, ...]:
    def shaped(_: Any, inputs: Types) -> bool:
        x = optional(inputs, 0)
        return x is not None and bool(x.rank == rank + 2)

    return (
        count_rule(1),
        Rule(f"input is {layout}, of rank {rank + 2}", shaped),
        Rule(
            "stride, dilation and kernel are at least 1, padding at least 0, the kernel fits once and has at most 2**18"
            " positions",
            lambda op, inputs: _geometry(op, inputs, rank),
        ),
        Rule("padding is smaller than the kernel", _not_only_padding),
    )


RULES = _rules(2, "NHWC")
RULES_3D = _rules(3, "NDHWC")


def axes_of(op: Any, shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """The spatial axes of a channels-last ``shape``."""
    return forward_axes(shape[1:-1], op.kernel, op.stride, op.dilation, op.padding)


def infer(op: Any, inputs: Types) -> tuple[Type, ...]:
    """[N, outs ..., C] with the input's element type."""
    x = present(inputs, 0)
    return (Type((x.shape[0], *(axis.out for axis in axes_of(op, x.shape)), x.shape[-1]), x.elem),)


def _sums(x: Array, axes: tuple[Axis, ...]) -> Array:
    total = np.zeros((x.shape[0], *(axis.out for axis in axes), x.shape[-1]), x.dtype)
    for _, to, at in taps_of(axes):
        total[to] += x[at]
    return total


def counts(op: Any, shape: tuple[int, ...]) -> Array:
    """Positions counted in each window of a channels-last ``shape``: int64 [1, outs ..., 1]."""
    axes = axes_of(op, shape)
    inside = _sums(np.ones((1, *shape[1:-1], 1), np.int64), axes)
    return np.full_like(inside, np.prod(op.kernel)) if op.count_include_pad else inside


def average(op: Any, x: Array) -> Arrays:
    """Float32: the sum, tap after tap in rising order, over the count; then the clamp."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = _sums(x, axes_of(op, x.shape)) / counts(op, x.shape).astype(x.dtype)
    return (_linear.real_clamp(means, op.clamp),)


def average_integer(op: Any, sig: Signature, x: Array) -> Arrays:
    """Quantised integers: the sum over the count, halves away from zero; padding that counts is a real zero."""
    require_tied(op, sig)
    kind = sig.outputs[0]
    axes, count = axes_of(op, x.shape), counts(op, x.shape)
    sums = _sums(x.astype(np.int64), axes)
    if op.count_include_pad:
        sums = sums + kind.zero_point * (count - _sums(np.ones((1, *x.shape[1:-1], 1), np.int64), axes))
    count = np.maximum(count, 1)  # a dilated window may miss the input between its taps
    rounded = np.where(sums > 0, (sums + count // 2) // count, -((-sums + count // 2) // count))
    low, high = clamp_limits(op.clamp, kind)
    return (np.minimum(np.maximum(rounded, low), high).astype(kind.elem.dtype),)


def maxima(op: Any, x: Array, lowest: float) -> Array:
    """The largest of each window, ``lowest`` where there is none; NaN wins."""
    axes = axes_of(op, x.shape)
    result = np.full((x.shape[0], *(axis.out for axis in axes), x.shape[-1]), lowest, x.dtype)
    for _, to, at in taps_of(axes):
        np.maximum(result[to], x[at], out=result[to])
    return result


def maximum(op: Any, x: Array) -> Arrays:
    """The largest of each window, clamped; plain integers in their own type."""
    lowest = float("-inf") if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return (_linear.real_clamp(maxima(op, x, lowest), op.clamp),)


def maximum_integer(op: Any, sig: Signature, x: Array) -> Arrays:
    """Integers; quantised ones are clamped in their scale."""
    require_tied(op, sig)
    kind = sig.outputs[0]
    result = maxima(op, x, kind.elem.limits[0])
    if kind.quant is None:
        return (result,)
    low, high = clamp_limits(op.clamp, kind)
    return (np.minimum(np.maximum(result, low), high).astype(kind.elem.dtype),)
