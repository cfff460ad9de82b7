"""Padding with one value."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics.requantise import round_half_away
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


def _pairs(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and len(op.padding) == x.rank and all(min(pair) >= 0 for pair in op.padding)


@dataclasses.dataclass(frozen=True)
class Pad(Op):
    """``padding`` elements before and after each axis, all of the real ``value``.

    Integers: input and output share one scale; the value is rounded to it and saturated (0: the zero point).
    Source: TFLite PAD, PADV2; ONNX Pad in mode constant.
    """

    name: ClassVar[str] = "pad"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("padding has a pair (before, after) of counts for each axis", _pairs),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    padding: tuple[tuple[int, int], ...] = ()
    value: float = 0.0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The grown shape with the input's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        pairs = zip(x.shape, self.padding, strict=True)
        return (Type(tuple(size + before + after for size, (before, after) in pairs), x.elem),)

    def pad_integer(self, kind: Type) -> int:
        """The integer that stands for ``value`` in a quantised or plain integer ``kind``."""
        low, high = kind.elem.limits
        if kind.quant is None:
            return int(np.clip(self.value, low, high))
        rounded = float(round_half_away(np.float64(self.value) / kind.scale))
        return int(np.clip(rounded + kind.zero_point, low, high))

    def _around(self, x: Array, value: float) -> Array:
        """As numpy.pad, which refuses a scalar."""
        sizes = list(zip(x.shape, self.padding, strict=True))
        result = np.full(tuple(before + size + after for size, (before, after) in sizes), value, x.dtype)
        result[tuple(slice(before, before + size) for size, (before, _) in sizes)] = x
        return result

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return (self._around(present(inputs, 0), self.value),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        require_tied(self, sig)
        return (self._around(present(inputs, 0), self.pad_integer(sig.outputs[0])),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not padded."""
        return self.padding[:1] == ((0, 0),)
