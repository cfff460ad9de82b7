"""2-D convolution, plain or grouped."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _conv, _linear
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, optional, present
from tinydeploy.ops._windows import Padding, Pair, out_plane, pad_plane
from tinydeploy.ops._windows_nd import Axis, forward_axes


def _channels(op: Conv2d, inputs: Types) -> bool:
    x, weights = present(inputs, 0), present(inputs, 1)
    if op.groups < 1:
        return False
    return bool(weights.shape[3] * op.groups == x.shape[3] and weights.shape[0] % op.groups == 0)


@dataclasses.dataclass(frozen=True)
class Conv2d(Op):
    """``y[n, i, j, o] = clamp(bias[o] + sum(x[n, i*s + u*d - top, j*s + v*d - left, c] * w[o, u, v, c]))``.

    x [N, H, W, C], weights [O, KH, KW, C / groups], bias [O] or None; y [N, OH, OW, O]. ``padding`` is (top, bottom,
    left, right) zeros (the input's zero point). Output channels are in ``groups`` equal runs, each with its own inputs.

    Floats: float32 sums in the order of u, v, c, plus bias; int8 weights are scaled after the sum.
    int32 without scales: modulo 2**32.
    Integers: int32 accumulators that wrap, a Q31 multiplier and shift an output channel, gemmlowp's double rounding.
    int16: accumulators of 64 bits, the multiplier cut to 15 bits, one rounding, halves up.
    With ``int32_sums`` (TFLite's option of a 32-bit bias) as int8.
    With ``exact_scale`` both take the real ratio of scales and round once, halves away from zero (ONNX says what is to
    be computed, and a rounding more at each layer, or 15 bits, ends some steps away).
    Source: TFLite CONV_2D, reference_integer_ops::ConvPerChannel; ONNX Conv.
    """

    name: ClassVar[str] = "conv2d"
    rules: ClassVar[tuple[Rule, ...]] = _conv.rules(
        "OHWI", 0, "groups divides both channel counts, weights have C / groups input channels", _channels
    )
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=0, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    groups: int = 1
    clamp: tuple[float, float] = NO_CLAMP
    exact_scale: bool = False
    int32_sums: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, O] with the input's element type."""
        self.require(inputs)
        x, weights = present(inputs, 0), present(inputs, 1)
        plane = out_plane(x.shape, weights.shape[1:3], self.stride, self.dilation, self.padding)
        return (Type((x.shape[0], *plane, weights.shape[0]), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        result = _linear.correlate(pad_plane(x, self.padding, 0.0), weights, self.stride, self.dilation, self.groups)
        if bias is not None:
            result = result + bias
        return (_linear.real_clamp(result, self.clamp),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The kernel's order of sums."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        axes = self.axes(x.shape, weights.shape)
        return (_linear.float_sums(sig, (x, weights, bias), axes, self.groups, self.clamp),)

    def axes(self, x: tuple[int, ...], weights: tuple[int, ...]) -> tuple[Axis, ...]:
        """Height and width, for shapes of input and weights."""
        return forward_axes(x[1:3], weights[1:3], self.stride, self.dilation, self.padding)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out, bias of 32 or 64 bits; or int32 without scales."""
        if sig.outputs[0].quant is None:
            return self.reference(*inputs)
        x, bias = present(inputs, 0), optional(inputs, 2)
        weights = _linear.centred_weights(present(inputs, 1), sig.input(1))
        dtype = _linear.exact_dtype(weights, (1, 2, 3), sig.input(0).elem)
        kind = sig.input(0)
        padded = pad_plane(x, self.padding, kind.zero_point).astype(dtype)
        sums = _linear.correlate(padded, weights.astype(dtype), self.stride, self.dilation, self.groups)
        accumulators = _linear.add_offsets(sums, bias, kind, np.asarray(weights.sum(axis=(1, 2, 3))))
        return (_linear.finish_layer(self, sig, accumulators),)

    def macs(self, sig: Signature) -> int:
        """Output size times kernel size."""
        _, height, width, depth = sig.input(1).shape
        return sig.outputs[0].size * height * width * depth

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
