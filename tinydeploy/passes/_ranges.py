"""What each channel of a quantised graph can hold: exact integer bounds, found with the operators' own arithmetic.

A channel is an index of the last axis. Every operator here is monotone in each of its operands (an accumulator is in
each of its terms, rescaling in the accumulator), so its results lie between those for the ends of the operands' bounds.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from tinydeploy.errors import UnsupportedError
from tinydeploy.ir import Array, Graph, Node, Type
from tinydeploy.numerics.requantise import INT32_MAX, quantise_multipliers
from tinydeploy.ops import _linear
from tinydeploy.ops._op import Signature

WEIGHTED = {"conv2d": 0, "depthwise_conv2d": 3, "fully_connected": 0}  # the axis of output channels in the weights
_RISING = (
    *("add", "average_pool2d", "clamp", "concat", "max_pool2d", "mean", "pad", "quantize", "reshape", "split"),
    *("strided_slice", "transpose"),
)
_BINARY = ("sub", "mul")  # monotone in either operand, but not always rising
_MAX_ELEMENTS = 1 << 22  # of a tensor that the twin is run on
_MAX_RATIO = 2.0**14  # of scales; below it no rescaling shifts a bit out of int32, which would break monotony


@dataclasses.dataclass(frozen=True)
class Range:
    """Inclusive bounds, int64, one an index of the last axis (one for a scalar)."""

    low: Array
    high: Array

    @property
    def constant(self) -> Array:
        """True for each channel that holds one number everywhere."""
        return np.asarray(self.low == self.high)


@dataclasses.dataclass(frozen=True)
class Ranges:
    """``values``: by name, those that are known. ``accumulators``: by node, the lowest one of each output channel."""

    values: dict[str, Range]
    accumulators: dict[str, Array]

    def constant(self, name: str, channels: int) -> Array:
        """Which channels of a value hold one number; none if nothing is known of it."""
        known = self.values.get(name)
        return np.zeros(channels, np.bool_) if known is None else known.constant


def analyse(graph: Graph) -> Ranges:
    """Bounds of every 8-bit quantised value, for any input."""
    ranges = Ranges({}, {})
    for name, value in graph.values.items():
        if value.data is not None and _bounded(value.type) and value.type.size:
            ranges.values[name] = _over_channels(value.data)
        elif _bounded(value.type):
            ranges.values[name] = _full(value.type)
    for node in graph.nodes:
        _node(graph, node, ranges)
    return ranges


def _bounded(kind: Type) -> bool:
    quant = kind.quant
    eight = not kind.elem.is_float and kind.elem.bits <= 8
    return eight and quant is not None and quant.axis is None and 0 < quant.scale[0] < float("inf")


def _full(kind: Type) -> Range:
    low, high = kind.elem.limits
    channels = kind.shape[-1] if kind.shape else 1
    return Range(np.full(channels, low, np.int64), np.full(channels, high, np.int64))


def _over_channels(data: Array) -> Range:
    rows = data.astype(np.int64).reshape(-1, data.shape[-1] if data.ndim else 1)
    return Range(rows.min(axis=0), rows.max(axis=0))


def _node(graph: Graph, node: Node, ranges: Ranges) -> None:
    sig = Signature.of(graph, node)
    if any(name not in ranges.values for name in node.outputs):
        return
    if node.op.name in WEIGHTED:
        _weighted(graph, node, sig, ranges)
    elif node.op.name in (*_RISING, *_BINARY) and _tame(sig):
        operands = [ranges.values.get(str(name)) for name in node.inputs]
        known = [operand for operand in operands if operand is not None]
        if len(known) == len(operands):
            ranges.values.update(_ends(node, sig, known))


def _tame(sig: Signature) -> bool:
    """True if the twin can be run on whole tensors, and no rescaling wraps."""
    kinds = [kind for kind in (*sig.inputs, *sig.outputs) if kind is not None]
    if any(not 0 < kind.size <= _MAX_ELEMENTS or not _bounded(kind) for kind in kinds):
        return False
    scales = [kind.scale for kind in kinds]
    ratio = max(scales) / min(scales)
    return ratio <= _MAX_RATIO and scales[0] * max(scales) / scales[-1] <= _MAX_RATIO


def _ends(node: Node, sig: Signature, operands: list[Range]) -> dict[str, Range]:
    """Run the twin on tensors that are filled with the ends of each channel's bounds."""
    if node.op.name in _BINARY:
        corners = list(itertools.product((False, True), repeat=len(operands)))
    else:
        corners = [(False,) * len(operands), (True,) * len(operands)]
    found: list[tuple[Array, ...]] = []
    for corner in corners:
        ends = [r.high if high else r.low for r, high in zip(operands, corner, strict=True)]
        try:
            results = node.op.integer(sig, *[_filled(e, sig.input(i)) for i, e in enumerate(ends)])
        except UnsupportedError:  # refused later, with every other problem
            return {}
        found.append(tuple(np.asarray(r).reshape(k.shape) for r, k in zip(results, sig.outputs, strict=True)))
    return {name: _over_channels(np.stack(arrays)) for name, *arrays in zip(node.outputs, *found, strict=True)}


