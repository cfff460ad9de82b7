"""Logarithm of the softmax."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import fixed, float32
from tinydeploy.numerics.requantise import (
    INT32_MIN,
    Ints,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    rounding_divide_by_pot,
    wrap_int32,
)
from tinydeploy.ops._op import EIGHT_BIT, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._sums import ordered_sum
from tinydeploy.ops.softmax import DIFF_INTEGER_BITS, SUM_INTEGER_BITS

OUTPUT_INTEGER_BITS = 4  # the output's scale is 1/16


def _axis(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and 0 <= op.axis < x.rank


@dataclasses.dataclass(frozen=True)
class Steps:
    """The integer constants of an input's scale, for differences from the maximum of -d, d = 0 .. 255.

    ``rescaled``: the difference in Q5.26. ``terms``: its exponential in Q12.19, 0 where TFLite skips it.
    ``back``: multiplier and shift from Q5.26 to steps of the input. ``least``: the lowest difference that counts.
    """

    rescaled: Ints
    terms: Ints
    back: tuple[int, int]
    least: int


@dataclasses.dataclass(frozen=True)
class LogSoftmax(Op):
    """``y = x - max - log(sum(exp(x - max)))`` along ``axis`` (counted from the front).

    Integers: the output has scale 1/16 and zero point 127; differences from the maximum in Q5.26, gemmlowp's
    exponential, the sum in Q12.19 (4,095 equal inputs at most) and its logarithm in Q5.26.
    In C floats are summed in rising order.
    Source: TFLite LOG_SOFTMAX, reference_integer_ops::LogSoftmax; ONNX LogSoftmax (opset 13).
    """

    name: ClassVar[str] = "log_softmax"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("axis is one of the input's, counted from the front", _axis),
        EIGHT_BIT,
    )
    quant: ClassVar[QuantRule] = QuantRule(fixed_output=(1 / 16, 127))

    axis: int = 1

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        difference = x - x.max(axis=self.axis, keepdims=True)
        return (difference - np.log(np.exp(difference).sum(axis=self.axis, keepdims=True)),)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = np.moveaxis(present(inputs, 0), self.axis, -1)
        difference = x - np.fmax.reduce(x, axis=-1, keepdims=True)
        y = difference - float32.log(ordered_sum(float32.exp(difference)))
        return (np.moveaxis(y, -1, self.axis),)

    def steps(self, kind: Type) -> Steps:
        """The constants of an input type."""
        multiplier, shift = quantise_multiplier(min(kind.scale * 2.0 ** (31 - DIFF_INTEGER_BITS), 2.0**31 - 1))
        radius = int((2**DIFF_INTEGER_BITS - 1) * 2.0 ** (31 - DIFF_INTEGER_BITS) / 2.0**shift)
        difference = -np.arange(256, dtype=np.int64)
        rescaled = multiply_by_quantised_multiplier(difference, multiplier, shift)
        exponentials = fixed.exp_on_negative_values(rescaled, DIFF_INTEGER_BITS)
        terms = rounding_divide_by_pot(exponentials, SUM_INTEGER_BITS)
        back = quantise_multiplier(2.0 ** (31 - shift) / multiplier)
        return Steps(rescaled, np.where(difference >= -radius, terms, 0), back, -radius)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        x = np.moveaxis(present(inputs, 0), self.axis, -1).astype(np.int64)
        steps, kind = self.steps(sig.input(0)), sig.outputs[0]
        difference = x.max(axis=-1, keepdims=True) - x
        total = wrap_int32(steps.terms[difference].sum(axis=-1, keepdims=True))
        log = fixed.logarithm(total, SUM_INTEGER_BITS, DIFF_INTEGER_BITS)
        least = np.maximum(steps.least - 1, multiply_by_quantised_multiplier(log + INT32_MIN, *steps.back))
        exact = rounding_divide_by_pot(steps.rescaled[difference] - log, 31 - DIFF_INTEGER_BITS - OUTPUT_INTEGER_BITS)
        low, high = kind.elem.limits
        y = np.where(-difference > least, np.clip(exact + 127, low, high), low).astype(kind.elem.dtype)
        return (np.moveaxis(y, -1, self.axis),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the operator's."""
        return self.axis != 0
