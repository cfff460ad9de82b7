"""Elements at given indices: gather, scatter, one-hot."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.frontends.onnx_ops.slicing import taken
from tinydeploy.ir import Array, Elem


def _check(indices: Array, sizes: Array) -> None:
    """Constant indices are within the axis; ``sizes`` one, or one an entry of the last axis."""
    if np.any((indices < -sizes) | (indices >= sizes)):
        raise refuse(f"an index lies outside {sizes.ravel()[:8]} elements", "constant indices are within the axis")


def _indices(call: Call, index: int, sizes: list[int]) -> str:
    """The indices as a value of int32 or int64."""
    if call.is_constant(index):
        _check(call.constant(index, "indices"), np.asarray(sizes))
    name = call.value(index)
    elem = call.type(name).elem
    return name if elem in (Elem.S32, Elem.S64) else call.emit("cast", name, elem=Elem.S64)


@translates("Gather")
def gather(call: Call) -> Results:
    """Slices at indices along an axis; constant ones that make a regular range are a slice. Source: ONNX Gather-13."""
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", 0), len(shape))
    if call.is_constant(1):
        indices = call.constant(1, "indices")
        _check(indices, np.asarray(shape[axis]))
        if indices.size and not call.is_constant(0):
            flat = np.where(indices < 0, indices + shape[axis], indices).ravel()
            x = taken(call, call.value(0), flat, axis)
            return (call.reshape(x, (*shape[:axis], *indices.shape, *shape[axis + 1 :])),)
    return (call.emit("gather", call.value(0), _indices(call, 1, [shape[axis]]), axis=axis),)


@translates("GatherElements")
def gather_elements(call: Call) -> Results:
    """One element an index. Source: ONNX GatherElements-13."""
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", 0), len(shape))
    return (call.emit("gather_elements", call.value(0), _indices(call, 1, [shape[axis]]), axis=axis),)


@translates("GatherND")
def gather_nd(call: Call) -> Results:
    """Slices at index tuples. Source: ONNX GatherND-13."""
    batch, shape = call.attribute("batch_dims", 0), call.shape_of(0)
    depth = call.shape_of(1)[-1]
    indices = _indices(call, 1, list(shape[batch : batch + depth]))
    return (call.emit("gather_nd", call.value(0), indices, batch_dims=batch),)


@translates("Scatter", "ScatterElements")
def scatter_elements(call: Call) -> Results:
    """Elements replaced or combined at indices. Source: ONNX ScatterElements-18, Scatter-9."""
    shape = call.shape_of(0)
    axis, reduction = normal_axis(call.attribute("axis", 0), len(shape)), call.attribute("reduction", "none")
    inputs = (call.value(0), _indices(call, 1, [shape[axis]]), call.value(2))
    return (call.emit("scatter_elements", *inputs, axis=axis, reduction=reduction),)


@translates("ScatterND")
def scatter_nd(call: Call) -> Results:
    """Slices replaced or combined at index tuples. Source: ONNX ScatterND-18."""
    shape, depth = call.shape_of(0), call.shape_of(1)[-1]
    inputs = (call.value(0), _indices(call, 1, list(shape[:depth])), call.value(2))
    return (call.emit("scatter_nd", *inputs, reduction=call.attribute("reduction", "none")),)


@translates("OneHot")
def one_hot(call: Call) -> Results:
    """A new axis that marks the index; its length is constant. Source: ONNX OneHot-11."""
    depth = call.constant(1, "depth")
    if depth.size != 1 or not 1 <= float(depth.ravel()[0]) < 1 << 20:
        raise refuse(f"the depth is {depth.ravel()[:4]}", "a number of at least 1")
    axis = normal_axis(call.attribute("axis", -1), len(call.shape_of(0)), extra=1)
    indices = call.value(0)
    if call.type(indices).elem not in (Elem.S32, Elem.S64):
        indices = call.emit("cast", indices, elem=Elem.S64)
    return (call.emit("one_hot", indices, call.value(2), depth=int(depth.ravel()[0]), axis=axis),)
