"""Vectors that mark one position."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._moving import Moving, index_rule
from tinydeploy.ops._op import Arrays, Rule, Types, count_rule, optional, present


def _place(op: Any, inputs: Types) -> bool:
    indices = optional(inputs, 0)
    return indices is not None and 0 <= op.axis <= indices.rank


def _values(_: Any, inputs: Types) -> bool:
    values = optional(inputs, 1)
    return values is not None and values.shape == (2,)


@dataclasses.dataclass(frozen=True)
class OneHot(Moving):
    """A new axis ``axis`` of ``depth``, values[1] at the index and values[0] elsewhere; indices are int32 or int64.

    ``from_end``: a negative index counts from the end; otherwise, and outside the depth, nothing is marked.
    Source: ONNX OneHot (from_end); TFLite ONE_HOT.
    """

    name: ClassVar[str] = "one_hot"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        index_rule(0),
        Rule("the new axis is one of the result's, counted from the front", _place),
        Rule("values are two: off and on", _values),
        Rule("depth is at least 1", lambda op, _: op.depth >= 1),
    )

    depth: int = 1
    axis: int = 0
    from_end: bool = True

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The indices' shape with the new axis; the values' element type."""
        self.require(inputs)
        shape = present(inputs, 0).shape
        return (Type((*shape[: self.axis], self.depth, *shape[self.axis :]), present(inputs, 1).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        indices, values = present(inputs, 0).astype(np.int64), present(inputs, 1)
        if self.from_end:
            indices = np.where(indices < 0, indices + self.depth, indices)
        every = np.arange(self.depth).reshape(-1, *(1,) * (indices.ndim - self.axis))
        return (np.where(np.expand_dims(indices, self.axis) == every, values[1], values[0]),)
