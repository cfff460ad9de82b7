"""Average pooling."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _linear, _pool
from tinydeploy.ops._op import (
    NO_CLAMP,
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    clamp_limits,
    present,
    require_tied,
)
from tinydeploy.ops._windows import Padding, Pair, out_plane, pad_plane, tap


@dataclasses.dataclass(frozen=True)
class AveragePool2d(Op):
    """``y[n, i, j, c] = clamp(mean of x in the window)``.

    x [N, H, W, C]; y [N, OH, OW, C]. ``padding`` is (top, bottom, left, right). Padding positions are not counted,
    unless ``count_include_pad``: then they count as zeros.

    Integers: input and output share one scale; the sum of the integers over the number of positions, rounded half
    away from zero.
    Source: TFLite AVERAGE_POOL_2D, reference_integer_ops::AveragePool; ONNX AveragePool.
    """

    name: ClassVar[str] = "average_pool2d"
    rules: ClassVar[tuple[Rule, ...]] = _pool.RULES
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    count_include_pad: bool = False
    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, C] with the input's element type."""
        self.require(inputs)
        return _pool.infer(inputs, self.kernel, self.stride, (1, 1), self.padding)

    def counts(self, shape: tuple[int, ...]) -> Array:
        """Positions counted in each window of an NHWC ``shape``: int64 [1, OH, OW, 1]."""
        ones = pad_plane(np.ones((1, *shape[1:3], 1), np.int64), self.padding, 1 if self.count_include_pad else 0)
        return self._sum(ones, out_plane(shape, self.kernel, self.stride, (1, 1), self.padding))

    def _sum(self, padded: Array, plane: Pair) -> Array:
        total = np.zeros((padded.shape[0], *plane, padded.shape[3]), padded.dtype)
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                total += tap(padded, row, column, self.stride, (1, 1), plane)
        return total

    def _window_sums(self, x: Array, pad_value: int) -> Array:
        plane = out_plane(x.shape, self.kernel, self.stride, (1, 1), self.padding)
        return self._sum(pad_plane(x, self.padding, pad_value), plane)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        means = self._window_sums(x, 0) / self.counts(x.shape).astype(x.dtype)
        return (_linear.real_clamp(means, self.clamp),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        require_tied(self, sig)
        x, kind = present(inputs, 0), sig.outputs[0]
        # Padding that counts is a real zero; padding that does not must add nothing to the raw sum.
        sums = self._window_sums(x.astype(np.int64), kind.zero_point if self.count_include_pad else 0)
        counts = self.counts(x.shape)
        rounded = np.where(sums > 0, (sums + counts // 2) // counts, -((-sums + counts // 2) // counts))
        low, high = clamp_limits(self.clamp, kind)
        return (np.minimum(np.maximum(rounded, low), high).astype(kind.elem.dtype),)

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
