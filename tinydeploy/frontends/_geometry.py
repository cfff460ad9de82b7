"""Where elements go when tensors are padded, repeated, reversed or rearranged in blocks: plain numbers, no nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.errors import Problem, UnsupportedError
from tinydeploy.frontends._common import MAX_RANK
from tinydeploy.ir import Array

MAX_INDICES = 1 << 20  # of one axis: padding in a file may be any number
_MODES = ("reflect", "edge", "wrap", "symmetric")
Shape = tuple[int, ...]


def border_indices(size: int, before: int, after: int, mode: str) -> Array:
    """Which elements of an axis stand at each place of it with a border of ``mode`` (NumPy's words), int32.

    Raises: UnsupportedError for another mode and above `MAX_INDICES`.
    """
    if mode not in _MODES:
        raise UnsupportedError(Problem("", f"pads in mode {mode!r}", f"modes constant, {', '.join(_MODES)}"))
    if before + size + after > MAX_INDICES:
        raise UnsupportedError(Problem("", f"pads an axis by {before} and {after}", f"up to {MAX_INDICES} elements"))
    numbers = np.arange(size, dtype=np.int32)
    if mode == "reflect":
        return np.pad(numbers, (before, after), "reflect")
    if mode == "edge":
        return np.pad(numbers, (before, after), "edge")
    return np.pad(numbers, (before, after), "wrap" if mode == "wrap" else "symmetric")


def tile_steps(shape: Shape, repeats: Sequence[int]) -> list[Shape]:
    """``repeats`` as one tuple after the other that repeat at most two axes each: kernels walk over few axes."""
    steps: list[Shape] = []
    chosen = [axis for axis in range(len(shape)) if repeats[axis] != 1]
    for start in range(0, len(chosen), 2):
        now = chosen[start : start + 2]
        steps.append(tuple(repeats[axis] if axis in now else 1 for axis in range(len(shape))))
    return steps


def reversal_indices(lengths: Sequence[int], size: int) -> Array:
    """[batch, size] int32: for each batch the first ``lengths`` places in reverse order, then the others in order.

    Raises: UnsupportedError for a length beyond the axis.
    """
    if any(not 0 <= length <= size for length in lengths) or len(lengths) * size > MAX_INDICES:
        raise UnsupportedError(Problem("", f"reverses {list(lengths)[:8]} of {size} elements", "lengths are within it"))
    places = np.arange(size)[None]
    bounds = np.asarray(lengths)[:, None]
    return np.where(places < bounds, bounds - 1 - places, places).astype(np.int32)


def is_regular(indices: Sequence[int]) -> bool:
    """True if the indices rise by the same step, or there is one."""
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    return step > 0 and list(indices) == list(range(indices[0], indices[-1] + 1, step))


def broadcast(*shapes: Shape) -> Shape:
    """The common shape.

    Raises: UnsupportedError if there is none, or a huge one.
    """
    if max(map(len, shapes)) > MAX_RANK:
        raise UnsupportedError(Problem("", f"broadcasts to {max(map(len, shapes))} dimensions", f"up to {MAX_RANK}"))
    try:
        result = tuple(np.broadcast_shapes(*shapes))
    except ValueError:
        raise UnsupportedError(Problem("", f"broadcasts {', '.join(str(list(s)) for s in shapes)}", "fit")) from None
    if math.prod(result) > 1 << 31:
        raise UnsupportedError(Problem("", f"broadcasts to {list(result)}", "at most 2^31 elements"))
    return result
