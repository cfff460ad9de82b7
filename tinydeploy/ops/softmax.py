"""Softmax."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import fixed, float32
from tinydeploy.numerics.requantise import (
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    wrap_int32,
)
from tinydeploy.numerics.wide import softmax16, softmax_multiplier
from tinydeploy.ops import _int16
from tinydeploy.ops._op import NARROW, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._sums import ordered_sum

DIFF_INTEGER_BITS = 5  # Q5.26 for the differences from the maximum
SUM_INTEGER_BITS = 12  # Q12.19 for the sum of exponentials


def _axis(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and 0 <= op.axis < x.rank


@dataclasses.dataclass(frozen=True)
class Softmax(Op):
    """``y = exp(beta * x) / sum(exp(beta * x))`` along ``axis`` (counted from the front).

    Integers: the output has scale 1/256 and zero point -128; differences from the maximum in Q5.26, gemmlowp's
    exponential, the sum in Q12.19 and its reciprocal by Newton's method. Where the sum is 512 or more (LiteRT aborts)
    the last shift is over 31 and every result the lowest; the sum holds 4,095 equal inputs.
    int16: tables of exp and 1 / (1 + x) with interpolation; the output has scale 2**-15.
    Source: TFLite SOFTMAX, reference_ops::Softmax, SoftmaxInt16 and PreprocessSoftmaxScaling; ONNX Softmax (opset 13).
    """

    name: ClassVar[str] = "softmax"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("axis is one of the input's, counted from the front", _axis),
        NARROW,
    )
    quant: ClassVar[QuantRule] = QuantRule(fixed_output=(1 / 256, -128))

    axis: int = 1
    beta: float = 1.0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        exponentials = np.exp((x - x.max(axis=self.axis, keepdims=True)) * x.dtype.type(self.beta))
        return (exponentials / exponentials.sum(axis=self.axis, keepdims=True),)

    @np.errstate(over="ignore", invalid="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out: the sum in rising order, one division a sum."""
        x = np.moveaxis(present(inputs, 0), self.axis, -1)
        difference = x - np.fmax.reduce(x, axis=-1, keepdims=True)
        exponentials = float32.exp(difference * np.float32(self.beta))
        y = exponentials * (np.float32(1) / ordered_sum(exponentials))
        return (np.moveaxis(y, -1, self.axis),)

    def table(self, kind: Type) -> Array:
        """``exp(-d * scale * beta)`` in Q0.31 for d = 0 .. 255, int64; 0 where TFLite skips the term."""
        real = min(self.beta * kind.scale * 2.0 ** (31 - DIFF_INTEGER_BITS), 2.0**31 - 1)
        multiplier, shift = quantise_multiplier(real)
        radius = int((2**DIFF_INTEGER_BITS - 1) * 2.0 ** (31 - DIFF_INTEGER_BITS) / 2.0**shift)
        difference = -np.arange(256, dtype=np.int64)
        rescaled = multiply_by_quantised_multiplier(difference, multiplier, shift)
        return np.where(difference >= -radius, fixed.exp_on_negative_values(rescaled, DIFF_INTEGER_BITS), 0)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out."""
        x = np.moveaxis(present(inputs, 0), self.axis, -1).astype(np.int64)
        if _int16.is_int16(sig):
            units = softmax16(x, *softmax_multiplier(sig.input(0).scale, self.beta))
            return (np.moveaxis(_int16.from_units(units, sig.outputs[0]), -1, self.axis),)
        table = self.table(sig.input(0))
        difference = x.max(axis=-1, keepdims=True) - x
        terms = rounding_divide_by_pot(table, SUM_INTEGER_BITS)[difference]
        total = wrap_int32(terms.sum(axis=-1, keepdims=True))
        scale, bits_over_one = fixed.reciprocal(total, SUM_INTEGER_BITS)
        kind = sig.outputs[0]
        product = saturating_rounding_doubling_high_mul(scale, table[difference])
        rounded = rounding_divide_by_pot(product, bits_over_one + 31 - kind.elem.bits)
        low, high = kind.elem.limits
        result = np.clip(rounded + low, low, high).astype(kind.elem.dtype)
        return (np.moveaxis(result, -1, self.axis),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the softmax's."""
        return self.axis != 0
