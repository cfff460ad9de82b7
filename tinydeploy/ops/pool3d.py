"""Pooling over volumes."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _pool
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, present

Triple = tuple[int, int, int]
Padding = tuple[int, int, int, int, int, int]


@dataclasses.dataclass(frozen=True)
class AveragePool3d(Op):
    """``y[n, z, i, j, c] = clamp(mean of x in the window)``.

    x [N, D, H, W, C]; y [N, OD, OH, OW, C]. ``padding`` is (front, back, top, bottom, left, right); its positions are
    not counted, unless ``count_include_pad``: then they count as zeros. Integers: as `average_pool2d`.
    Source: ONNX AveragePool.
    """

    name: ClassVar[str] = "average_pool3d"
    rules: ClassVar[tuple[Rule, ...]] = _pool.RULES_3D
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    kernel: Triple = (1, 1, 1)
    stride: Triple = (1, 1, 1)
    padding: Padding = (0, 0, 0, 0, 0, 0)
    count_include_pad: bool = False
    clamp: tuple[float, float] = NO_CLAMP
    dilation: Triple = (1, 1, 1)

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OD, OH, OW, C] with the input's element type."""
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


@dataclasses.dataclass(frozen=True)
class MaxPool3d(Op):
    """``y[n, z, i, j, c] = clamp(maximum of x in the window)``.

    x [N, D, H, W, C]; y [N, OD, OH, OW, C]. ``padding`` is (front, back, top, bottom, left, right); its positions
    never win. Integers: as `max_pool2d`.
    Source: ONNX MaxPool.
    """

    name: ClassVar[str] = "max_pool3d"
    rules: ClassVar[tuple[Rule, ...]] = _pool.RULES_3D
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    kernel: Triple = (1, 1, 1)
    stride: Triple = (1, 1, 1)
    dilation: Triple = (1, 1, 1)
    padding: Padding = (0, 0, 0, 0, 0, 0)
    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OD, OH, OW, C] with the input's element type."""
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
