"""Elements and slices at given indices.

In all three operators a negative index counts from the end, and one outside is taken as the nearest inside, so that
nothing outside the input is ever read. Importers refuse constant indices that lie outside.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._moving import Moving, axis_rule, index_rule, inside
from tinydeploy.ops._op import Arrays, Rule, Types, count_rule, optional, present


def _batches(op: Any, inputs: Types) -> bool:
    x, indices = optional(inputs, 0), optional(inputs, 1)
    if x is None or indices is None:
        return False
    count = op.batch_dims
    return bool(0 <= count <= min(x.rank, indices.rank) and x.shape[:count] == indices.shape[:count])


_BATCH_RULE = Rule("the leading batch_dims axes of input and indices are the same", _batches)


@dataclasses.dataclass(frozen=True)
class Gather(Moving):
    """Slices of x along ``axis``: shape x[:axis] + indices[batch_dims:] + x[axis+1:], int32 or int64 indices.

    The leading ``batch_dims`` axes of x and of the indices go together.
    Source: TFLite GATHER, EMBEDDING_LOOKUP; ONNX Gather.
    """

    name: ClassVar[str] = "gather"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        index_rule(1),
        axis_rule(),
        _BATCH_RULE,
        Rule("axis is behind the batch axes", lambda op, _: op.batch_dims <= op.axis),
    )

    axis: int = 0
    batch_dims: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The joined shape with x's element type."""
        self.require(inputs)
        x, indices = present(inputs, 0), present(inputs, 1)
        shape = (*x.shape[: self.axis], *indices.shape[self.batch_dims :], *x.shape[self.axis + 1 :])
        return (Type(shape, x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, indices = present(inputs, 0), present(inputs, 1)
        axis, batch = self.axis, self.batch_dims
        places = inside(indices, x.shape[axis])
        if batch == 0:
            return (np.take(x, places, axis=axis),)
        rows = places.reshape(*places.shape[:batch], *(1,) * (axis - batch), -1, *(1,) * (x.ndim - axis - 1))
        taken = np.take_along_axis(
            x, np.broadcast_to(rows, (*x.shape[:axis], rows.shape[axis], *x.shape[axis + 1 :])), axis
        )
        return (taken.reshape(*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :]),)


def _tuples(op: Any, inputs: Types) -> bool:
    x, indices = optional(inputs, 0), optional(inputs, 1)
    if x is None or indices is None:
        return False
    return bool(indices.rank > op.batch_dims and 1 <= indices.shape[-1] <= x.rank - op.batch_dims)


@dataclasses.dataclass(frozen=True)
class GatherNd(Moving):
    """Slices of x at index tuples: the last axis of the indices holds the place along x's axes after the batch.

    Result: indices[:-1] + x[batch_dims + indices[-1]:]. Source: TFLite GATHER_ND; ONNX GatherND.
    """

    name: ClassVar[str] = "gather_nd"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        index_rule(1),
        _BATCH_RULE,
        Rule("the last axis of the indices names 1 to all axes of x behind the batch", _tuples),
    )

    batch_dims: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The indices' shape without its last axis, and the slice's."""
        self.require(inputs)
        x, indices = present(inputs, 0), present(inputs, 1)
        return (Type((*indices.shape[:-1], *x.shape[self.batch_dims + indices.shape[-1] :]), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, indices = present(inputs, 0), present(inputs, 1)
        batch, depth = self.batch_dims, indices.shape[-1]
        grid = np.ix_(*(np.arange(size) for size in indices.shape[:batch])) if batch else ()
        lead = tuple(part.reshape(*part.shape, *(1,) * (indices.ndim - 1 - batch)) for part in grid)
        parts = tuple(inside(indices[..., i], x.shape[batch + i]) for i in range(depth))
        return (np.asarray(x[lead + parts]),)


def _fits_elements(op: Any, inputs: Types) -> bool:
    x, indices = optional(inputs, 0), optional(inputs, 1)
    if x is None or indices is None or x.rank != indices.rank:
        return False
    return all(i == op.axis or indices.shape[i] <= x.shape[i] for i in range(x.rank))


@dataclasses.dataclass(frozen=True)
class GatherElements(Moving):
    """One element for each index: y[i][j][k] = x[i][indices[i][j][k]][k] for ``axis`` 1.

    Source: ONNX GatherElements.
    """

    name: ClassVar[str] = "gather_elements"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        index_rule(1),
        axis_rule(),
        Rule("x and indices have the same rank, and indices are no longer than x but along the axis", _fits_elements),
    )

    axis: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The indices' shape with x's element type."""
        self.require(inputs)
        return (Type(present(inputs, 1).shape, present(inputs, 0).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        x, indices = present(inputs, 0), present(inputs, 1)
        places = inside(indices, x.shape[self.axis])
        part = x[tuple(slice(None) if i == self.axis else slice(0, d) for i, d in enumerate(indices.shape))]
        return (np.take_along_axis(part, places, self.axis),)