def _filled(ends: Array, kind: Type) -> Array:
    per_channel = ends.astype(kind.elem.dtype)
    return np.ascontiguousarray(np.broadcast_to(per_channel.reshape(kind.shape[-1:]), kind.shape))


def _weighted(graph: Graph, node: Node, sig: Signature, ranges: Ranges) -> None:
    x, weights = ranges.values.get(str(node.inputs[0])), graph.constant(node.inputs[1])
    bias_name = node.inputs[2] if len(node.inputs) > 2 else None
    bias, quant = graph.constant(bias_name), sig.input(1).quant
    if x is None or weights is None or quant is None or (bias is None and bias_name is not None):
        return
    if quant.axis not in (None, WEIGHTED[node.op.name]) or not weights.size:
        return
    zero_point = sig.input(0).zero_point
    low, high = x.low - zero_point, x.high - zero_point
    if any(getattr(node.op, "padding", ())):
        low, high = np.minimum(low, 0), np.maximum(high, 0)  # a tap may lie on padding
    centred = _linear.centred_weights(weights, sig.input(1))
    rising, falling = kernel_sums(node, np.maximum(centred, 0)), kernel_sums(node, np.minimum(centred, 0))
    low, high = _by_output(node, low, centred.shape), _by_output(node, high, centred.shape)
    start = np.zeros(len(rising), np.int64) if bias is None else bias.astype(np.int64)
    least = start + (rising * low + falling * high).sum(axis=1)
    most = start + (rising * high + falling * low).sum(axis=1)
    scales = np.broadcast_to(_linear.channel_scales(sig), least.shape)
    largest = np.maximum(np.abs(least), np.abs(most)).astype(np.float64)
    finish = _linear.finish_once
    if node.op.name != "fully_connected":
        finish = _linear.finish
        largest = largest * 2.0 ** np.maximum(quantise_multipliers(scales)[1], 0)
    exact = largest <= INT32_MAX  # nothing wraps
    ends = finish(np.where(exact, np.stack([least, most]), 0), scales, node.op.clamp, sig.outputs[0]).astype(np.int64)
    full = _full(sig.outputs[0])
    ranges.values[node.outputs[0]] = Range(np.where(exact, ends[0], full.low), np.where(exact, ends[1], full.high))
    ranges.accumulators[node.name] = least


def kernel_sums(node: Node, weights: Array) -> Array:
    """Sums of weights over the kernel: [outputs, inputs that each of them reads]."""
    if node.op.name == "depthwise_conv2d":
        return np.asarray(weights.sum(axis=(0, 1, 2)))[:, np.newaxis]
    return np.asarray(weights.sum(axis=(1, 2))) if weights.ndim == 4 else weights


def _by_output(node: Node, per_input: Array, shape: tuple[int, ...]) -> Array:
    """Numbers one an input channel as those that each output channel reads, in the form of `kernel_sums`."""
    if node.op.name == "depthwise_conv2d":
        return np.repeat(per_input, node.op.multiplier)[:, np.newaxis]
    groups = getattr(node.op, "groups", 1)
    return np.repeat(per_input.reshape(groups, -1), shape[0] // groups, axis=0)
