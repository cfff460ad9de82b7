"""Operations of Keras 3 that move data: shapes, slices, joining and repeating."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tinydeploy.frontends._geometry import tile_steps
from tinydeploy.frontends.keras_call import Call, Tensor, operation
from tinydeploy.frontends.keras_ops._resize import take
from tinydeploy.frontends.keras_ops.operations import same_elem, setting
from tinydeploy.frontends.keras_ops.shaping import new_shape
from tinydeploy.frontends.keras_settings import MAX_SIZE


def _x(call: Call) -> str:
    return call.tensor(call.first())


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@operation("Reshape")
def _reshape(call: Call) -> str:
    x = _x(call)
    target = _list(setting(call, "newshape", 1))
    shape = call.type(x).shape
    if target and target[0] == -1 and target.count(-1) == 1 and math.prod(target[1:]) == math.prod(shape[1:]):
        target[0] = shape[0]
    return call.reshape(x, new_shape(call, shape, target))


@operation("Transpose")
def _transpose(call: Call) -> str:
    x = _x(call)
    rank = call.type(x).rank
    axes = setting(call, "axes", 1)
    perm = list(range(rank))[::-1] if axes is None else [call.axis(a, rank) for a in _list(axes)]
    if sorted(perm) != list(range(rank)):
        raise call.damaged(f"permutes {call.type(x)} by {str(axes)[:80]}")
    return call.transpose(x, perm)


@operation("Swapaxes")
def _swapaxes(call: Call) -> str:
    x = _x(call)
    rank = call.type(x).rank
    a, b = (call.axis(setting(call, key, i), rank) for i, key in ((1, "axis1"), (2, "axis2")))
    perm = list(range(rank))
    perm[a], perm[b] = b, a
    return call.transpose(x, perm)


@operation("Moveaxis")
def _moveaxis(call: Call) -> str:
    x = _x(call)
    rank = call.type(x).rank
    source, target = (
        [call.axis(a, rank) for a in _list(setting(call, key, i))] for i, key in ((1, "source"), (2, "destination"))
    )
    if len(source) != len(target) or len(set(source)) != len(source) or len(set(target)) != len(target):
        raise call.damaged("moves axes that do not pair")
    rest = iter([a for a in range(rank) if a not in source])
    places = dict(zip(target, source, strict=True))
    return call.transpose(x, [places[a] if a in places else next(rest) for a in range(rank)])


@operation("ExpandDims")
def _expand_dims(call: Call) -> str:
    x = _x(call)
    shape = list(call.type(x).shape)
    axes = _list(setting(call, "axis", 1))
    for axis in sorted(call.axis(a, len(shape) + len(axes)) for a in axes):
        shape.insert(axis, 1)
    return call.reshape(x, shape)


@operation("Squeeze")
def _squeeze(call: Call) -> str:
    x = _x(call)
    shape = call.type(x).shape
    axis = setting(call, "axis", 1)
    # The batch is 1 here and open in the file: it stays.
    gone = {i for i, d in enumerate(shape) if d == 1 and i} if axis is None else set(call.axes(axis, len(shape)))
    if any(shape[i] != 1 for i in gone):
        raise call.damaged(f"squeezes axis {str(axis)[:80]} of {list(shape)}")
    return call.reshape(x, [d for i, d in enumerate(shape) if i not in gone])


@operation("Ravel")
def _ravel(call: Call) -> str:
    x = _x(call)
    return call.reshape(x, (call.type(x).size,))


@operation("Flip")
def _flip(call: Call) -> str:
    x = _x(call)
    axes = call.axes(setting(call, "axis", 1), call.type(x).rank)
    for number, axis in enumerate(axes):
        x = call.slice(
            x, axis, call.type(x).shape[axis] - 1, -1, -1, stem="" if number == len(axes) - 1 else f"flip{axis}"
        )
    return x


@operation("Concatenate")
def _concatenate(call: Call) -> str:
    names = same_elem(call, call.operands)
    axis = call.axis(setting(call, "axis", default=0), call.type(names[0]).rank)
    return call.emit("concat", names, axis=axis) if len(names) > 1 else names[0]


@operation("Hstack", "Vstack")
def _hstack(call: Call) -> str:
    names = same_elem(call, call.operands)
    if call.type(names[0]).rank < 2:
        raise call.refuse(f"stacks {call.type(names[0])}", "tensors have two axes or more")
    return call.emit("concat", names, axis=int(call.layer.class_name == "Hstack"))


@operation("Stack")
def _stack(call: Call) -> str:
    names = same_elem(call, call.operands)
    shape = call.type(names[0]).shape
    axis = call.axis(setting(call, "axis", default=0), len(shape) + 1)
    wide = [call.reshape(n, (*shape[:axis], 1, *shape[axis:]), f"wide{i}") for i, n in enumerate(names)]
    return call.emit("concat", wide, axis=axis) if len(wide) > 1 else wide[0]


@operation("Unstack")
def _unstack(call: Call) -> list[str]:
    x = _x(call)
    shape = call.type(x).shape
    axis = call.axis(setting(call, "axis", default=0), len(shape))
    rest = (*shape[:axis], *shape[axis + 1 :])
    call.check_parts(shape[axis])
    parts = call.emit_all("split", (x,), stem="split", axis=axis, sizes=(1,) * shape[axis])
    return [call.reshape(part, rest, f"part{i}") for i, part in enumerate(parts)]


@operation("Split")
def _split(call: Call) -> list[str]:
    x = _x(call)
    axis = call.axis(setting(call, "axis", 2, 0), call.type(x).rank)
    size, where = call.type(x).shape[axis], setting(call, "indices_or_sections", 1)
    if type(where) is int and where > 0 and size % where == 0:
        edges = list(range(0, size + 1, size // where))
    elif isinstance(where, list) and all(type(e) is int and 0 < e < size for e in where):
        edges = [0, *where, size]
    else:
        raise call.damaged(f"splits {size} at {str(where)[:80]}")
    call.check_parts(len(edges))
    sizes = tuple(b - a for a, b in itertools.pairwise(edges))
    return call.emit_all("split", (x,), axis=axis, sizes=sizes) if len(sizes) > 1 else [x]


@operation("Pad")
def _pad(call: Call) -> str:
    x = _x(call)
    mode = setting(call, "mode", 2, "constant")
    try:
        pads = np.asarray(setting(call, "pad_width", 1))
    except ValueError:
        raise call.damaged("has a pad_width that does not fit") from None
    if (
        pads.dtype.kind != "i"
        or pads.size not in (1, 2, 2 * call.type(x).rank)
        or pads.min() < 0
        or pads.max() > MAX_SIZE
    ):
        raise call.damaged("has a pad_width that does not fit")
    ends = tuple((int(a), int(b)) for a, b in np.broadcast_to(pads, (call.type(x).rank, 2)))
    fill = call.number("constant_values", 0.0, config={"constant_values": setting(call, "constant_values", 3)})
    if mode == "constant":
        return call.emit("pad", (x,), padding=ends, value=fill)
    if mode not in ("reflect", "symmetric"):
        raise call.refuse(f"pads by {str(mode)[:80]!r}", "constant, reflect or symmetric")
    for axis, (before, after) in enumerate(ends):
        if before or after:
            index = np.pad(np.arange(call.type(x).shape[axis], dtype=np.int32), (before, after), mode=mode)
            x = take(call, x, axis, index, f"axis{axis}")
    return x


@operation("Tile")
def _tile(call: Call) -> str:
    x = _x(call)
    repeats = _list(setting(call, "repeats", 1))
    rank = max(len(repeats), call.type(x).rank)
    if any(type(n) is not int or not 1 <= n <= MAX_SIZE for n in repeats):
        raise call.damaged(f"repeats {str(repeats)[:80]}")
    x = call.reshape(x, (*(1,) * (rank - call.type(x).rank), *call.type(x).shape), "wide")
    for step in tile_steps(call.type(x).shape, (*(1,) * (rank - len(repeats)), *repeats)):
        x = call.emit("tile", (x,), repeats=step)
    return x


@operation("Repeat")
def _repeat(call: Call) -> str:
    x = _x(call)
    axis, count = setting(call, "axis", 2), setting(call, "repeats", 1)
    if axis is None:
        x, axis = call.reshape(x, (call.type(x).size,), "flat"), 0
    place = call.axis(axis, call.type(x).rank)
    if type(count) is not int or not 1 <= count <= MAX_SIZE:
        raise call.refuse(f"repeats {str(count)[:80]}", "one number of times")
    call.check_table(call.type(x).shape[place], count)
    index = np.repeat(np.arange(call.type(x).shape[place], dtype=np.int32), count)
    return take(call, x, place, index, "repeat")


@operation("Roll")
def _roll(call: Call) -> str:
    x = _x(call)
    shift, axis = setting(call, "shift", 1), setting(call, "axis", 2)
    if type(shift) is not int or type(axis) is not int:
        raise call.refuse("rolls several axes", "one shift along one axis")
    place = call.axis(axis, call.type(x).rank)
    return take(call, x, place, np.roll(np.arange(call.type(x).shape[place], dtype=np.int32), shift), "roll")


@operation("Take")
def _take(call: Call) -> str:
    x = _x(call)
    axis = setting(call, "axis", 2)
    if axis is None:
        x, axis = call.reshape(x, (call.type(x).size,), "flat"), 0
    place = call.axis(axis, call.type(x).rank)
    if len(call.args) < 2:
        raise call.damaged("has no indices")
    item = np.asarray(call.args[1]) if not isinstance(call.args[1], Tensor) else call.args[1]
    if isinstance(item, np.ndarray):
        size = call.type(x).shape[place]
        if item.dtype.kind not in "iu" or not item.size or item.min() < -size or item.max() >= size:
            raise call.damaged("takes what is not there")
        return take(call, x, place, np.where(item < 0, item + size, item).astype(np.int32), "take")
    return call.emit("gather", (x, item), axis=place, batch_dims=0)


@operation("BroadcastTo")
def _broadcast_to(call: Call) -> str:
    x = _x(call)
    shape = _list(setting(call, "shape", 1))
    if any(type(d) is not int or not 1 <= d <= MAX_SIZE for d in shape):
        raise call.damaged(f"broadcasts to {str(shape)[:80]}")
    return call.emit("broadcast_to", (x,), shape=tuple(shape))


@operation("Identity", "Copy", "StopGradient")
def _same(call: Call) -> str:
    return _x(call)
