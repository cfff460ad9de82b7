"""Division of vectors by their length."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics.fixed import inverse_square_root
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier
from tinydeploy.ops._op import EIGHT_BIT, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._sums import ordered_sum

_OUTPUT_BITS = 7  # the output's scale is 1/128


def _axes(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not op.axes or tuple(sorted(set(op.axes))) != tuple(op.axes):
        return False
    return all(0 <= axis < x.rank for axis in op.axes)


@dataclasses.dataclass(frozen=True)
class L2Normalize(Op):
    """``y = x / max(sqrt(sum(x * x)), epsilon)``, sums over ``axes`` (rising, counted from the front).

    Integers: the output has scale 1/128 and zero point 0; the int32 sum of squares of the centred inputs, its inverse
    square root by Newton's method in fixed point. ``epsilon`` plays no part.
    In C floats are summed in rising order of the elements.
    Source: TFLite L2_NORMALIZATION, reference_integer_ops::L2Normalization; ONNX LpNormalization.
    """

    name: ClassVar[str] = "l2_normalize"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("axes are different axes of the input in rising order, counted from the front", _axes),
        Rule("epsilon is not negative", lambda op, _: op.epsilon >= 0),
        EIGHT_BIT,
    )
    quant: ClassVar[QuantRule] = QuantRule(fixed_output=(1 / 128, 0))

    axes: tuple[int, ...] = (0,)
    epsilon: float = 1e-6

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        length = np.sqrt(np.sum(x * x, axis=self.axes, keepdims=True, dtype=np.float32))
        return (x / np.maximum(length, np.float32(self.epsilon)),)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        order = (*(axis for axis in range(x.ndim) if axis not in self.axes), *self.axes)
        rows = x.transpose(order).reshape(-1, math.prod(x.shape[axis] for axis in self.axes))
        length, least = np.sqrt(ordered_sum(rows * rows)), np.float32(self.epsilon)
        factor = np.float32(1) / np.where(length > least, length, least)
        return ((rows * factor).reshape([x.shape[axis] for axis in order]).transpose(np.argsort(order)),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        x = present(inputs, 0).astype(np.int64) - sig.input(0).zero_point
        multiplier, shift = inverse_square_root(np.sum(x * x, axis=self.axes, keepdims=True))
        kind = sig.outputs[0]
        y = multiply_by_quantised_multiplier(x, multiplier, shift + _OUTPUT_BITS)
        return (np.clip(y, *kind.elem.limits).astype(kind.elem.dtype),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays."""
        return 0 not in self.axes
