"""Walks of gather and scatter over a tensor and an array of indices (td_places.h)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.ir import Array, Elem
from tinydeploy.lower._contract import LowerContext, Params
from tinydeploy.lower._operand import Operand, operand

AXES = 6  # TD_PLACES_AXES
Walk = list[tuple[int, int, int]]  # count, step in the tensor, step in the indices, of each axis


def dense_steps(shape: Sequence[int]) -> list[int]:
    """Elements between neighbours of each axis."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def params(
    walk: Walk, indexed: Sequence[tuple[int, int]], slice_size: int, wide: bool, factor: int = 1
) -> Params | None:
    """The C struct; ``indexed`` (size, step) of the axes that indices name. ``factor``: words an element.

    None if the walk has too many axes.
    """
    merged: Walk = []
    for count, data, index in walk:
        if count == 1:
            continue
        if merged and merged[-1][1:] == (count * data, count * index):
            merged[-1] = (merged[-1][0] * count, data, index)
        else:
            merged.append((count, data, index))
    if len(merged) > AXES or len(indexed) > AXES:
        return None
    fields = [("slice", slice_size * factor), ("depth", len(indexed)), ("wide", int(wide))]
    for i, (size, step) in enumerate([*indexed, *((1, 0),) * (AXES - len(indexed))]):
        fields += [(f"size[{i}]", size), (f"step[{i}]", step * factor)]
    for i, (count, data, index) in enumerate([*((1, 0, 0),) * (AXES - len(merged)), *merged]):
        fields += [(f"count[{i}]", count), (f"data_step[{i}]", data * factor), (f"index_step[{i}]", index)]
    return Params("td_places", tuple(fields))


def indices_operand(ctx: LowerContext, index: int, sizes: Array) -> tuple[Operand, bool]:
    """The indices, constant ones as int32 (those far outside moved to the border); True if they are 64 bits wide.

    ``sizes``: of the indexed axis, or one an entry of the indices' last axis.
    """
    data = ctx.constant(index)
    if data is None:
        return operand(ctx, index, "indices"), ctx.signature.input(index).elem is Elem.S64
    return operand(ctx, index, "indices", np.clip(data, -sizes - 1, sizes).astype(np.int32)), False
