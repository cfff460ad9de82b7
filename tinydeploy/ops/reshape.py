"""Another shape for the same elements."""

from __future__ import annotations

import dataclasses
import math
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


def _same_size(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and min(op.shape, default=0) >= 0 and math.prod(op.shape) == x.size


@dataclasses.dataclass(frozen=True)
class Reshape(Op):
    """The elements of x in their order, in ``shape`` (no -1 left in it). No bytes change.

    Source: TFLite RESHAPE, SQUEEZE, EXPAND_DIMS; ONNX Reshape, Flatten, Squeeze, Unsqueeze.
    """

    name: ClassVar[str] = "reshape"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("the new shape is whole and has as many elements as the input", _same_size),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    shape: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """``shape`` with the input's element type."""
        self.require(inputs)
        return (Type(self.shape, present(inputs, 0).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x = present(inputs, 0)
        if x.size == math.prod(self.shape):
            return (x.reshape(self.shape),)
        return (x.reshape(-1, *self.shape[1:]),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays as it is."""
        return sig.input(0).shape[:1] == self.shape[:1] != ()
