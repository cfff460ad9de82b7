"""Bilinear resizing of images, as TFLite does it."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._op import (
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
    require_tied,
)

Reals = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
_ONE = 1 << 10  # the integer form counts positions in 1024ths


def _image(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.rank == 4 and min(op.size) >= 1


def _elem(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.elem in (Elem.F32, Elem.S8, Elem.S16)


@dataclasses.dataclass(frozen=True)
class ResizeBilinear(Op):
    """An NHWC image at ``size`` (height, width), each pixel from the four around its place in the input.

    float32: weights are products of distances in float32, the four terms are added in the order upper left, lower left,
    upper right, lower right. int8 and int16: positions in 1024ths, the sum is divided once, halves away from zero.
    Source: TFLite RESIZE_BILINEAR, reference_ops::ResizeBilinear and ResizeBilinearInteger; ONNX Resize linear.
    """

    name: ClassVar[str] = "resize_bilinear"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("x is an NHWC image and the size at least 1", _image),
        Rule("elements are float32, int8 or int16", _elem),
        Rule(
            "align_corners and half_pixel_centers exclude each other",
            lambda op, _: not (op.align_corners and op.half_pixel_centers),
        ),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    size: tuple[int, int] = (1, 1)
    align_corners: bool = False
    half_pixel_centers: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """NHWC of the new size."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type((x.shape[0], *self.size, x.shape[3]), x.elem),)

    def places(self, length: int, count: int) -> tuple[Ints, Ints, Reals]:
        """For ``count`` pixels from ``length``: the lower and the upper neighbour and the distance from the lower."""
        half = np.float32(0.5)
        scale = np.float32(length) / np.float32(count)
        if self.align_corners and count > 1:
            scale = np.float32(length - 1) / np.float32(count - 1)
        at = np.arange(count, dtype=np.float32)
        at = (at + half) * scale - half if self.half_pixel_centers else at * scale
        low = np.maximum(np.floor(at).astype(np.int64), 0)
        high = np.minimum(np.ceil(at).astype(np.int64), length - 1)
        return low, high, at - low.astype(np.float32)

    def integer_places(self, length: int, count: int) -> tuple[Ints, Ints, Ints]:
        """As `places`, the distance in 1024ths."""
        scale = (_ONE * length + count // 2) // count
        if self.align_corners and count > 1:
            scale = (_ONE * (length - 1) + (count - 1) // 2) // (count - 1)
        at = np.arange(count, dtype=np.int64) * scale
        if self.half_pixel_centers:
            at = at + scale // 2 - _ONE // 2
        low = np.minimum(np.maximum(_towards_zero(at), 0), length - 1)
        high = np.minimum(_towards_zero(at + _ONE - 1), length - 1)
        return low, high, at - _ONE * low

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32."""
        x = present(inputs, 0)
        low_y, high_y, far_y = self.places(x.shape[1], self.size[0])
        low_x, high_x, far_x = self.places(x.shape[2], self.size[1])
        down, right = far_y[:, None, None], far_x[:, None]
        up, left = np.float32(1) - down, np.float32(1) - right
        upper, lower = x[:, low_y], x[:, high_y]
        with np.errstate(over="ignore", invalid="ignore"):
            total = upper[:, :, low_x] * (up * left)
            total = total + lower[:, :, low_x] * (down * left)
            total = total + upper[:, :, high_x] * (up * right)
            total = total + lower[:, :, high_x] * (down * right)
        return (np.asarray(total.astype(np.float32)),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 and int16, quantised or plain."""
        require_tied(self, sig)
        x = present(inputs, 0).astype(np.int64)
        low_y, high_y, far_y = self.integer_places(x.shape[1], self.size[0])
        low_x, high_x, far_x = self.integer_places(x.shape[2], self.size[1])
        down, right = far_y[:, None, None], far_x[:, None]
        up, left = _ONE - down, _ONE - right
        upper, lower = x[:, low_y], x[:, high_y]
        total = upper[:, :, low_x] * up * left + lower[:, :, low_x] * down * left
        total = total + upper[:, :, high_x] * up * right + lower[:, :, high_x] * down * right
        rounded = np.abs(total) + (1 << 19) >> 20
        return (np.where(total < 0, -rounded, rounded).astype(sig.outputs[0].elem.dtype),)

    def macs(self, sig: Signature) -> int:
        """Four multiplications an element."""
        return 4 * sig.outputs[0].size

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True


def _towards_zero(at: Ints) -> Ints:
    return np.where(at < 0, -(-at // _ONE), at // _ONE)
