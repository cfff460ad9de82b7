"""Limits to a range: relu, relu6, clip."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier
from tinydeploy.ops import _linear
from tinydeploy.ops._elementwise import limited
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present


def _ordered(op: Any, _: Types) -> bool:
    return bool(op.low <= op.high)


@dataclasses.dataclass(frozen=True)
class Clamp(Op):
    """``y = min(max(x, low), high)``; the bounds are real and may be infinite.

    Integers: the input is rescaled to the output's scale with double rounding (the real multiplier is a float32
    quotient), then limited.
    Source: TFLite RELU, RELU6, RELU_N1_TO_1, optimized_ops::ReluX; ONNX Relu, Clip.
    """

    name: ClassVar[str] = "clamp"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), Rule("low is not above high", _ordered))
    quant: ClassVar[QuantRule] = QuantRule()

    low: float = float("-inf")
    high: float = float("inf")

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out; integers stay integers."""
        x = present(inputs, 0)
        if x.dtype.kind == "f":
            return (_linear.real_clamp(x, (self.low, self.high)),)
        low, high = self.integer_bounds(Elem(x.dtype.name))
        return (np.clip(x, x.dtype.type(low), x.dtype.type(high)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As td_clip_f32."""
        return (limited(present(inputs, 0), (self.low, self.high)),)

    def integer_bounds(self, elem: Elem) -> tuple[int, int]:
        """The bounds for integers without quantisation."""
        low, high = elem.limits
        least = low if self.low <= low else min(math.ceil(self.low), high) if math.isfinite(self.low) else high
        most = high if self.high >= high else max(math.floor(self.high), low) if math.isfinite(self.high) else low
        return least, most

    def ratio(self, source: Type, kind: Type) -> float:
        """Input scale over output scale, in float32 as in TFLite."""
        return float(np.float32(source.scale) / np.float32(kind.scale))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out; integers without quantisation are only limited."""
        x, source, kind = present(inputs, 0), sig.input(0), sig.outputs[0]
        if kind.quant is None:
            return self.reference(x)
        multiplier, shift = quantise_multiplier(self.ratio(source, kind))
        values = multiply_by_quantised_multiplier(x.astype(np.int64) - source.zero_point, multiplier, shift)
        return (_linear.to_elem(values, (self.low, self.high), kind),)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
