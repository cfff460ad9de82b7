"""Weighted sums of neighbours along an axis: resizing, one axis at a time."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._moving import axis_rule, inside
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _fits(_: Any, inputs: Types) -> bool:
    indices, weights = optional(inputs, 1), optional(inputs, 2)
    if indices is None or weights is None or indices.elem is not Elem.S32 or weights.elem is not Elem.F32:
        return False
    return bool(indices.rank == 2 and indices.shape == weights.shape)


def _real(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.elem is Elem.F32


@dataclasses.dataclass(frozen=True)
class Resample(Op):
    """y[o] = sum over t of weights[o, t] * x[indices[o, t]] along ``axis``; added in the order of t, in float32.

    x float32, indices int32 and weights float32, both [out, taps]. An index outside is taken as the nearest inside.
    Source: ONNX Resize and Upsample, linear and cubic.
    """

    name: ClassVar[str] = "resample"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3),
        axis_rule(),
        Rule("x is float32", _real),
        Rule("indices are int32, weights float32, both [out, taps]", _fits),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    axis: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The axis has one element a row of the indices."""
        self.require(inputs)
        x, indices = present(inputs, 0), present(inputs, 1)
        return (Type((*x.shape[: self.axis], indices.shape[0], *x.shape[self.axis + 1 :]), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32."""
        x, indices, weights = present(inputs, 0), present(inputs, 1), present(inputs, 2)
        places = inside(indices, x.shape[self.axis])
        shape = (-1, *(1,) * (x.ndim - self.axis - 1))
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.take(x, places[:, 0], self.axis) * weights[:, 0].reshape(shape)
            for tap in range(1, places.shape[1]):
                total = total + np.take(x, places[:, tap], self.axis) * weights[:, tap].reshape(shape)
        return (total,)

    def macs(self, sig: Signature) -> int:
        """A multiplication a tap."""
        return sig.outputs[0].size * sig.input(1).shape[1]

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the resized one; indices and weights are constants then."""
        return False
