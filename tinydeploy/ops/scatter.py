"""A tensor with some elements replaced by, or combined with, others at given indices.

A negative index counts from the end; an update whose index lies outside is left out, so that nothing is written there.
Updates are applied one after the other in the order of the indices.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops._moving import Moving, axis_rule, element, from_front, index_rule
from tinydeploy.ops._op import Arrays, QuantRule, Rule, Signature, Types, count_rule, optional, present, require_tied

REDUCTIONS = ("none", "add", "mul", "max", "min")
_FUNCTIONS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _same_elem(_: Any, inputs: Types) -> bool:
    return element(inputs, 0) is element(inputs, 2) is not None


_REDUCTION_RULES = (
    Rule(f"reduction is one of {', '.join(REDUCTIONS)}", lambda op, _: op.reduction in REDUCTIONS),
    Rule(
        "bool elements are replaced only",
        lambda op, inputs: op.reduction == "none" or element(inputs, 0) is not Elem.BOOL,
    ),
)
_COMMON_RULES = (count_rule(3), index_rule(1), Rule("updates have the element type of the input", _same_elem))


def _combine(y: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if reduction == "none":
            y[places] = updates
        else:
            _FUNCTIONS[reduction].at(y, places, updates)


@dataclasses.dataclass(frozen=True)
class _Scatter(Moving):
    """What both operators share."""

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """As x."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`; sums and products wrap, and are not for quantised numbers."""
        require_tied(self, sig)
        return self.reference(*inputs)


def _fits_elements(op: Any, inputs: Types) -> bool:
    x, indices, updates = (optional(inputs, i) for i in range(3))
    if x is None or indices is None or updates is None or not x.rank == indices.rank == updates.rank:
        return False
    longer = [i for i in range(x.rank) if i != op.axis and indices.shape[i] > x.shape[i]]
    return not longer and indices.shape == updates.shape


@dataclasses.dataclass(frozen=True)
class ScatterElements(_Scatter):
    """x with y[i][indices[i][j][k]][k] = updates[i][j][k] for ``axis`` 1; ``reduction`` combines old and new.

    Source: ONNX ScatterElements, Scatter.
    """

    name: ClassVar[str] = "scatter_elements"
    rules: ClassVar[tuple[Rule, ...]] = (
        *_COMMON_RULES,
        axis_rule(),
        Rule("indices and updates have one shape, no longer than x but along the axis", _fits_elements),
        *_REDUCTION_RULES,
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    axis: int = 0
    reduction: str = "none"

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, indices, updates = present(inputs, 0), present(inputs, 1), present(inputs, 2)
        rows = from_front(indices, x.shape[self.axis])
        kept = (rows >= 0) & (rows < x.shape[self.axis])
        grid = list(np.indices(indices.shape))
        grid[self.axis] = rows
        y = np.array(x)
        _combine(y, tuple(part[kept] for part in grid), updates[kept], self.reduction)
        return (y,)


def _fits_nd(_: Any, inputs: Types) -> bool:
    x, indices, updates = (optional(inputs, i) for i in range(3))
    if x is None or indices is None or updates is None or indices.rank < 1 or not 1 <= indices.shape[-1] <= x.rank:
        return False
    return bool(updates.shape == (*indices.shape[:-1], *x.shape[indices.shape[-1] :]))


@dataclasses.dataclass(frozen=True)
class ScatterNd(_Scatter):
    """x with slices replaced at index tuples (the last axis of the indices); ``reduction`` combines old and new.

    Source: ONNX ScatterND; TFLite SCATTER_ND (into zeros, reduction add).
    """

    name: ClassVar[str] = "scatter_nd"
    rules: ClassVar[tuple[Rule, ...]] = (
        *_COMMON_RULES,
        Rule("the updates have a slice of x for each index tuple", _fits_nd),
        *_REDUCTION_RULES,
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    reduction: str = "none"

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, indices, updates = present(inputs, 0), present(inputs, 1), present(inputs, 2)
        depth = indices.shape[-1]
        parts = [from_front(indices[..., i], x.shape[i]).ravel() for i in range(depth)]
        kept = np.all([(part >= 0) & (part < x.shape[i]) for i, part in enumerate(parts)], axis=0)
        y = np.array(x)
        slices = updates.reshape(-1, *x.shape[depth:])
        _combine(y, tuple(part[kept] for part in parts), slices[kept], self.reduction)
        return (y,)
