"""TFLite's sparse tensors, expanded.

The dimensions, and behind them those of blocks, are walked in ``traversal_order``. Each is dense (every index is
there) or compressed: ``segments[p] .. segments[p + 1]`` is the range of ``indices`` below position ``p`` of the level
before.
Source: TFLite schema, SparsityParameters; TACO (F. Kjolstad et al., 2017).
"""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.tflite_flatbuffer import Reader, Table
from tinydeploy.ir import Array, Type

_MAX_DIMENSIONS = 12
_MAX_ELEMENTS = 1 << 25  # of an expanded tensor: a few bytes may describe any number of zeros
_VECTORS = {1: "<i4", 2: "<u2", 3: "|u1"}  # SparseIndexVector: number in the union -> type of its numbers


def expand(reader: Reader, raw: Array, kind: Type, sparsity: Table, where: str) -> Array:
    """The whole tensor of ``kind``; elements that are not stored are zero.

    Raises: InputError if any size or index does not fit.
    """
    if kind.size > _MAX_ELEMENTS:
        raise reader.error(f"{where} is sparse with {kind.size} elements, more than {_MAX_ELEMENTS}")
    order, blocked = _vector(sparsity, 0), _vector(sparsity, 1)
    levels = sparsity.tables(2)
    rank, count = len(kind.shape), len(levels)
    if not 1 <= count <= _MAX_DIMENSIONS or sorted(order) != list(range(count)) or count != rank + len(blocked):
        raise reader.error(f"{where} has a sparse layout of {count} dimensions in the order {order}")
    if any(not 0 <= axis < rank for axis in blocked) or len(set(blocked)) != len(blocked):
        raise reader.error(f"{where} has blocks along the axes {blocked} of {rank}")
    sizes = _sizes(reader, levels, order, kind.shape, blocked, where)
    indices = [np.zeros(1, np.int64)]  # of each stored element along each level, in the order of the file
    for level, table in enumerate(levels):
        indices = _walk(reader, table, indices, sizes[order[level]], kind.size, where)
    places = dict(zip(order, indices[1:], strict=True))
    item = kind.elem.dtype.itemsize
    stored = len(indices[0])
    if raw.size != stored * item:
        raise reader.error(f"{where} is sparse with {stored} elements but has {raw.size} bytes")
    at = [places[axis] * (sizes[rank + blocked.index(axis)] if axis in blocked else 1) for axis in range(rank)]
    for number, axis in enumerate(blocked):
        at[axis] = at[axis] + places[rank + number]
    whole = np.zeros(kind.shape, kind.elem.dtype)
    whole[tuple(at)] = raw.view(kind.elem.dtype.newbyteorder("<"))
    return whole


def _vector(table: Table, field: int) -> list[int]:
    numbers = table.numbers(field, "<i4")
    return [] if numbers is None else [int(n) for n in numbers[: _MAX_DIMENSIONS + 1]]


def _sizes(
    reader: Reader, levels: list[Table], order: list[int], shape: tuple[int, ...], blocked: list[int], where: str
) -> list[int]:
    """Size of each dimension: the tensor's in blocks, then the blocks'. The levels have to say the same."""
    stated = {axis: int(table.scalar(1, "i")) for axis, table in zip(order, levels, strict=True)}
    blocks = [stated[len(shape) + number] for number in range(len(blocked))]
    sizes = list(shape)
    for axis, block in zip(blocked, blocks, strict=True):
        if block < 1 or shape[axis] % block:
            raise reader.error(f"{where} has blocks of {block} along an axis of {shape[axis]}")
        sizes[axis] //= block
    for axis, table in zip(order, levels, strict=True):
        if not table.scalar(0, "b") and stated[axis] != (sizes + blocks)[axis]:
            raise reader.error(f"{where} has a dense dimension of {stated[axis]}, not {(sizes + blocks)[axis]}")
    return sizes + blocks


def _walk(reader: Reader, table: Table, before: list[Array], size: int, most: int, where: str) -> list[Array]:
    """One level deeper: the indices of every level so far, and this one's, for each stored position."""
    parents = len(before[0])
    if not table.scalar(0, "b"):
        if parents * size > most:
            raise reader.error(f"{where} stores more elements than it has")
        repeats: Array = np.full(parents, size)
        here: Array | None = np.tile(np.arange(size), parents)
    else:
        segments, here = _compressed(table, 2), _compressed(table, 4)
        if segments is None or here is None or len(segments) != parents + 1:
            raise reader.error(f"{where} has a sparse dimension whose segments do not fit")
        repeats = np.diff(segments)
        if segments[0] != 0 or (repeats < 0).any() or segments[-1] != len(here) or len(here) > most:
            raise reader.error(f"{where} has a sparse dimension whose segments do not fit")
        if here.size and not 0 <= here.min() <= here.max() < size:
            raise reader.error(f"{where} has a sparse index outside its dimension of {size}")
    assert here is not None
    deeper = [np.repeat(indices, repeats) for indices in before]
    # The first entry only counts positions; it is not a dimension.
    return [*deeper, here.astype(np.int64)]


def _compressed(table: Table, field: int) -> Array | None:
    """A vector in the union at ``field`` (its type) and ``field + 1``, as int64."""
    dtype, holder = _VECTORS.get(int(table.scalar(field, "B"))), table.table(field + 1)
    numbers = None if dtype is None or holder is None else holder.numbers(0, dtype)
    return None if numbers is None else numbers.astype(np.int64)
