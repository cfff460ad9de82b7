"""Questions about an element, and the opposites of bools and bits."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem
from tinydeploy.ops._elementwise import Unary
from tinydeploy.ops._op import QuantRule


@dataclasses.dataclass(frozen=True)
class IsInf(Unary):
    """True where x is infinite; ``negative``, ``positive``: which infinities count. Source: ONNX IsInf-20."""

    name: ClassVar[str] = "is_inf"
    result: ClassVar[Elem | None] = Elem.BOOL
    quant: ClassVar[QuantRule] = QuantRule(integer=False)
    negative: bool = True
    positive: bool = True

    def constants(self) -> tuple[float, ...]:
        """1 where an infinity counts."""
        return float(self.negative), float(self.positive)

    def real(self, x: Array) -> Array:
        """Which are infinite."""
        return np.asarray((np.isposinf(x) & self.positive) | (np.isneginf(x) & self.negative))


class IsNan(Unary):
    """True where x is not a number. Source: ONNX IsNaN-20."""

    name: ClassVar[str] = "is_nan"
    result: ClassVar[Elem | None] = Elem.BOOL
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    def real(self, x: Array) -> Array:
        """Which are NaN."""
        return np.isnan(x)


class LogicalNot(Unary):
    """``y = not x`` for bools. Source: ONNX Not-1, TFLite LOGICAL_NOT."""

    name: ClassVar[str] = "logical_not"
    takes: ClassVar[str] = "b"
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    def plain(self, x: Array) -> Array:
        """The negation."""
        return np.logical_not(x)


class BitwiseNot(Unary):
    """``y = ~x`` for integers. Source: ONNX BitwiseNot-18."""

    name: ClassVar[str] = "bitwise_not"
    takes: ClassVar[str] = "su"
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    def plain(self, x: Array) -> Array:
        """All bits the other way."""
        return np.invert(x)
