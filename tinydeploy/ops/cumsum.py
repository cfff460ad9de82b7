"""Running sums and products."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._moving import axis_rule
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _plain(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.quant is None and x.elem is not Elem.BOOL


@dataclasses.dataclass(frozen=True)
class Cumsum(Op):
    """y[i] = x[0] + ... + x[i] along ``axis``, from +0 on; products from 1 on if ``product``. Integers wrap.

    ``exclusive``: without x[i]; ``reverse``: from the end. One after the other in float32.
    Source: ONNX CumSum, CumProd; TFLite CUMSUM.
    """

    name: ClassVar[str] = "cumsum"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        axis_rule(),
        Rule("the input is float or a plain integer", _plain),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    axis: int = 0
    exclusive: bool = False
    reverse: bool = False
    product: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """As x."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """One after the other."""
        x = np.moveaxis(present(inputs, 0), self.axis, 0)
        x = x[::-1] if self.reverse else x
        first = np.full((1, *x.shape[1:]), int(self.product), x.dtype)
        function: Any = np.multiply if self.product else np.add
        with np.errstate(over="ignore", invalid="ignore"):
            y = function.accumulate(np.concatenate([first, x]), axis=0, dtype=x.dtype)
        y = y[:-1] if self.exclusive else y[1:]
        return (np.ascontiguousarray(np.moveaxis(y[::-1] if self.reverse else y, 0, self.axis)),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the summed one."""
        return self.axis != 0
