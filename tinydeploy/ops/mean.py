"""Mean over axes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier, wrap_int32
from tinydeploy.ops import _linear
from tinydeploy.ops._op import (
    NO_CLAMP,
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
)


def _axes(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not op.axes or len(set(op.axes)) != len(op.axes):
        return False
    return all(0 <= axis < x.rank for axis in op.axes)


@dataclasses.dataclass(frozen=True)
class Mean(Op):
    """Mean of x over ``axes`` (counted from the front), which stay as 1 if ``keep_dims``.

    Integers: the int32 sum of the centred inputs times one multiplier that holds the scales and the count.
    Source: TFLite MEAN, reference_ops::QuantizedMeanOrSum; ONNX ReduceMean, GlobalAveragePool.
    """

    name: ClassVar[str] = "mean"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("axes are different axes of the input, counted from the front", _axes),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    axes: tuple[int, ...] = ()
    keep_dims: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The reduced shape with the input's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        sizes = [(1 if i in self.axes else d) for i, d in enumerate(x.shape) if self.keep_dims or i not in self.axes]
        return (Type(tuple(sizes), x.elem),)

    def count(self, shape: tuple[int, ...]) -> int:
        """Elements averaged for one result."""
        return math.prod(shape[axis] for axis in self.axes)

    def multiplier(self, sig: Signature) -> tuple[int, int]:
        """Q31 multiplier and shift from the sum of centred inputs to the output's steps."""
        count = self.count(sig.input(0).shape)
        multiplier, shift = quantise_multiplier(sig.input(0).scale / sig.outputs[0].scale)
        extra = min(count.bit_length() - 1, 32, 31 + shift)
        return (multiplier << extra) // count, shift - extra

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return (np.asarray(present(inputs, 0).mean(axis=self.axes, keepdims=self.keep_dims)),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        x = present(inputs, 0)
        raw = x.sum(axis=self.axes, keepdims=self.keep_dims, dtype=np.int64)
        centred = wrap_int32(raw - sig.input(0).zero_point * self.count(sig.input(0).shape))
        multiplier, shift = self.multiplier(sig)
        values = multiply_by_quantised_multiplier(centred, multiplier, shift)
        return (_linear.to_elem(values, NO_CLAMP, sig.outputs[0]),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays."""
        return 0 not in self.axes
