"""One of two values, chosen for each element."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present, require_tied


def _common(inputs: Types) -> tuple[int, ...] | None:
    try:
        return tuple(np.broadcast_shapes(*(kind.shape for kind in inputs if kind is not None)))
    except ValueError:
        return None


def _condition(_: Any, inputs: Types) -> bool:
    return bool(inputs) and inputs[0] is not None and inputs[0].elem is Elem.BOOL


@dataclasses.dataclass(frozen=True)
class Select(Op):
    """``y = a`` where ``condition`` holds, else ``b``; inputs condition, a, b broadcast (NumPy's rules).

    Quantised values are taken as they are, if all have one scale.
    Source: ONNX Where-16, TFLite SELECT_V2.
    """

    name: ClassVar[str] = "select"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3),
        Rule("the shapes broadcast to a common shape", lambda _, inputs: _common(inputs) is not None),
        Rule("the condition is bool", _condition),
        Rule("both values have the same element type", lambda _, inputs: len({k.elem for k in inputs[1:] if k}) == 1),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The broadcast shape with the values' element type."""
        self.require(inputs)
        shape = _common(inputs)
        assert shape is not None
        return (Type(shape, present(inputs, 1).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (np.where(present(inputs, 0), present(inputs, 1), present(inputs, 2)),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Of the integers themselves."""
        require_tied(self, sig)
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if nothing is broadcast along axis 0."""
        rank = sig.outputs[0].rank
        return rank >= 1 and all(sig.input(i).rank == rank and sig.input(i).shape[0] == 1 for i in range(3))
