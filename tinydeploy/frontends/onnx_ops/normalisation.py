"""Softmax and its relatives, normalisation of batches, layers, groups and channels, and means."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.ir import Elem

_TINY = float(np.finfo(np.float32).tiny)  # stands for 0 where a norm divides


@translates("Softmax", "LogSoftmax", "Hardmax")
def softmax(call: Call) -> Results:
    """Along one axis from opset 13 on; before, over all axes from ``axis`` on. Source: ONNX Softmax-11, Softmax-13."""
    x = call.float_value(0)
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", -1 if call.opset >= 13 else 1), len(shape))
    if call.opset < 13 and math.prod(shape[axis:]) != shape[axis]:
        flat = call.reshape(x, (math.prod(shape[:axis]), math.prod(shape[axis:])))
        return (call.reshape(_softmax_last(call, flat), shape),)
    last = len(shape) - 1
    if axis == last:
        return (_softmax_last(call, x),)
    swap = (*range(axis), *range(axis + 1, last + 1), axis)
    back = (*range(axis), last, *range(axis, last))
    return (call.transpose(_softmax_last(call, call.transpose(x, swap)), back),)


def _softmax_last(call: Call, x: str) -> str:
    """The node's function along the last axis, which is what integer kernels take."""
    shape = call.type(x).shape
    axis = len(shape) - 1
    if call.node.op_type == "Softmax":
        return call.emit("softmax", x, axis=axis, beta=1.0)
    if call.node.op_type == "LogSoftmax":
        return call.emit("log_softmax", x, axis=axis)
    place = call.emit("arg_max", x, axis=axis, keep_dims=False, last=False, elem=Elem.S32)
    values = call.hold(np.array([0, 1], np.float32))
    return call.emit("one_hot", place, values, depth=shape[axis], axis=axis)


