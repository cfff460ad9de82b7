"""A tensor in pieces along an axis."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._op import (
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
    require_tied,
)


def _sizes(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not 0 <= op.axis < x.rank or min(op.sizes, default=-1) < 0:
        return False
    return bool(sum(op.sizes) == x.shape[op.axis])


@dataclasses.dataclass(frozen=True)
class Split(Op):
    """Consecutive pieces of ``sizes`` elements along ``axis`` (counted from the front); one output each.

    Source: TFLite SPLIT, SPLIT_V, UNPACK (with reshapes); ONNX Split.
    """

    name: ClassVar[str] = "split"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("the sizes add up to the length of the axis", _sizes),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    axis: int = 0
    sizes: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """One type a piece, with the input's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return tuple(Type((*x.shape[: self.axis], n, *x.shape[self.axis + 1 :]), x.elem) for n in self.sizes)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return tuple(np.split(present(inputs, 0), np.cumsum(self.sizes)[:-1], axis=self.axis))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the split one."""
        return self.axis != 0
