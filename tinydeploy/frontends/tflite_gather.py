"""TFLite operators that read or write elements at given indices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinydeploy.frontends._geometry import MAX_INDICES
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Array, Elem, Type

MAX_ELEMENTS = 1 << 26


def _indices(call: Call, index: int) -> str:
    """Indices as int32 or int64."""
    name = call.input(index)
    elem = call.type(name).elem
    return name if elem in (Elem.S32, Elem.S64) else call.between("cast", (name,), elem=Elem.S32)


def _within(call: Call, index: int, sizes: tuple[int, ...]) -> None:
    """Constant indices lie within ``sizes``: one, or one an entry of the last axis."""
    data = call.data(index)
    if data is not None and np.any((data < 0) | (data >= np.asarray(sizes))):
        raise call.damaged(f"has an index outside {list(sizes)}")


def _gather(call: Call) -> None:
    x, rank = call.input(0), call.type(call.input(0)).rank
    axis = call.axis(int(call.option("axis")), rank)
    batch = call.axis(int(call.option("batch_dims")), max(call.type(call.input(1)).rank, 1) + 1)
    _within(call, 1, call.type(x).shape[axis : axis + 1])
    call.emit("gather", (x, _indices(call, 1)), axis=axis, batch_dims=batch)


def _embedding_lookup(call: Call) -> None:
    _within(call, 0, call.type(call.input(1)).shape[:1])
    call.emit("gather", (call.input(1), _indices(call, 0)), axis=0)


def _gather_nd(call: Call) -> None:
    x, indices = call.type(call.input(0)), call.type(call.input(1))
    if indices.rank < 1 or indices.shape[-1] > x.rank:
        raise call.damaged(f"takes elements {indices} of {x}")
    _within(call, 1, x.shape[: indices.shape[-1]])
    call.emit("gather_nd", (call.input(0), _indices(call, 1)))


def _result_shape(call: Call, index: int) -> tuple[int, ...]:
    shape = tuple(call.integers(index, "the shape"))
    if len(shape) > 6 or min(shape, default=1) < 1 or math.prod(shape) > MAX_ELEMENTS:
        raise call.refuse(f"makes a tensor of shape {list(shape)}", f"1 to {MAX_ELEMENTS} elements")
    return shape


def _add_or_put(call: Call, indices: Array | None, kind: Type) -> str:
    """TFLite adds up what goes to the same place; ``put`` where no two do.

    Raises: UnsupportedError where sums would be needed of numbers that have a scale, or of bools.
    """
    if indices is not None and len(np.unique(indices.reshape(-1, indices.shape[-1]), axis=0)) == math.prod(
        indices.shape[:-1]
    ):
        return "none"
    if kind.quant is not None or kind.elem is Elem.BOOL:
        raise call.refuse("may put several updates into one place", "the indices are different constants")
    return "add"


def _scatter_nd(call: Call) -> None:
    shape, updates = _result_shape(call, 2), call.type(call.input(1))
    indices = call.type(call.input(0))
    if indices.rank < 1 or not 1 <= indices.shape[-1] <= len(shape):
        raise call.damaged(f"puts elements at {indices} of {list(shape)}")
    _within(call, 0, shape[: indices.shape[-1]])
    reduction = _add_or_put(call, call.data(0), updates)
    zeros = call.hold(np.zeros(shape, updates.elem.dtype), updates.quant)
    call.emit("scatter_nd", (zeros, _indices(call, 0), call.input(1)), reduction=reduction)


def _sparse_to_dense(call: Call) -> None:
    shape, places, default = _result_shape(call, 1), call.data(0), call.data(3)
    if places is None or default is None or default.size != 1:
        raise call.refuse("indices or default are computed at run time", "they have to be constants")
    values = call.type(call.input(2))
    rows = places.reshape(-1, len(shape)) if places.ndim > 1 else places.reshape(-1, 1)
    if rows.shape[1] != len(shape) or np.any((rows < 0) | (rows >= np.asarray(shape))):
        raise call.damaged(f"puts elements at {places.shape} of {list(shape)}")
    filled = call.hold(np.full(shape, default.ravel()[0], values.elem.dtype), values.quant)
    updates = call.input(2)
    if values.shape != (len(rows),):
        updates = call.between("broadcast_to", (updates,), values.quant, shape=(len(rows),))
    call.emit("scatter_nd", (filled, call.hold(rows.astype(np.int32)), updates))


def _one_hot(call: Call) -> None:
    rank, depth = call.type(call.input(0)).rank, call.integers(1, "the depth")
    if len(depth) != 1 or not 1 <= depth[0] <= 1 << 20:
        raise call.refuse(f"has depth {depth}", "one number of at least 1")
    axis = int(call.option("axis"))
    axis = rank if axis == -1 else call.axis(axis, rank + 1)
    on, off = call.data(2), call.data(3)
    kind = call.type(call.input(2))
    if on is not None and off is not None and on.size == off.size == 1:
        values = call.hold(np.array([off.ravel()[0], on.ravel()[0]], kind.elem.dtype), kind.quant)
    else:
        parts = tuple(call.between("reshape", (call.input(i),), kind.quant, shape=(1,)) for i in (3, 2))
        values = call.between("concat", parts, kind.quant, axis=0)
    call.emit("one_hot", (_indices(call, 0), values), depth=depth[0], axis=axis, from_end=False)


def _dynamic_update_slice(call: Call) -> None:
    x, update = call.type(call.input(0)), call.type(call.input(1))
    if call.data(2) is None:
        call.emit("dynamic_update_slice", (call.input(0), call.input(1), _indices(call, 2)))
        return
    start = call.integers(2, "the start")
    if len(start) != x.rank or update.rank != x.rank or any(u > d for u, d in zip(update.shape, x.shape, strict=True)):
        raise call.damaged(f"puts {update} at {start} of {x}")
    first = [min(max(s, 0), d - u) for s, d, u in zip(start, x.shape, update.shape, strict=True)]
    ends = [f + u for f, u in zip(first, update.shape, strict=True)]
    result = call.input(1)
    # From the last axis to the first: what stands before and after the update along that axis is put around it.
    for axis in reversed(range(x.rank)):
        if update.shape[axis] == x.shape[axis]:
            continue
        parts = [result]
        for begin, end in ((0, first[axis]), (ends[axis], x.shape[axis])):
            if begin < end:
                lows = (*first[:axis], begin, *(0,) * (x.rank - axis - 1))
                highs = (*ends[:axis], end, *x.shape[axis + 1 :])
                attributes = {"begin": tuple(lows), "end": tuple(highs), "stride": (1,) * x.rank}
                part = call.between("strided_slice", (call.input(0),), x.quant, **attributes)
                parts.insert(0 if begin == 0 else len(parts), part)
        result = call.between("concat", tuple(parts), x.quant, axis=axis)
    call.emit("reshape", (result,), shape=x.shape)


def _eye(call: Call, shape: tuple[int, ...]) -> str:
    """Where rows and columns of matrices meet, broadcast to their shape."""
    if shape[-2] * shape[-1] > MAX_INDICES:
        raise call.refuse(f"makes matrices of shape {list(shape[-2:])}", f"at most {MAX_INDICES} elements")
    return call.hold(np.eye(*shape[-2:], dtype=bool))


def _matrix_diag(call: Call) -> None:
    x = call.type(call.input(0))
    if x.rank < 1:
        raise call.damaged(f"puts {x} into a diagonal")
    column = call.between("reshape", (call.input(0),), x.quant, shape=(*x.shape, 1))
    shape = (*x.shape, x.shape[-1])
    wide = call.between("broadcast_to", (column,), x.quant, shape=shape)
    filler = call.hold(np.zeros((), x.elem.dtype), x.quant)  # TFLite puts the integer 0 there, whatever it stands for
    call.emit("select", (_eye(call, shape), wide, filler))


def _matrix_set_diag(call: Call) -> None:
    x, diagonal = call.type(call.input(0)), call.type(call.input(1))
    if x.rank < 2 or diagonal.shape != (*x.shape[:-2], min(x.shape[-2:])):
        raise call.damaged(f"puts {diagonal} into {x}")
    if x.shape[-2] != x.shape[-1]:
        raise call.refuse(f"puts a diagonal into {x}", "square matrices")
    column = call.between("reshape", (call.input(1),), x.quant, shape=(*diagonal.shape, 1))
    call.emit("select", (_eye(call, x.shape), column, call.input(0)))


OPERATORS: dict[str, Callable[[Call], None]] = {
    "GATHER": _gather,
    "EMBEDDING_LOOKUP": _embedding_lookup,
    "GATHER_ND": _gather_nd,
    "SCATTER_ND": _scatter_nd,
    "SPARSE_TO_DENSE": _sparse_to_dense,
    "ONE_HOT": _one_hot,
    "DYNAMIC_UPDATE_SLICE": _dynamic_update_slice,
    "MATRIX_DIAG": _matrix_diag,
    "MATRIX_SET_DIAG": _matrix_set_diag,
}
