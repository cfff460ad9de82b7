"""Operators that move or regroup elements without computing."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.ir import Elem


@translates("Reshape")
def reshape(call: Call) -> Results:
    """To a constant shape; 0 copies a dimension (unless allowzero), -1 is worked out. Source: ONNX Reshape-21."""
    return (call.reshape(call.value(0), new_shape(call)),)


def new_shape(call: Call) -> tuple[int, ...]:
    """The shape a Reshape node asks for."""
    old = call.shape_of(0)
    wanted = list(call.integers(1, "shape") or ())
    if not call.attribute("allowzero", 0):
        wanted = [old[i] if d == 0 and i < len(old) else d for i, d in enumerate(wanted)]
    known = math.prod(d for d in wanted if d != -1)
    if wanted.count(-1) == 1 and known > 0 and math.prod(old) % known == 0:
        wanted[wanted.index(-1)] = math.prod(old) // known
    if min(wanted, default=1) < 1 or math.prod(wanted) != math.prod(old):
        hint = "a batch dimension fixed in the file must be 1, see --input-shape"
        raise refuse(f"shape {wanted} of a tensor {list(old)}", "the number of elements stays", hint)
    return tuple(wanted)


@translates("Flatten")
def flatten(call: Call) -> Results:
    """Two dimensions: the axes before ``axis`` and those from it on. Source: ONNX Flatten-21."""
    shape = call.shape_of(0)
    axis = call.attribute("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise refuse(f"axis {axis} of a tensor with {len(shape)} dimensions")
    axis = axis + len(shape) if axis < 0 else axis
    return (call.reshape(call.value(0), (math.prod(shape[:axis]), math.prod(shape[axis:]))),)


@translates("Transpose")
def transpose(call: Call) -> Results:
    """Axes in the order ``perm``, reversed by default."""
    rank = len(call.shape_of(0))
    perm = tuple(call.attribute("perm", tuple(reversed(range(rank)))))
    if sorted(perm) != list(range(rank)):
        raise refuse(f"perm is {list(perm)}", f"an order of {rank} axes")
    return (call.transpose(call.value(0), perm),)


@translates("Squeeze")
def squeeze(call: Call) -> Results:
    """Without the given axes of size 1, or without all of them."""
    return (call.reshape(call.value(0), squeezed(call)),)


def squeezed(call: Call) -> tuple[int, ...]:
    """The shape a Squeeze node leaves; axes are an attribute before opset 13. Source: ONNX Squeeze-21."""
    shape = call.shape_of(0)
    axes = call.attribute("axes") if call.opset < 13 else call.integers(1, "axes")
    if axes is None:
        return tuple(d for d in shape if d != 1)
    chosen = {normal_axis(axis, len(shape)) for axis in axes}
    if any(shape[axis] != 1 for axis in chosen):
        raise refuse(f"axes {sorted(chosen)} of shape {list(shape)}", "squeezed axes have size 1")
    return tuple(d for i, d in enumerate(shape) if i not in chosen)


@translates("Unsqueeze")
def unsqueeze(call: Call) -> Results:
    """With axes of size 1 put in."""
    return (call.reshape(call.value(0), unsqueezed(call)),)


def unsqueezed(call: Call) -> tuple[int, ...]:
    """The shape an Unsqueeze node makes; axes are an attribute before opset 13. Source: ONNX Unsqueeze-21."""
    shape = call.shape_of(0)
    axes = (call.attribute("axes") if call.opset < 13 else call.integers(1, "axes")) or ()
    chosen = {normal_axis(axis, len(shape), extra=len(axes)) for axis in axes}
    if len(chosen) != len(axes):
        raise refuse(f"axes are {list(axes)}", "each axis once")
    rest = iter(shape)
    return tuple(1 if i in chosen else next(rest) for i in range(len(shape) + len(axes)))


@translates("Concat")
def concat(call: Call) -> Results:
    """Inputs one after the other along ``axis``."""
    axis = normal_axis(call.attribute("axis"), len(call.shape_of(0)))
    names = tuple(call.value(i) for i in range(len(call.sources)))
    return (names[0] if len(names) == 1 else call.emit("concat", *names, axis=axis),)


@translates("Split")
def split(call: Call) -> Results:
    """Parts along an axis; equal ones (the last may be smaller) unless sizes are given. Source: ONNX Split-18."""
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", 0), len(shape))
    sizes = call.attribute("split") if call.opset < 13 else call.integers(1, "split")
    count = call.attribute("num_outputs", len(call.node.outputs))
    if sizes is None:
        part = -(-shape[axis] // count)
        sizes = tuple(min(part, shape[axis] - i * part) for i in range(count))
    if sum(sizes) != shape[axis] or min(sizes) < 1:
        raise refuse(f"parts {list(sizes)} of an axis of {shape[axis]}", "parts of at least 1 that add up to the axis")
    if len(sizes) == 1:
        return (call.value(0),)
    return call.emit_many("split", call.value(0), axis=axis, sizes=tuple(sizes))


@translates("Slice")
def slice_(call: Call) -> Results:
    """Regular ranges of some axes."""
    ranges = slices(call)
    begin, stride = tuple(r.start for r in ranges), tuple(r.step for r in ranges)
    return (call.emit("strided_slice", call.value(0), begin=begin, end=tuple(r.stop for r in ranges), stride=stride),)


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
        result[place] = (
            range(shape[place])[slice(start, end, step)] if step > 0 else _backwards(shape[place], start, end, step)
        )
    if any(len(r) == 0 for r in result):
        raise refuse(f"starts {list(starts)}, ends {list(ends)} of shape {list(shape)}", "something is left")
    return tuple(result)


def _backwards(size: int, start: int, end: int, step: int) -> range:
    """A negative step: an end below ``-size`` means before element 0, which Python's slices say with None."""
    return range(size)[slice(start, None if end < -size else end, step)]


