"""3-D convolution, plain or grouped."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _conv_nd
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types
from tinydeploy.ops._windows_nd import Axis, forward_axes

Triple = tuple[int, int, int]


def _geometry(op: Any, rank: int) -> bool:
    if not len(op.stride) == len(op.dilation) == rank or len(op.padding) != 2 * rank:
        return False
    return bool(min((*op.stride, *op.dilation)) >= 1 and min(op.padding) >= 0)


@dataclasses.dataclass(frozen=True)
class Conv3d(Op):
    """``y[n, z, i, j, o] = clamp(bias[o] + sum over taps and c of x * w[o, t, u, v, c])``, as `conv2d` with a depth.

    x [N, D, H, W, C], weights [O, KD, KH, KW, C / groups], bias [O] or None; y [N, OD, OH, OW, O]. ``padding`` is
    (front, back, top, bottom, left, right) zeros (the input's zero point).

    Floats: float32 sums in the order of t, u, v, c, plus bias. Integers: as `conv2d`.
    Source: TFLite CONV_3D; ONNX Conv.
    """

    name: ClassVar[str] = "conv3d"
    rules: ClassVar[tuple[Rule, ...]] = _conv_nd.rules(3, "NDHWC and ODHWI", _geometry)
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=0, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    stride: Triple = (1, 1, 1)
    dilation: Triple = (1, 1, 1)
    padding: tuple[int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0)
    groups: int = 1
    clamp: tuple[float, float] = NO_CLAMP
    exact_scale: bool = False

    def axes(self, x: tuple[int, ...], weights: tuple[int, ...]) -> tuple[Axis, ...]:
        """Depth, height and width, for shapes of input and weights."""
        return forward_axes(x[1:4], weights[1:4], self.stride, self.dilation, self.padding)

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
        """Output size times kernel size."""
        weights = sig.input(1)
        return sig.outputs[0].size * (weights.size // weights.shape[0])

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
