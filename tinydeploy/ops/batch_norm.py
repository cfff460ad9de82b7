"""Batch normalisation with stored statistics."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Types, count_rule, optional, present


def _vectors(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or x.rank < 1 or len(inputs) != 5:
        return False
    return all(kind is not None and kind.shape == x.shape[-1:] for kind in inputs[1:])


@dataclasses.dataclass(frozen=True)
class BatchNorm(Op):
    """``y = gamma * (x - mean) / sqrt(variance + epsilon) + beta`` along the last axis.

    x [..., C]; gamma, beta, mean, variance [C] (in this order). Stays in float: passes fold it into a neighbour.
    Source: Keras BatchNormalization, ONNX BatchNormalization in inference.
    """

    name: ClassVar[str] = "batch_norm"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(5),
        Rule("gamma, beta, mean and variance have one value a channel (the last axis)", _vectors),
        Rule("epsilon is not negative", lambda op, _: op.epsilon >= 0),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    epsilon: float = 1e-3

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, gamma, beta, mean, variance = (present(inputs, i) for i in range(5))
        factor = gamma / np.sqrt(variance + np.float32(self.epsilon))
        return (x * factor + (beta - mean * factor),)
