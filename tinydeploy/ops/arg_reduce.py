"""Where the largest or smallest element is."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._moving import INDEX_ELEMS, SOME_RULE, axis_rule
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present


@dataclasses.dataclass(frozen=True)
class ArgReduction(Op):
    """Place of the best element along ``axis``, which stays as 1 if ``keep_dims``; ``last``: the last of equal ones.

    NaN is never chosen where there is a number. The result is ``elem``, int32 or int64.
    """

    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        axis_rule(),
        SOME_RULE,
        Rule("places are int32 or int64", lambda op, _: op.elem in INDEX_ELEMS),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    axis: int = 0
    keep_dims: bool = False
    last: bool = False
    elem: Elem = Elem.S64

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The reduced shape as ``elem``."""
        self.require(inputs)
        shape = present(inputs, 0).shape
        return (Type((*shape[: self.axis], *(1,) * self.keep_dims, *shape[self.axis + 1 :]), self.elem),)

    def better(self, a: Array, b: Array) -> Any:
        """Where ``a`` wins over an earlier ``b``."""
        raise NotImplementedError

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x = np.moveaxis(present(inputs, 0), self.axis, 0)
        best, places = np.array(x[0]), np.zeros(x.shape[1:], self.elem.dtype)
        for i in range(1, len(x)):
            wins = self.better(x[i], best) | ((best != best) & (x[i] == x[i]))
            if self.last:
                wins = wins | (x[i] == best)
            best, places = np.where(wins, x[i], best), np.where(wins, self.elem.dtype.type(i), places)
        return (np.expand_dims(places, self.axis) if self.keep_dims else np.asarray(places),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`: whatever the scale, the order is the same."""
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays."""
        return self.axis != 0


@dataclasses.dataclass(frozen=True)
class ArgMax(ArgReduction):
    """Place of the largest element. Source: ONNX ArgMax; TFLite ARG_MAX."""

    name: ClassVar[str] = "arg_max"

    def better(self, a: Array, b: Array) -> Any:
        """Larger."""
        return a > b


@dataclasses.dataclass(frozen=True)
class ArgMin(ArgReduction):
    """Place of the smallest element. Source: ONNX ArgMin; TFLite ARG_MIN."""

    name: ClassVar[str] = "arg_min"

    def better(self, a: Array, b: Array) -> Any:
        """Smaller."""
        return a < b