@translates("Pad")
def pad(call: Call) -> Results:
    """Constant padding; pads are an attribute before opset 11. Source: ONNX Pad-21."""
    shape = call.shape_of(0)
    mode = call.attribute("mode", "constant")
    if mode != "constant":
        raise refuse(f"mode is {mode!r}", "mode constant")
    if call.opset < 11:
        pads, value, axes = call.attribute("pads"), call.attribute("value", 0.0), None
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
    x = call.value(0)
    if min(min(pair) for pair in pairs) < 0:
        begin = tuple(max(-before, 0) for before, _ in pairs)
        end = tuple(size - max(-after, 0) for size, (_, after) in zip(shape, pairs, strict=True))
        x = call.emit("strided_slice", x, begin=begin, end=end, stride=(1,) * len(shape))
    grown = tuple((max(before, 0), max(after, 0)) for before, after in pairs)
    return (call.emit("pad", x, padding=grown, value=float(value)) if any(map(any, grown)) else x,)


@translates("Gather")
def gather(call: Call) -> Results:
    """Constant indices that make a regular range. Source: ONNX Gather-13."""
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", 0), len(shape))
    indices = call.constant(1, "indices")
    flat = [int(i) + shape[axis] if i < 0 else int(i) for i in indices.ravel()]
    step = flat[1] - flat[0] if len(flat) > 1 else 1
    regular = bool(flat) and step > 0 and flat == list(range(flat[0], flat[-1] + 1, step))
    if indices.ndim > 1 or not regular or flat[0] < 0 or flat[-1] >= shape[axis]:
        raise refuse(f"indices are {flat[:8]}", "one index, or a regular range of them, within the axis")
    begin, end, stride = [0] * len(shape), list(shape), [1] * len(shape)
    begin[axis], end[axis], stride[axis] = flat[0], flat[-1] + 1, step
    x = call.emit("strided_slice", call.value(0), begin=tuple(begin), end=tuple(end), stride=tuple(stride))
    return (call.reshape(x, (*shape[:axis], *indices.shape, *shape[axis + 1 :])),)


@translates("Cast")
def cast(call: Call) -> Results:
    """Another element type. Source: ONNX Cast-21."""
    x = call.value(0)
    elem = target_elem(call)
    return (x if elem is call.type(x).elem else call.emit("cast", x, elem=elem),)


def target_elem(call: Call) -> Elem:
    """The element type a Cast node asks for."""
    from onnx import helper

    call.ignore("saturate", "round_mode")  # they describe casts to 8-bit floats, which are refused
    try:
        return Elem(np.dtype(helper.tensor_dtype_to_np_dtype(call.attribute("to"))).name)
    except (KeyError, ValueError, TypeError):
        raise refuse(f"casts to type {call.attribute('to')}", "numbers of 8 to 64 bits or bool") from None
