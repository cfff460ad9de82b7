"""Softmax, batch normalisation and means."""

from __future__ import annotations

import math

from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates


@translates("Softmax")
def softmax(call: Call) -> Results:
    """Along one axis from opset 13 on; before, over all axes from ``axis`` on. Source: ONNX Softmax-11, Softmax-13."""
    x = call.float_value(0)
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", -1 if call.opset >= 13 else 1), len(shape))
    if call.opset < 13 and math.prod(shape[axis:]) != shape[axis]:
        flat = call.reshape(x, (math.prod(shape[:axis]), math.prod(shape[axis:])))
        return (call.reshape(call.emit("softmax", flat, axis=1, beta=1.0), shape),)
    last = len(shape) - 1
    if axis == last:
        return (call.emit("softmax", x, axis=axis, beta=1.0),)
    swap = (*range(axis), *range(axis + 1, last + 1), axis)
    back = (*range(axis), last, *range(axis, last))
    y = call.emit("softmax", call.transpose(x, swap), axis=last, beta=1.0)
    return (call.transpose(y, back),)


@translates("BatchNormalization")
def batch_normalization(call: Call) -> Results:
    """Per channel (axis 1), with the stored mean and variance. Source: ONNX BatchNormalization-15."""
    call.ignore("momentum")  # used in training only
    if call.attribute("training_mode", 0):
        raise refuse("training_mode is set", "batch normalisation in inference", "export with model.eval()")
    if not call.attribute("spatial", 1):
        raise refuse("spatial=0", "one mean and variance a channel")
    x = call.float_value(0)
    rank = len(call.shape_of(0))
    if rank < 2:
        raise refuse(f"input has {rank} dimensions", "[N, C, ...]")
    names = ("scale", "B", "mean", "variance")
    constants = [call.hold(call.constant(i + 1, role), call.node.inputs[i + 1]) for i, role in enumerate(names)]
    epsilon = call.attribute("epsilon", 1e-5)
    to_last = (0, *range(2, rank), 1)
    from_last = (0, rank - 1, *range(1, rank - 1))
    y = call.emit("batch_norm", call.transpose(x, to_last), *constants, epsilon=epsilon)
    return (call.transpose(y, from_last),)


@translates("ReduceMean")
def reduce_mean(call: Call) -> Results:
    """The mean over some axes; they are an attribute before opset 18. Source: ONNX ReduceMean-18."""
    x = call.float_value(0)
    rank = len(call.shape_of(0))
    axes = call.attribute("axes") if call.opset < 18 else call.integers(1, "axes")
    keep = bool(call.attribute("keepdims", 1))
    if not axes:
        if call.attribute("noop_with_empty_axes", 0):
            return (x,)
        axes = tuple(range(rank))
    call.ignore("noop_with_empty_axes")
    normal = tuple(sorted({normal_axis(axis, rank) for axis in axes}))
    return (call.emit("mean", x, axes=normal, keep_dims=keep),)
