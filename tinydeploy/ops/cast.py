"""Numbers in another element type."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _plain(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.quant is None


@dataclasses.dataclass(frozen=True)
class Cast(Op):
    """The same numbers as ``elem``: floats lose their fraction and saturate, NaN is 0; integers wrap; bool is x != 0.

    Source: TFLite CAST; ONNX Cast (which leaves what does not fit undefined).
    """

    name: ClassVar[str] = "cast"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("the input is not quantised (quantize and dequantize convert scales)", _plain),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    elem: Elem = Elem.F32

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape as ``elem``."""
        self.require(inputs)
        return (Type(present(inputs, 0).shape, self.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x = present(inputs, 0)
        if self.elem.is_float:
            return (x.astype(self.elem.dtype),)
        if self.elem is Elem.BOOL:
            return (x != 0,)
        if x.dtype.kind != "f":
            return (x.astype(self.elem.dtype),)
        low, high = self.elem.limits
        whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0))
        with np.errstate(invalid="ignore"):
            result = np.clip(whole, low, high).astype(self.elem.dtype)
        # The highest 64-bit integers are not doubles: the clipped value would round up and wrap.
        return (np.where(whole >= high, self.elem.dtype.type(high), result),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
