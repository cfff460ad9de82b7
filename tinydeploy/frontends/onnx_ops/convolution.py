"""Convolutions, forwards and transposed, over one to three axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.windows import (
    Sizes,
    channels_first,
    channels_last,
    geometry,
    lifted,
    spatial_rank,
    window,
)
from tinydeploy.ir import Array, Elem


def _kernel(call: Call, rank: int) -> Sizes:
    """Spatial sizes of the weights, checked."""
    shape = call.shape_of(1)
    if len(shape) != rank + 2:
        raise refuse(f"weights have {len(shape)} dimensions", f"{rank + 2} dimensions")
    kernel = tuple(call.attribute("kernel_shape", shape[2:]))
    if kernel != shape[2:]:
        raise refuse(f"kernel_shape is {list(kernel)}, weights have {list(shape[2:])}", "they are equal")
    return kernel


def _bias(call: Call, outputs: int) -> str | None:
    if not call.has(2):
        return None
    if call.shape_of(2) != (outputs,):
        raise refuse(f"bias has shape {list(call.shape_of(2))}", f"[{outputs}]")
    return call.float_value(2)


@translates("Conv")
def conv(call: Call) -> Results:
    """X [N, C, ...], W [M, C / group, ...], B [M]. Source: ONNX Conv-22."""
    rank = spatial_rank(call)
    kernel = _kernel(call, rank)
    outputs, depth = call.shape_of(1)[:2]
    groups, channels = call.attribute("group", 1), call.shape_of(0)[1]
    if groups < 1 or channels != depth * groups or outputs % groups:
        what = f"group={groups} with {channels} channels and weights {list(call.shape_of(1))}"
        raise refuse(what, "group divides both channel counts")
    bias = _bias(call, outputs)
    y = _convolve(call, channels_last(call, call.float_value(0)), _weights(call), bias, kernel, groups)
    return (channels_first(call, y, rank),)


def _weights(call: Call) -> str | Array:
    """Weights [M, C / group, ...] in float32, an array where they are known."""
    if not call.is_constant(1):
        return call.float_value(1)
    weights = call.constant(1, "weights")
    if weights.dtype != np.float32:
        raise refuse(f"weights are {weights.dtype}", "float32")
    return weights


def _convolve(call: Call, x: str, weights: str | Array, bias: str | None, kernel: Sizes, groups: int) -> str:
    """A channels-last convolution with weights [M, C / group, ...]."""
    shape = window(call, kernel)
    outputs, depth = weights.shape[:2] if not isinstance(weights, str) else call.type(weights).shape[:2]
    common: dict[str, Any] = {"stride": shape.stride, "dilation": shape.dilation, "padding": shape.padding}
    if len(shape.kernel) == 3:
        held = _arranged(call, weights, (outputs, depth, *shape.kernel), (0, 2, 3, 4, 1))
        return call.emit("conv3d", x, held, bias, groups=groups, **common)
    if depth == 1 and groups > 1:
        held = _arranged(call, weights, (outputs, 1, *shape.kernel), (1, 2, 3, 0))
        return call.emit("depthwise_conv2d", x, held, bias, multiplier=outputs // groups, **common)
    held = _arranged(call, weights, (outputs, depth, *shape.kernel), (0, 2, 3, 1))
    return call.emit("conv2d", x, held, bias, groups=groups, **common)


def _arranged(call: Call, weights: str | Array, shape: Sizes, perm: Sizes) -> str:
    """Weights in another shape and then another order; constants at once, computed ones by nodes."""
    if isinstance(weights, str):
        return call.transpose(call.reshape(weights, shape), perm)
    return call.hold(weights.reshape(shape).transpose(perm), call.node.inputs[1])


@translates("ConvInteger")
def conv_integer(call: Call) -> Results:
    """The convolution of integers less their zero points, int32. Source: ONNX ConvInteger-10."""
    rank = spatial_rank(call)
    kernel = _kernel(call, rank)
    weights = call.constant(1, "weights").astype(np.int32)
    zero = call.optional(3, "zero point of the weights")
    if zero is not None:
        weights = weights - zero.astype(np.int32).reshape(-1, *(1,) * (weights.ndim - 1))
    x = without_zero_point(call, 0, 2, ())
    groups = call.attribute("group", 1)
    if groups < 1 or call.shape_of(0)[1] != weights.shape[1] * groups or weights.shape[0] % groups:
        raise refuse(f"group={groups} with weights {list(weights.shape)}", "group divides both channel counts")
    return (channels_first(call, _spread(call, channels_last(call, x), weights, kernel, groups), rank),)


def _spread(call: Call, x: str, weights: Array, kernel: Sizes, groups: int) -> str:
    """An int32 convolution; depthwise weights are those of groups of one channel."""
    shape = window(call, kernel)
    operator, perm = ("conv3d", (0, 2, 3, 4, 1)) if len(shape.kernel) == 3 else ("conv2d", (0, 2, 3, 1))
    held = _arranged(call, weights, (*weights.shape[:2], *shape.kernel), perm)
    given: dict[str, Any] = {"stride": shape.stride, "dilation": shape.dilation, "padding": shape.padding}
    return call.emit(operator, x, held, None, groups=groups, **given)


def without_zero_point(call: Call, index: int, zero_index: int, shape: Sizes) -> str:
    """An 8-bit input in int32, less its zero point; ``shape``: of a zero point that is a vector."""
    x = call.value(index)
    if call.type(x).elem not in (Elem.S8, Elem.U8):
        raise refuse(f"input {index} is {call.type(x).elem.value}", "int8 or uint8")
    x = call.emit("cast", x, elem=Elem.S32)
    computed = call.sources[zero_index] if call.has(zero_index) else None
    if isinstance(computed, str) and call.type(computed).size == 1:
        return call.emit("sub", x, call.emit("cast", call.reshape(computed, ()), elem=Elem.S32))
    zero = call.optional(zero_index, f"zero point of input {index}")
    if zero is None or not zero.any():
        return x
    vector = zero.astype(np.int32).reshape(shape if zero.size > 1 else ())
    return call.emit("sub", x, call.hold(vector, call.node.inputs[zero_index]))


@translates("ConvTranspose")
def conv_transpose(call: Call) -> Results:
    """X [N, C, ...], W [C, M / group, ...], B [M]. Source: ONNX ConvTranspose-22."""
    rank = spatial_rank(call)
    kernel = _kernel(call, rank)
    channels, per_group = call.shape_of(1)[:2]
    groups = call.attribute("group", 1)
    if groups < 1 or channels % groups or call.shape_of(0)[1] != channels:
        what = f"group={groups} with {call.shape_of(0)[1]} channels and weights {list(call.shape_of(1))}"
        raise refuse(what, "group divides the channels, weights have as many")
    weights = _turned(call, _weights(call), channels, per_group, groups)
    bias = _bias(call, per_group * groups)
    ahead, cut, extra = _cut(call, kernel)
    shape = lifted(kernel, *geometry(call, kernel)[:2], cut, extra)
    x = channels_last(call, call.float_value(0))
    operator = "transpose_conv3d" if rank == 3 else "transpose_conv2d"
    given: dict[str, Any] = {"stride": shape.stride, "dilation": shape.dilation, "padding": shape.padding}
    given |= {"output_padding": shape.extra, "groups": groups}
    held = _arranged(call, weights, (groups * per_group, channels // groups, *shape.kernel), _last(len(shape.kernel)))
    if not any(ahead):
        y = call.emit(operator, x, held, bias, **given)
    else:  # the result begins before the first input reaches it
        y = call.emit(operator, x, held, None, **given)
        before = (0,) * (len(shape.kernel) - rank) + ahead
        y = call.emit("pad", y, padding=((0, 0), *((n, 0) for n in before), (0, 0)), value=0.0)
        y = y if bias is None else call.emit("add", y, bias)
    return (channels_first(call, y, rank),)


def _last(rank: int) -> Sizes:
    return (0, *range(2, rank + 2), 1)


def _turned(call: Call, weights: str | Array, channels: int, per_group: int, groups: int) -> str | Array:
    """[C, M / group, ...] as [M, C / group, ...]."""
    kernel = call.shape_of(1)[2:]
    split, perm = (groups, channels // groups, per_group, *kernel), (0, 2, 1, *range(3, 3 + len(kernel)))
    whole = (groups * per_group, channels // groups, *kernel)
    if not isinstance(weights, str):
        turned_array: Array = weights.reshape(split).transpose(perm).reshape(whole)
        return turned_array
    if groups == 1:
        return call.transpose(weights, (1, 0, *range(2, 2 + len(kernel))))
    flat = math.prod(kernel)  # ranks stay within six
    turned = call.transpose(call.reshape(weights, (*split[:3], flat)), (0, 2, 1, 3))
    return call.reshape(turned, whole)


def _cut(call: Call, kernel: Sizes) -> tuple[Sizes, Sizes, Sizes]:
    """What is put ahead of each axis, (before, after) that is cut off each axis, and what is added at its end."""
    plane = call.shape_of(0)[2:]
    stride, dilation, pads, mode = geometry(call, kernel)
    rank = len(plane)
    extra = tuple(call.attribute("output_padding", (0,) * rank))
    wanted = tuple(call.attribute("output_shape", ()))[-rank:]
    if len(extra) != rank or min(extra) < 0 or (wanted and len(wanted) != rank):
        raise refuse(f"output_padding {list(extra)}, output_shape {list(wanted)}", f"{rank} values of at least 0")
    if not wanted and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(n * s for n, s in zip(plane, stride, strict=True))
    ahead, cut, ends = [], [], []
    for axis in range(rank):
        before, after = (pads[axis], pads[axis + rank]) if mode == "NOTSET" else (0, 0)
        if wanted:
            total = stride[axis] * (plane[axis] - 1) + extra[axis] + (kernel[axis] - 1) * dilation[axis] + 1
            total -= wanted[axis]
            before = total // 2 if mode == "SAME_UPPER" else total - total // 2
            after = total - before
        ahead.append(max(-before, 0))
        cut += [max(before, 0), max(after, 0)]
        ends.append(extra[axis] + max(-after, 0))
    return tuple(ahead), tuple(cut), tuple(ends)
