"""Mean over axes."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier, wrap_int32
from tinydeploy.ops import _linear
from tinydeploy.ops._moving import element
from tinydeploy.ops._op import NO_CLAMP, Arrays, QuantRule, Rule, Signature, count_rule, present
from tinydeploy.ops.reduce import AXES_RULE, Reduction


@dataclasses.dataclass(frozen=True)
class Mean(Reduction):
    """Mean of x over ``axes`` (counted from the front), which stay as 1 if ``keep_dims``.

    float32: the elements are added one after the other and the sum is divided by their count. Quantised: the int32 sum
    of the centred inputs times one multiplier that holds the scales and the count. Plain integers: the int64 sum is
    divided, without the fraction.
    Source: TFLite MEAN, reference_ops::QuantizedMeanOrSum; ONNX ReduceMean, GlobalAveragePool.
    """

    name: ClassVar[str] = "mean"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        AXES_RULE,
        Rule("bool and uint64 have no mean", lambda _, i: element(i, 0) not in (Elem.BOOL, Elem.U64)),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    def multiplier(self, sig: Signature) -> tuple[int, int]:
        """Q31 multiplier and shift from the sum of centred inputs to the output's steps."""
        count = self.count(sig.input(0).shape)
        multiplier, shift = quantise_multiplier(sig.input(0).scale / sig.outputs[0].scale)
        extra = min(count.bit_length() - 1, 32, 31 + shift)
        return (multiplier << extra) // count, shift - extra

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32, or plain integers."""
        x = present(inputs, 0)
        if x.dtype.kind == "f":
            return (np.asarray(x.mean(axis=self.axes, keepdims=self.keep_dims)),)
        total = x.sum(axis=self.axes, keepdims=self.keep_dims, dtype=np.int64)
        quotient = total // self.count(x.shape)
        upwards = (total < 0) & (quotient * self.count(x.shape) != total)  # towards zero, as C divides
        return (np.asarray(quotient + upwards).astype(x.dtype),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The sum is divided once."""
        x = present(inputs, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            return (np.asarray(self.added(sig, x) / np.float32(self.count(sig.input(0).shape))),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8, or plain integers."""
        x = present(inputs, 0)
        if sig.input(0).quant is None:
            return self.reference(x)
        raw = x.sum(axis=self.axes, keepdims=self.keep_dims, dtype=np.int64)
        centred = wrap_int32(raw - sig.input(0).zero_point * self.count(sig.input(0).shape))
        multiplier, shift = self.multiplier(sig)
        values = multiply_by_quantised_multiplier(centred, multiplier, shift)
        return (_linear.to_elem(values, NO_CLAMP, sig.outputs[0]),)
