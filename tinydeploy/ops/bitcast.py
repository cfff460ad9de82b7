"""The same bits as another element type."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _same_width(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return (
        x is not None
        and x.elem.dtype.itemsize == op.elem.dtype.itemsize
        and Elem.S4 not in (x.elem, op.elem)
        and op.elem is not Elem.BOOL
    )


@dataclasses.dataclass(frozen=True)
class Bitcast(Op):
    """The bits of x read as ``elem``, which is as wide. Source: ONNX BitCast-26, TFLite BITCAST."""

    name: ClassVar[str] = "bitcast"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), Rule("elem is as wide as the input, and not bool", _same_width))
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    elem: Elem = Elem.F32

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape as ``elem``."""
        self.require(inputs)
        return (Type(present(inputs, 0).shape, self.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x = present(inputs, 0)
        return (x.copy().view(self.elem.dtype),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
