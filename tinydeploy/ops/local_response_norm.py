"""Normalisation by the neighbouring channels."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import float32
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._sums import Reals


@dataclasses.dataclass(frozen=True)
class LocalResponseNorm(Op):
    """``y[c] = x[c] / (bias + alpha * sum(x[k] * x[k])) ** beta`` over ``size`` channels k around c, channels last.

    k runs from ``c - (size - 1) // 2`` to ``c + size // 2``, as far as there are channels. alpha belongs to the sum
    (ONNX divides its own by size). Stays in float. In C the sum is made in rising order for each channel.
    Source: TFLite LOCAL_RESPONSE_NORMALIZATION; ONNX LRN.
    """

    name: ClassVar[str] = "local_response_norm"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("the input has a channel axis", lambda _, inputs: (k := optional(inputs, 0)) is not None and k.rank >= 1),
        Rule("size is at least 1", lambda op, _: op.size >= 1),
        Rule("alpha, beta and bias are finite", lambda op, _: all(map(math.isfinite, (op.alpha, op.beta, op.bias)))),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    size: int = 1
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    @np.errstate(over="ignore", invalid="ignore")
    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        base = np.float32(self.bias) + np.float32(self.alpha) * self._sums(x)
        return (x * base ** np.float32(-self.beta),)

    @np.errstate(over="ignore", invalid="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x = present(inputs, 0)
        base = np.float32(self.bias) + np.float32(self.alpha) * self._sums(x)
        return (x * float32.pow(base, np.float32(-self.beta)),)

    def _sums(self, x: Array) -> Reals:
        """For each channel the sum of squares around it, in rising order."""
        channels, squares = x.shape[-1], x * x
        sums = np.zeros_like(x)
        for offset in range(-((self.size - 1) // 2), self.size // 2 + 1):
            low, high = max(0, -offset), min(channels, channels - offset)
            if low < high:
                sums[..., low:high] += squares[..., low + offset : high + offset]
        return sums

    def batchable(self, sig: Signature) -> bool:
        """True where the channels are not axis 0."""
        return sig.input(0).rank >= 2
