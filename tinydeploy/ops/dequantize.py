"""Integers to real numbers."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type, dequantise
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present


@dataclasses.dataclass(frozen=True)
class Dequantize(Op):
    """``y = scale * (q - zero_point)`` in float32; scale and zero point are the input type's.

    In real numbers it changes nothing.
    Source: TFLite DEQUANTIZE; ONNX DequantizeLinear.
    """

    name: ClassVar[str] = "dequantize"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1),)
    quant: ClassVar[QuantRule] = QuantRule()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape in float32."""
        self.require(inputs)
        return (Type(present(inputs, 0).shape, Elem.F32),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Unchanged."""
        return (present(inputs, 0),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Integers in, float32 out."""
        x, kind = present(inputs, 0), sig.input(0)
        if kind.elem is Elem.S32 and kind.quant is not None and kind.quant.axis is None:
            # Wider than a float32: rounded before and after the product, as float arithmetic does.
            return ((x.astype(np.int64) - kind.zero_point).astype(np.float32) * np.float32(kind.scale),)
        return (dequantise(x, kind),)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar or quantised along axis 0."""
        kind = sig.input(0)
        return kind.rank >= 1 and (kind.quant is None or kind.quant.axis != 0)
