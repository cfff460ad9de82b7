"""Hyperbolic tangent."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import float32
from tinydeploy.numerics.wide import tanh16
from tinydeploy.ops import _int16, _table
from tinydeploy.ops._op import NARROW, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present


def _tanh(x: _table.Reals) -> _table.Reals:
    """Float32, rounded correctly."""
    return np.tanh(x.astype(np.float64)).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Tanh(Op):
    """``y = tanh(x)``.

    Integers: a table of 256 results; the output has scale 1/128 and zero point 0. int16: a table of 256 entries with
    interpolation; the output has scale 2**-15.
    Source: TFLite TANH (LUTPopulate in float32, reference_integer_ops::Tanh for int16); ONNX Tanh.
    """

    name: ClassVar[str] = "tanh"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), NARROW)
    quant: ClassVar[QuantRule] = QuantRule(fixed_output=(1 / 128, 0))

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return (_tanh(present(inputs, 0)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As td_tanhf."""
        return (float32.tanh(present(inputs, 0)),)

    def table(self, sig: Signature) -> Array:
        """Results for every 8-bit input, from the lowest up."""
        return _table.table(sig, _tanh)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out."""
        if _int16.is_int16(sig):
            x, source = present(inputs, 0).astype(np.int64), sig.input(0)
            return (_int16.from_units(tanh16(x - source.zero_point, source.scale), sig.outputs[0]),)
        return (_table.lookup(present(inputs, 0), self.table(sig), sig.input(0)),)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