def _last(rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Orders of axes that put the channels (axis 1) last, and back."""
    return (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))


def _channels(call: Call, least: int = 2) -> tuple[str, int]:
    """The input with its channels last, and how many there are."""
    x = call.float_value(0)
    shape = call.shape_of(0)
    if len(shape) < least:
        raise refuse(f"input has {len(shape)} dimensions", "[N, C, ...]")
    return call.transpose(x, _last(len(shape))[0]), shape[1]


def _back(call: Call, y: str) -> Results:
    """A result with its channels last, as the node wants it."""
    return (call.transpose(y, _last(len(call.type(y).shape))[1]),)


def _scaled(call: Call, y: str, scale: str, bias: str) -> str:
    """``y * scale + bias``, one value a channel."""
    return call.emit("add", call.emit("mul", y, scale), bias)


@translates("BatchNormalization")
def batch_normalization(call: Call) -> Results:
    """Per channel (axis 1), with the stored mean and variance. Source: ONNX BatchNormalization-15."""
    call.ignore("momentum")  # used in training only
    if call.attribute("training_mode", 0):
        raise refuse("training_mode is set", "batch normalisation in inference", "export with model.eval()")
    if not call.attribute("spatial", 1):
        raise refuse("spatial=0", "one mean and variance a channel")
    x, _ = _channels(call)
    factors = [call.float_value(index) for index in range(1, 5)]
    return _back(call, call.emit("batch_norm", x, *factors, epsilon=call.attribute("epsilon", 1e-5)))


@translates("InstanceNormalization")
def instance_normalization(call: Call) -> Results:
    """Each channel of each sample by its own mean and variance. Source: ONNX InstanceNormalization-22."""
    x, channels = _channels(call)
    shape = call.type(x).shape
    flat = call.reshape(x, (shape[0], math.prod(shape[1:-1]), channels))
    y = call.emit("layer_norm", flat, axes=(1,), epsilon=call.attribute("epsilon", 1e-5))
    return _back(call, call.reshape(_scaled(call, y, call.float_value(1), call.float_value(2)), shape))


@translates("GroupNormalization")
def group_normalization(call: Call) -> Results:
    """Groups of channels by their own mean and variance. Source: ONNX GroupNormalization-21."""
    call.ignore("stash_type")  # computed in float32 always
    x, channels = _channels(call)
    groups = call.attribute("num_groups")
    if groups < 1 or channels % groups:
        raise refuse(f"num_groups={groups} with {channels} channels", "num_groups divides the channels")
    shape = call.type(x).shape
    grouped = call.reshape(x, (shape[0], math.prod(shape[1:-1]), groups, channels // groups))
    y = call.emit("layer_norm", grouped, axes=(1, 3), epsilon=call.attribute("epsilon", 1e-5))
    return _back(call, _scaled(call, call.reshape(y, shape), call.float_value(1), call.float_value(2)))


@translates("LayerNormalization", "RMSNormalization")
def layer_normalization(call: Call) -> Results:
    """Over the axes from ``axis`` on; mean and 1 / deviation are computed where something reads them.

    Source: ONNX LayerNormalization-17, RMSNormalization-23.
    """
    call.ignore("stash_type")  # computed in float32 always
    x, shape = call.float_value(0), call.shape_of(0)
    first = normal_axis(call.attribute("axis", -1), len(shape))
    axes, rms = tuple(range(first, len(shape))), call.node.op_type == "RMSNormalization"
    epsilon = call.attribute("epsilon", 1e-5)
    factors = [call.float_value(index) if call.has(index) else None for index in (1, 2)]
    given = [(1,) if name is None else call.type(name).shape for name in factors]
    if all(_within(size, shape[first:]) for size in given):
        y = call.emit("layer_norm", x, *factors, axes=axes, epsilon=epsilon, rms=rms)
    else:  # factors that differ between samples
        y = call.emit("layer_norm", x, axes=axes, epsilon=epsilon, rms=rms)
        y = y if factors[0] is None else call.emit("mul", y, factors[0])
        y = y if factors[1] is None else call.emit("add", y, factors[1])
    if call.wanted < 2:
        return (y,)
    mean = call.emit("mean", x, axes=axes, keep_dims=True)
    centred = call.emit("sub", x, mean)
    variance = call.emit("mean", call.emit("mul", centred, centred), axes=axes, keep_dims=True)
    shifted = call.emit("add", variance, call.hold(np.array(epsilon, np.float32)))
    return (y, mean, call.emit("rsqrt", shifted))


def _within(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """True if ``small`` broadcasts to ``large`` without more axes."""
    if len(small) > len(large):
        return False
    return all(a in (1, b) for a, b in zip(small[::-1], large[::-1], strict=False))


@translates("MeanVarianceNormalization")
def mean_variance_normalization(call: Call) -> Results:
    """``(x - mean) / (deviation + 1e-9)``; under the root that is 1e-18. Source: ONNX MeanVarianceNormalization-13."""
    x, rank = call.float_value(0), len(call.shape_of(0))
    axes = tuple(sorted({normal_axis(axis, rank) for axis in call.attribute("axes", (0, 2, 3))}))
    return (call.emit("layer_norm", x, axes=axes, epsilon=1e-18) if axes else x,)


@translates("LRN")
def local_response_normalization(call: Call) -> Results:
    """Across the channels (axis 1). Source: ONNX LRN-13."""
    x, _ = _channels(call)
    size = call.attribute("size")
    if size < 1:
        raise refuse(f"size={size}", "size is at least 1")
    factors = {"beta": call.attribute("beta", 0.75), "bias": call.attribute("bias", 1.0)}
    return _back(
        call, call.emit("local_response_norm", x, size=size, alpha=call.attribute("alpha", 1e-4) / size, **factors)
    )


@translates("LpNormalization")
def lp_normalization(call: Call) -> Results:
    """By the sum of magnitudes (p=1) or by the length (p=2); zeros stay zeros. Source: ONNX LpNormalization-22."""
    x, rank = call.float_value(0), len(call.shape_of(0))
    axis, power = normal_axis(call.attribute("axis", -1), rank), call.attribute("p", 2)
    if power not in (1, 2):
        raise refuse(f"p={power}", "p is 1 or 2")
    if power == 2:
        return (call.emit("l2_normalize", x, axes=(axis,), epsilon=_TINY),)
    size = call.emit("reduce_sum", call.emit("abs", x), axes=(axis,), keep_dims=True)
    return (call.emit("div", x, call.emit("maximum", size, call.hold(np.array(_TINY, np.float32)))),)
