"""What operators that only move elements share: any element type, and one scale for all that is quantised."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, optional, require_tied

INDEX_ELEMS = (Elem.S32, Elem.S64)


@dataclasses.dataclass(frozen=True)
class Moving(Op):
    """An operator whose `reference` is its arithmetic in every element type."""

    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)


def element(inputs: Types, place: int) -> Elem | None:
    """Element type of an input, None where it is absent."""
    kind = optional(inputs, place)
    return None if kind is None else kind.elem


def index_rule(place: int) -> Rule:
    """The rule that input ``place`` holds indices."""

    def holds(_: Any, inputs: Types) -> bool:
        return element(inputs, place) in INDEX_ELEMS

    return Rule("indices are int32 or int64", holds)


def _some(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.size > 0


SOME_RULE = Rule("the input has elements", _some)


def axis_rule(place: int = 0) -> Rule:
    """The rule that ``axis`` is one of input ``place``."""

    def holds(op: Any, inputs: Types) -> bool:
        x = optional(inputs, place)
        return x is not None and 0 <= op.axis < x.rank

    return Rule("axis is one of the input's, counted from the front", holds)


def from_front(indices: Array, size: int) -> Array:
    """Indices as int64, those that count from the end of ``size`` elements turned; some may still lie outside."""
    whole = indices.astype(np.int64)
    with np.errstate(over="ignore"):  # the sum of an index that is not negative is not used
        return np.asarray(np.where(whole < 0, whole + size, whole))


def inside(indices: Array, size: int) -> Array:
    """As `from_front`, the nearest element for those that lie outside."""
    return np.asarray(np.clip(from_front(indices, size), 0, max(size - 1, 0)))
