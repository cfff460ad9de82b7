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
        if not 1 <= count <= shape[axis]:
            raise refuse(f"{count} parts of an axis of {shape[axis]}", "parts of at least 1")
        part = -(-shape[axis] // count)
        sizes = tuple(min(part, shape[axis] - i * part) for i in range(count))
    if sum(sizes) != shape[axis] or min(sizes) < 1:
        raise refuse(f"parts {list(sizes)} of an axis of {shape[axis]}", "parts of at least 1 that add up to the axis")
    if len(sizes) == 1:
        return (call.value(0),)
    return call.emit_many("split", call.value(0), axis=axis, sizes=tuple(sizes))


@translates("Cast")
def cast(call: Call) -> Results:
    """Another element type. Source: ONNX Cast-21."""
    x = call.value(0)
    elem = target_elem(call)
    return (x if elem is call.type(x).elem else call.emit("cast", x, elem=elem),)


def computed_in_float32(call: Call, element: str) -> bool:
    """True for floats of other widths, which a warning says are computed in float32."""
    if element not in ("float16", "bfloat16", "float64", "double"):
        return False
    warning = f"casts to {element.replace('double', 'float64')}: computed in float32"
    if warning not in call.builder.graph.warnings:
        call.builder.graph.warnings.append(warning)
    return True


def target_elem(call: Call, name: str = "to") -> Elem:
    """The element type that an attribute asks for."""
    from onnx import helper

    call.ignore("saturate", "round_mode")  # they describe casts to 8-bit floats, which are refused
    try:
        found = np.dtype(helper.tensor_dtype_to_np_dtype(call.attribute(name))).name
        return Elem.F32 if computed_in_float32(call, found) else Elem(found)
    except (KeyError, ValueError, TypeError):
        raise refuse(f"makes elements of type {call.attribute(name)}", "numbers of 8 to 64 bits or bool") from None
