"""Depthwise 2-D convolution: every channel has kernels of its own."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _conv, _linear
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, optional, present
from tinydeploy.ops._windows import Padding, Pair, out_plane, pad_plane
from tinydeploy.ops._windows_nd import Axis, forward_axes


def _channels(op: DepthwiseConv2d, inputs: Types) -> bool:
    shape = present(inputs, 1).shape
    return bool(op.multiplier >= 1 and shape[0] == 1 and shape[3] == present(inputs, 0).shape[3] * op.multiplier)


@dataclasses.dataclass(frozen=True)
class DepthwiseConv2d(Op):
    """``y[n, i, j, k] = clamp(bias[k] + sum(x[n, i*s + u*d - top, j*s + v*d - left, c] * w[0, u, v, k]))``.

    k is ``c * multiplier + m`` for m below ``multiplier``.

    x [N, H, W, C], weights [1, KH, KW, C * multiplier], bias [C * multiplier] or None; y [N, OH, OW, C * multiplier].
    ``padding`` is (top, bottom, left, right) zeros (the input's zero point).

    Floats and integers: as `conv2d`.
    Source: TFLite DEPTHWISE_CONV_2D, reference_integer_ops::DepthwiseConvPerChannel.
    """

    name: ClassVar[str] = "depthwise_conv2d"
    rules: ClassVar[tuple[Rule, ...]] = _conv.rules(
        "1HWC", 3, "weights have input channels x multiplier channels", _channels
    )
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=3, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    multiplier: int = 1
    clamp: tuple[float, float] = NO_CLAMP
    exact_scale: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, C * multiplier] with the input's element type."""
        self.require(inputs)
        x, weights = present(inputs, 0), present(inputs, 1)
        plane = out_plane(x.shape, weights.shape[1:3], self.stride, self.dilation, self.padding)
        return (Type((x.shape[0], *plane, weights.shape[3]), x.elem),)

    def _correlate(self, padded: Array, weights: Array) -> Array:
        plane = out_plane(padded.shape, weights.shape[1:3], self.stride, self.dilation, (0, 0, 0, 0))
        return _linear.correlate_depthwise(padded, weights, self.stride, self.dilation, self.multiplier, plane)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        result = self._correlate(pad_plane(x, self.padding, 0.0), weights)
        if bias is not None:
            result = result + bias
        return (_linear.real_clamp(result, self.clamp),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The kernel's order of sums."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        axes = self.axes(x.shape, weights.shape)
        arrays = (x, weights.transpose(3, 1, 2, 0), bias)
        return (_linear.float_sums(sig, arrays, axes, x.shape[3], self.clamp),)

    def axes(self, x: tuple[int, ...], weights: tuple[int, ...]) -> tuple[Axis, ...]:
        """Height and width, for shapes of input and weights."""
        return forward_axes(x[1:3], weights[1:3], self.stride, self.dilation, self.padding)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out, bias of 32 or 64 bits; or int32 without scales."""
        if sig.outputs[0].quant is None:
            return self.reference(*inputs)
        x, bias = present(inputs, 0), optional(inputs, 2)
        weights = _linear.centred_weights(present(inputs, 1), sig.input(1))
        dtype = _linear.exact_dtype(weights, (0, 1, 2), sig.input(0).elem)
        kind = sig.input(0)
        padded = pad_plane(x, self.padding, kind.zero_point).astype(dtype)
        sums = self._correlate(padded, weights.astype(dtype))
        accumulators = _linear.add_offsets(sums, bias, kind, np.asarray(weights.sum(axis=(0, 1, 2))))
        return (_linear.finish_layer(self, sig, accumulators),)

    def macs(self, sig: Signature) -> int:
        """Output size times kernel size."""
        _, height, width, _ = sig.input(1).shape
        return sig.outputs[0].size * height * width

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
