"""Transposed convolutions: each input value is spread over a window of outputs."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _conv_nd
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types
from tinydeploy.ops._windows import Padding, Pair
from tinydeploy.ops._windows_nd import Axis, transposed_axes

Triple = tuple[int, int, int]


def _geometry(op: Any, rank: int) -> bool:
    if not len(op.stride) == len(op.dilation) == len(op.output_padding) == rank or len(op.padding) != 2 * rank:
        return False
    return bool(min((*op.stride, *op.dilation)) >= 1 and min((*op.padding, *op.output_padding)) >= 0)


def _macs(sig: Signature) -> int:
    x, weights = sig.input(0), sig.input(1)
    return x.size // x.shape[-1] * weights.size


@dataclasses.dataclass(frozen=True)
class TransposeConv2d(Op):
    """Every ``x[n, i, j, c] * w[o, u, v, c]`` is added to ``y[n, i*s + u*d - top, j*s + v*d - left, o]``.

    Then come bias and clamp.

    x [N, H, W, C], weights [O, KH, KW, C / groups], bias [O] or None; y [N, OH, OW, O] where
    ``OH = (H - 1) * stride + (KH - 1) * dilation + 1 - top - bottom + output_padding``. ``padding`` is (top, bottom,
    left, right): what is cut off. Output channels are in ``groups`` equal runs, each with its own inputs.

    Floats: the float32 sum of an output goes in the order of u, v, c, plus bias. Integers: as `conv2d`.
    Source: TFLite TRANSPOSE_CONV, reference_integer_ops::TransposeConv; ONNX ConvTranspose.
    """

    name: ClassVar[str] = "transpose_conv2d"
    rules: ClassVar[tuple[Rule, ...]] = _conv_nd.rules(2, "NHWC and OHWI", _geometry)
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=0, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    output_padding: Pair = (0, 0)
    groups: int = 1
    clamp: tuple[float, float] = NO_CLAMP
    exact_scale: bool = False
    int32_sums: bool = False

    def axes(self, x: tuple[int, ...], weights: tuple[int, ...]) -> tuple[Axis, ...]:
        """Height and width, for shapes of input and weights."""
        return transposed_axes(x[1:3], weights[1:3], self.stride, self.dilation, self.padding, self.output_padding)

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, O] with the input's element type."""
        return _conv_nd.infer(self, inputs)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 or plain int32 in and out."""
        return _conv_nd.reference(self, inputs)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The kernel's order of sums."""
        return _conv_nd.float32(self, sig, inputs)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out, int32 bias; or int32 without scales."""
        return _conv_nd.integer(self, sig, inputs)

    def macs(self, sig: Signature) -> int:
        """Input positions times kernel size, with what is cut off."""
        return _macs(sig)

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True


@dataclasses.dataclass(frozen=True)
class TransposeConv3d(Op):
    """`transpose_conv2d` with a depth: x [N, D, H, W, C], weights [O, KD, KH, KW, C / groups]; y [N, OD, OH, OW, O].

    ``padding`` is (front, back, top, bottom, left, right): what is cut off.

    Floats: the float32 sum of an output goes in the order of taps and c, plus bias. Integers: as `conv2d`.
    Source: TFLite CONV_3D_TRANSPOSE; ONNX ConvTranspose.
    """

    name: ClassVar[str] = "transpose_conv3d"
    rules: ClassVar[tuple[Rule, ...]] = _conv_nd.rules(3, "NDHWC and ODHWI", _geometry)
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=0, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    stride: Triple = (1, 1, 1)
    dilation: Triple = (1, 1, 1)
    padding: tuple[int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0)
    output_padding: Triple = (0, 0, 0)
    groups: int = 1
    clamp: tuple[float, float] = NO_CLAMP
    exact_scale: bool = False

    def axes(self, x: tuple[int, ...], weights: tuple[int, ...]) -> tuple[Axis, ...]:
        """Depth, height and width, for shapes of input and weights."""
        return transposed_axes(x[1:4], weights[1:4], self.stride, self.dilation, self.padding, self.output_padding)

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OD, OH, OW, O] with the input's element type."""
        return _conv_nd.infer(self, inputs)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 or plain int32 in and out."""
        return _conv_nd.reference(self, inputs)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The kernel's order of sums."""
        return _conv_nd.float32(self, sig, inputs)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out, int32 bias; or int32 without scales."""
        return _conv_nd.integer(self, sig, inputs)

    def macs(self, sig: Signature) -> int:
        """Input positions times kernel size, with what is cut off."""
        return _macs(sig)

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
