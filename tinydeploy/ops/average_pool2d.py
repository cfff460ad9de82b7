"""Average pooling."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _pool
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, present
from tinydeploy.ops._windows import Padding, Pair


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
    dilation: Pair = (1, 1)

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, C] with the input's element type."""
        self.require(inputs)
        return _pool.infer(self, inputs)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return _pool.average(self, present(inputs, 0))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out."""
        return _pool.average_integer(self, sig, present(inputs, 0))

    def batchable(self, sig: Signature) -> bool:
        """Always."""
        return True
