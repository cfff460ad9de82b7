"""Maximum pooling."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _pool
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, present
from tinydeploy.ops._windows import Padding, Pair


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
        return _pool.infer(self, inputs)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 or plain integers in and out."""
        return _pool.maximum(self, present(inputs, 0))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Integers in and out."""
        return _pool.maximum_integer(self, sig, present(inputs, 0))

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
