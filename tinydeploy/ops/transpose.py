"""Axes in another order."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

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


def _permutation(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and sorted(op.perm) == list(range(x.rank))


@dataclasses.dataclass(frozen=True)
class Transpose(Op):
    """Axis i of y is axis ``perm[i]`` of x.

    Source: TFLite TRANSPOSE; ONNX Transpose.
    """

    name: ClassVar[str] = "transpose"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("perm names every axis of the input once", _permutation),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    perm: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The permuted shape with the input's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(tuple(x.shape[axis] for axis in self.perm), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (present(inputs, 0).transpose(self.perm),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays first."""
        return self.perm[:1] == (0,)
