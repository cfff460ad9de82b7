"""A tensor with a block replaced at a place that is computed."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._moving import Moving, element, index_rule
from tinydeploy.ops._op import Arrays, Rule, Types, count_rule, optional, present


def _fits(_: Any, inputs: Types) -> bool:
    x, update, start = (optional(inputs, i) for i in range(3))
    if x is None or update is None or start is None or update.rank != x.rank or start.shape != (x.rank,):
        return False
    return x.rank > 0 and all(u <= d for u, d in zip(update.shape, x.shape, strict=True))


@dataclasses.dataclass(frozen=True)
class DynamicUpdateSlice(Moving):
    """x with ``update`` put in at ``start`` (int32 or int64, one an axis), moved so far that the whole block fits.

    Source: TFLite DYNAMIC_UPDATE_SLICE.
    """

    name: ClassVar[str] = "dynamic_update_slice"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3),
        index_rule(2),
        Rule("the update has x's element type", lambda _, inputs: element(inputs, 0) is element(inputs, 1)),
        Rule("the update is no longer than x, and start has a place for each axis", _fits),
    )

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """As x."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, update, start = present(inputs, 0), present(inputs, 1), present(inputs, 2)
        first = np.clip(start.astype(np.int64), 0, np.subtract(x.shape, update.shape))
        y = np.array(x)
        y[tuple(slice(f, f + d) for f, d in zip(first, update.shape, strict=True))] = update
        return (y,)
