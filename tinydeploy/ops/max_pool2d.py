"""Maximum pooling."""

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
class MaxPool2d(Op):
    """``y[n, i, j, c] = clamp(maximum of x in the window)``.

    x [N, H, W, C]; y [N, OH, OW, C]. ``padding`` is (top, bottom, left, right); padding positions never win.

    Integers: input and output share one scale, the maximum of the integers.
    Source: TFLite MAX_POOL_2D, reference_integer_ops::MaxPool; ONNX MaxPool.
    """

    name: ClassVar[str] = "max_pool2d"
    rules: ClassVar[tuple[Rule, ...]] = _pool.RULES
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, C] with the input's element type."""
        self.require(inputs)
        return _pool.infer(inputs, self.kernel, self.stride, self.dilation, self.padding)

    def _maximum(self, x: Array, lowest: float) -> Array:
        plane = out_plane(x.shape, self.kernel, self.stride, self.dilation, self.padding)
        padded = pad_plane(x, self.padding, lowest)
        result = np.full((x.shape[0], *plane, x.shape[3]), lowest, x.dtype)
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                np.maximum(result, tap(padded, row, column, self.stride, self.dilation, plane), out=result)
        return result

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return (_linear.real_clamp(self._maximum(present(inputs, 0), float("-inf")), self.clamp),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        require_tied(self, sig)
        kind = sig.outputs[0]
        result = self._maximum(present(inputs, 0), kind.elem.limits[0])
        if kind.quant is None:
            return (result,)
        low, high = clamp_limits(self.clamp, kind)
        return (np.minimum(np.maximum(result, low), high).astype(kind.elem.dtype),)

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
