"""How an operator changes when it works before a transpose instead of behind it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tinydeploy.ops._op import Op
from tinydeploy.ops.reshape import Reshape
from tinydeploy.passes._edit import inverse
from tinydeploy.passes._families import EACH_ELEMENT, PAIRWISE

Perm: TypeAlias = "tuple[int, ...]"
Shape: TypeAlias = "tuple[int, ...]"


@dataclasses.dataclass(frozen=True)
class Moved:
    """``op(transpose(x, perm)) == transpose(moved.op(x), moved.perms[i])`` for each output i.

    ``inputs``: positions of the inputs that lose the transpose; the others (weights) stay as they are.
    """

    op: Op
    perms: tuple[Perm, ...]
    inputs: tuple[int, ...]


def moved(op: Op, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    """The operator for untransposed inputs; None if there is none, or if it would not be better.

    ``shapes`` are those of the inputs behind the transpose, ``outputs`` those of the results.
    """
    rule = _RULES.get(op.name)
    return None if rule is None else rule(op, perm, shapes, outputs)


def _each_element(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(op, (perm,), (0,))


def _binary(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(op, (perm,), (0, 1)) if len(perm) == len(outputs[0]) else None


def _ternary(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(op, (perm,), (0, 1, 2)) if len(perm) == len(outputs[0]) else None


def _last_axis(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(op, (perm,), (0,)) if perm[-1] == len(perm) - 1 else None


def _softmax(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    axis, last = perm[op.axis], len(perm) - 1
    if op.axis == last and axis != last:
        return None  # kernels work on the last axis
    return Moved(dataclasses.replace(op, axis=axis), (perm,), (0,))


def _normalised(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    axes = tuple(perm[axis] for axis in op.axes)
    if axes != tuple(sorted(axes)) and any(shape is not None for shape in shapes[1:]):
        return None  # gamma and beta have the order of these axes
    return Moved(dataclasses.replace(op, axes=tuple(sorted(axes))), (perm,), (0,))


def _pad(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, padding=_reordered(op.padding, perm)), (perm,), (0,))


def _slice(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    begin, end, stride = (_reordered(field, perm) for field in (op.begin, op.end, op.stride))
    return Moved(dataclasses.replace(op, begin=begin, end=end, stride=stride), (perm,), (0,))


def _concat(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, axis=perm[op.axis]), (perm,), tuple(range(len(shapes))))


def _split(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, axis=perm[op.axis]), (perm,) * len(outputs), (0,))


def _mean(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    new = dataclasses.replace(op, axes=tuple(sorted(perm[axis] for axis in op.axes)))
    if op.keep_dims:
        return Moved(new, (perm,), (0,))
    kept = [perm[axis] for axis in range(len(perm)) if axis not in op.axes]
    return Moved(new, (tuple(sorted(kept).index(axis) for axis in kept),), (0,))


def _one_axis(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, axis=perm[op.axis]), (perm,) * len(outputs), (0,))


def _place(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    new = dataclasses.replace(op, axis=perm[op.axis])
    return Moved(new, (perm if op.keep_dims else _without(perm, op.axis),), (0,))


def _gather(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    indices = shapes[1]
    assert indices is not None
    if op.batch_dims or len(indices) > 1:
        return None
    new = dataclasses.replace(op, axis=perm[op.axis])
    return Moved(new, (perm if indices else _without(perm, op.axis),), (0,))


def _elements(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, axis=perm[op.axis]), (perm,), tuple(range(len(shapes))))


def _tile(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    return Moved(dataclasses.replace(op, repeats=_reordered(op.repeats, perm)), (perm,), (0,))


def _broadcast(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    if len(op.shape) != len(perm):
        return None
    return Moved(dataclasses.replace(op, shape=_reordered(op.shape, perm)), (perm,), (0,))


def _without(perm: Perm, axis: int) -> Perm:
    """The order of what is left when an axis (behind the transpose) is gone."""
    kept = [place for i, place in enumerate(perm) if i != axis]
    return tuple(sorted(kept).index(place) for place in kept)


def _reshape(op: Any, perm: Perm, shapes: Sequence[Shape | None], outputs: Sequence[Shape]) -> Moved | None:
    behind = shapes[0]
    assert behind is not None
    groups = _groups(behind, outputs[0])
    if groups is None:
        return None
    # Each group of axes must lie side by side, in the same order, in front of the transpose too (sizes of 1 aside).
    front = [axis for axis in inverse(perm) if behind[axis] != 1]
    order: list[int] = []
    position = 0
    starts = {sources[0]: number for number, (sources, _) in enumerate(groups) if sources}
    while position < len(front):
        number = starts.get(front[position])
        if number is None:
            return None
        sources = groups[number][0]
        if front[position : position + len(sources)] != sources:
            return None
        order.append(number)
        position += len(sources)
    leading = [number for number, (sources, _) in enumerate(groups) if not sources]
    arranged = [axis for number in (*leading, *order) for axis in groups[number][1]]
    back = tuple(arranged.index(axis) for axis in range(len(arranged)))
    return Moved(Reshape(shape=tuple(outputs[0][axis] for axis in arranged)), (back,), (0,))


def split_at_reshape(perm: Perm, behind: Shape, target: Shape) -> tuple[Perm, Perm] | None:
    """A transpose as two: the first brings together what a reshape to ``target`` joins, the second orders the groups.

    ``behind``: the shape after both. None if the reshape joins and splits in ways that fit no axes.
    """
    groups = _groups(behind, target)
    if groups is None:
        return None
    front = inverse(perm)
    between = [axis for axis, size in enumerate(behind) if size == 1]
    for sources, _ in sorted(groups, key=lambda group: min((front.index(axis) for axis in group[0]), default=-1)):
        between += sources
    return tuple(perm[axis] for axis in between), tuple(between.index(axis) for axis in range(len(perm)))


def _groups(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]] | None:
    """Runs of source axes (those of size 1 left out) and the target axes that they become, as short as possible."""
    groups: list[tuple[list[int], list[int]]] = [([], [])]
    long_axes = [axis for axis, size in enumerate(source) if size != 1]
    taken = 0
    for axis, size in enumerate(target):
        sources, targets = groups[-1]
        filled = math.prod(source[a] for a in sources) == math.prod(target[a] for a in targets)
        if size != 1 and filled:
            groups.append(([], []))
            sources, targets = groups[-1]
        targets.append(axis)
        product = math.prod(target[a] for a in targets)
        while math.prod(source[a] for a in sources) < product and taken < len(long_axes):
            sources.append(long_axes[taken])
            taken += 1
    whole = all(math.prod(source[a] for a in s) == math.prod(target[a] for a in t) for s, t in groups)
    return groups if whole and taken == len(long_axes) else None


def _reordered(field: Sequence[Any], perm: Perm) -> tuple[Any, ...]:
    """One entry an axis behind the transpose, as one an axis in front of it."""
    return tuple(field[position] for position in inverse(perm))


_RULES: dict[str, Callable[[Any, Perm, Sequence[Shape | None], Sequence[Shape]], Moved | None]] = {
    **dict.fromkeys(EACH_ELEMENT, _each_element),
    **dict.fromkeys(PAIRWISE, _binary),
    "select": _ternary,
    **dict.fromkeys(("fully_connected", "batch_norm", "local_response_norm"), _last_axis),
    **dict.fromkeys(("softmax", "log_softmax"), _softmax),
    **dict.fromkeys(("layer_norm", "l2_normalize"), _normalised),
    "pad": _pad,
    "strided_slice": _slice,
    "concat": _concat,
    "split": _split,
    **dict.fromkeys(("mean", "reduce_sum", "reduce_prod", "reduce_max", "reduce_min"), _mean),
    **dict.fromkeys(("reduce_any", "reduce_all"), _mean),
    **dict.fromkeys(("arg_max", "arg_min"), _place),
    **dict.fromkeys(("cumsum", "top_k", "resample"), _one_axis),
    **dict.fromkeys(("gather_elements", "scatter_elements"), _elements),
    "gather": _gather,
    "tile": _tile,
    "broadcast_to": _broadcast,
    "reshape": _reshape,
}
