"""Real numbers to integers, or integers to other integers."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import (
    float_to_int32,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    round_half_away,
)
from tinydeploy.ops import _linear
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present


def rescale(x: Array, source: Type, kind: Type) -> Array:
    """Integers of ``source`` in the scale and element type of ``kind``; equal types are only copied."""
    if source.quant == kind.quant and source.elem is kind.elem:
        return x
    multiplier, shift = quantise_multiplier(source.scale / kind.scale)
    values = multiply_by_quantised_multiplier(x.astype(np.int64) - source.zero_point, multiplier, shift)
    return _linear.to_elem(values, NO_CLAMP, kind)


@dataclasses.dataclass(frozen=True)
class Quantize(Op):
    """``q = saturate(round(x / scale) + zero_point)`` into ``elem``; scale and zero point are the output type's.

    In real numbers it changes nothing. A float32 input is divided in float32 and rounded half away from zero, with
    ``half_even`` halves to even; what does not fit into int32 saturates, NaN becomes the zero point. A quantised input
    is rescaled with double rounding.
    Source: TFLite QUANTIZE, AffineQuantize and Requantize; ONNX QuantizeLinear (halves to even).
    """

    name: ClassVar[str] = "quantize"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), Rule("elem is an integer", lambda op, _: not op.elem.is_float))
    quant: ClassVar[QuantRule] = QuantRule()

    elem: Elem = Elem.S8
    half_even: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape as ``elem``."""
        self.require(inputs)
        return (Type(present(inputs, 0).shape, self.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Unchanged."""
        return (present(inputs, 0),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """float32 or integers in, integers out."""
        x, source, kind = present(inputs, 0), sig.input(0), sig.outputs[0]
        if not source.elem.is_float:
            return (rescale(x, source, kind),)
        with np.errstate(over="ignore"):
            ratio = x.astype(np.float32) / np.float32(kind.scale)
            steps = np.rint(ratio) if self.half_even else round_half_away(ratio)
        return (_linear.to_elem(float_to_int32(steps), NO_CLAMP, kind),)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
