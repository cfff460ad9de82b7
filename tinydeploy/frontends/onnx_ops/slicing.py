"""Operators that cut tensors and put borders around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinydeploy.frontends._geometry import border_indices, is_regular
from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.ir import Array


@translates("Slice")
def slice_(call: Call) -> Results:
    """Regular ranges of some axes."""
    return (cut(call, call.value(0), slices(call)),)


def cut(call: Call, x: str, ranges: Sequence[range]) -> str:
    """The given indices of each axis of ``x``."""
    if all(r == range(d) for r, d in zip(ranges, call.type(x).shape, strict=True)):
        return x
    begin, end, stride = (tuple(getattr(r, field) for r in ranges) for field in ("start", "stop", "step"))
    return call.emit("strided_slice", x, begin=begin, end=end, stride=stride)


def slices(call: Call) -> tuple[range, ...]:
    """The indices that a Slice node takes of each axis; attributes before opset 10. Source: ONNX Slice-13."""
    shape = call.shape_of(0)
    if call.opset < 10:
        starts, ends, axes = call.attribute("starts"), call.attribute("ends"), call.attribute("axes")
        steps = None
    else:
        starts, ends = call.integers(1, "starts"), call.integers(2, "ends")
        axes, steps = call.integers(3, "axes"), call.integers(4, "steps")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    result = [range(d) for d in shape]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        place = normal_axis(axis, len(shape))
        size = shape[place]
        result[place] = range(size)[slice(start, end, step)] if step > 0 else _backwards(size, start, end, step)
    if any(len(r) == 0 for r in result) and not call.is_constant(0):
        raise refuse(f"starts {list(starts)}, ends {list(ends)} of shape {list(shape)}", "something is left")
    return tuple(result)


def _backwards(size: int, start: int, end: int, step: int) -> range:
    """A negative step: an end below ``-size`` means before element 0, which Python's slices say with None."""
    return range(size)[slice(start, None if end < -size else end, step)]


@translates("Pad")
def pad(call: Call) -> Results:
    """Borders of one value or of neighbours; pads are an attribute before opset 11. Source: ONNX Pad-25."""
    shape, mode = call.shape_of(0), call.attribute("mode", "constant")
    value: float = 0.0
    if call.opset < 11:
        pads, axes = call.attribute("pads"), None
        value = float(call.attribute("value", 0.0))
    else:
        pads, axes = call.integers(1, "pads"), call.integers(3, "axes")
        filler = call.optional(2, "constant_value")
        value = 0.0 if filler is None else float(filler.ravel()[0])
    axes = tuple(range(len(shape))) if axes is None else axes
    if len(pads) != 2 * len(axes):
        raise refuse(f"{len(pads)} pads for {len(axes)} axes", "two an axis")
    pairs = [(0, 0)] * len(shape)
    for i, axis in enumerate(axes):
        pairs[normal_axis(axis, len(shape))] = (int(pads[i]), int(pads[i + len(axes)]))
    return (bordered(call, call.value(0), pairs, mode, value),)


def bordered(call: Call, x: str, pairs: Sequence[tuple[int, int]], mode: str, value: float) -> str:
    """``x`` with ``pairs`` (before, after) elements around each axis; negative ones are cut off."""
    shape = call.type(x).shape
    kept = [range(max(-before, 0), size - max(-after, 0)) for size, (before, after) in zip(shape, pairs, strict=True)]
    if any(len(r) == 0 for r in kept):
        raise refuse(f"pads {list(pairs)} of shape {list(shape)}", "something is left")
    x = cut(call, x, kept)
    grown = tuple((max(before, 0), max(after, 0)) for before, after in pairs)
    if mode != "constant":
        for axis, (before, after) in enumerate(grown):
            if before or after:
                indices = border_indices(call.type(x).shape[axis], before, after, mode)
                x = call.emit("gather", x, call.hold(indices), axis=axis)
        return x
    return call.emit("pad", x, padding=grown, value=value) if any(map(any, grown)) else x


@translates("CenterCropPad")
def center_crop_pad(call: Call) -> Results:
    """Cut or padded with zeros evenly on both sides to a shape. Source: ONNX CenterCropPad-18."""
    shape, wanted = call.shape_of(0), call.integers(1, "shape") or ()
    axes = call.attribute("axes")
    axes = tuple(range(len(shape))) if axes is None else axes
    if len(wanted) != len(axes) or min(wanted, default=1) < 1:
        raise refuse(f"shape {list(wanted)} for {len(axes)} axes", "a size of at least 1 an axis")
    pairs = [(0, 0)] * len(shape)
    for axis, target in zip(axes, wanted, strict=True):
        place = normal_axis(axis, len(shape))
        surplus = target - shape[place]
        before = surplus // 2 if surplus >= 0 else -(-surplus // 2)
        pairs[place] = (before, surplus - before)
    return (bordered(call, call.value(0), pairs, "constant", 0.0),)


@translates("Compress")
def compress(call: Call) -> Results:
    """The elements along an axis where a constant condition is true. Source: ONNX Compress-11."""
    condition = call.constant(1, "condition").ravel()
    axis, x = call.attribute("axis"), call.value(0)
    if axis is None:
        x, axis = call.reshape(x, (call.type(x).size,)), 0
    axis = normal_axis(axis, call.type(x).rank)
    places = np.flatnonzero(condition)
    if not len(places) or places[-1] >= call.type(x).shape[axis]:
        raise refuse(f"the condition holds for elements {places[:8]}", "some, all of them within the axis")
    return (taken(call, x, places, axis),)


def taken(call: Call, x: str, places: Array, axis: int) -> str:
    """Elements of ``x`` at constant ``places`` (1-D, counted from the front) of an axis."""
    flat = [int(i) for i in places]
    if is_regular(flat):
        ranges = [range(d) for d in call.type(x).shape]
        step = flat[1] - flat[0] if len(flat) > 1 else 1
        ranges[axis] = range(flat[0], flat[-1] + 1, step)
        return cut(call, x, ranges)
    return call.emit("gather", x, call.hold(places.astype(np.int32)), axis=axis)
