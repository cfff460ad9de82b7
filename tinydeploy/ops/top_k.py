"""The largest or smallest elements along an axis."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._moving import INDEX_ELEMS, axis_rule
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


def _fits(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and 0 <= op.axis < x.rank and 1 <= op.k <= x.shape[op.axis]


def _ordered(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.elem is not Elem.BOOL


@dataclasses.dataclass(frozen=True)
class TopK(Op):
    """The ``k`` largest (else smallest) elements along ``axis``, best first, and their places as ``elem``.

    Of equal elements the first comes first; NaN comes last. Source: ONNX TopK; TFLite TOPK_V2.
    """

    name: ClassVar[str] = "top_k"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        axis_rule(),
        Rule("k is within the length of the axis", _fits),
        Rule("places are int32 or int64", lambda op, _: op.elem in INDEX_ELEMS),
        Rule("the elements are numbers", _ordered),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    k: int = 1
    axis: int = 0
    largest: bool = True
    elem: Elem = Elem.S64

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """Values of x's element type and places."""
        self.require(inputs)
        x = present(inputs, 0)
        shape = (*x.shape[: self.axis], self.k, *x.shape[self.axis + 1 :])
        return Type(shape, x.elem), Type(shape, self.elem)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x = present(inputs, 0)
        # ~x reverses the order of signed and unsigned integers alike, and never overflows.
        keys = x if not self.largest else -x if x.dtype.kind == "f" else ~x
        order = np.argsort(keys, axis=self.axis, kind="stable")
        places = np.take(order, range(self.k), axis=self.axis)
        return np.take_along_axis(x, places, self.axis), places.astype(self.elem.dtype)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the ordered one."""
        return self.axis != 0
