"""Pooling over windows and over whole planes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import MAX_FOLDED, Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.windows import Sizes, Window, channels_first, channels_last, spatial_rank, window
from tinydeploy.ir import Elem


def _pooled(call: Call) -> Window:
    return window(call, tuple(call.attribute("kernel_shape")), ceil_mode=bool(call.attribute("ceil_mode", 0)))


def _average(kernel: Sizes) -> str:
    return "average_pool3d" if len(kernel) == 3 else "average_pool2d"


def _maximum(kernel: Sizes) -> str:
    return "max_pool3d" if len(kernel) == 3 else "max_pool2d"


@translates("MaxPool")
def max_pool(call: Call) -> Results:
    """Padding never wins. Source: ONNX MaxPool-22."""
    rank = spatial_rank(call)
    shape = _pooled(call)
    order = call.attribute("storage_order", 0)
    x = call.value(0)
    if call.type(x).elem not in (Elem.F32, Elem.S8, Elem.U8):
        raise refuse(f"input 0 is {call.type(x).elem.value}", "float32, int8 or uint8")
    x = channels_last(call, x)
    given: dict[str, Any] = {
        "kernel": shape.kernel,
        "stride": shape.stride,
        "dilation": shape.dilation,
        "padding": shape.padding,
    }
    if call.wanted < 2:
        return (channels_first(call, call.emit(_maximum(shape.kernel), x, **given), rank),)
    if rank == 3:
        raise refuse("indices of 3 spatial dimensions", "indices are computed for 1 and 2 spatial dimensions")
    results = call.emit_many("max_pool2d_indices", x, storage_order=order, **given)
    return tuple(channels_first(call, y, rank) for y in results)


@translates("AveragePool")
def average_pool(call: Call) -> Results:
    """Source: ONNX AveragePool-22: with count_include_pad the padding counts, what ceil_mode adds never does."""
    rank = spatial_rank(call)
    shape = _pooled(call)
    include = bool(call.attribute("count_include_pad", 0))
    x = channels_last(call, call.float_value(0))
    padding = shape.padding
    if include and any(shape.extra) and any(shape.given):
        pairs = list(zip(shape.given[::2], shape.given[1::2], strict=True))
        x = call.emit("pad", x, padding=((0, 0), *pairs, (0, 0)), value=0.0)
        padding = tuple(n for more in shape.extra for n in (0, more))
    y = call.emit(
        _average(shape.kernel),
        x,
        kernel=shape.kernel,
        stride=shape.stride,
        dilation=shape.dilation,
        padding=padding,
        count_include_pad=include and not any(shape.extra),
    )
    return (channels_first(call, y, rank),)


@translates("LpPool")
def lp_pool(call: Call) -> Results:
    """``(sum of |x| ** p) ** (1 / p)`` in each window. Source: ONNX LpPool-22."""
    rank = spatial_rank(call)
    shape = _pooled(call)
    p = call.attribute("p", 2)
    powers = _power(call, channels_last(call, call.float_value(0)), p)
    means = call.emit(
        _average(shape.kernel),
        powers,
        kernel=shape.kernel,
        stride=shape.stride,
        dilation=shape.dilation,
        padding=shape.padding,
        count_include_pad=True,
    )
    return (channels_first(call, _root(call, means, p, math.prod(shape.kernel)), rank),)


@translates("GlobalLpPool")
def global_lp_pool(call: Call) -> Results:
    """``(sum of |x| ** p) ** (1 / p)`` over all spatial axes, which stay with size 1. Source: ONNX GlobalLpPool-22."""
    shape = call.shape_of(0)
    if len(shape) < 3:
        raise refuse(f"input has {len(shape)} dimensions", "[N, C, ...] with at least one spatial dimension")
    p = call.attribute("p", 2)
    powers = _power(call, call.float_value(0), p)
    means = call.emit("mean", powers, axes=tuple(range(2, len(shape))), keep_dims=True)
    return (_root(call, means, p, math.prod(shape[2:])),)


def _power(call: Call, x: str, p: int) -> str:
    """``|x| ** p``."""
    if p < 1:
        raise refuse(f"p is {p}", "p is at least 1")
    if p == 2:
        return call.emit("mul", x, x)
    size = call.emit("abs", x)
    return size if p == 1 else call.emit("pow", size, call.hold(np.asarray(p, np.float32)))


def _root(call: Call, means: str, p: int, count: int) -> str:
    """``(means * count) ** (1 / p)``."""
    sums = call.emit("mul", means, call.hold(np.asarray(count, np.float32))) if count > 1 else means
    if p == 2:
        return call.emit("sqrt", sums)
    return sums if p == 1 else call.emit("pow", sums, call.hold(np.asarray(1 / p, np.float32)))


@translates("GlobalAveragePool")
def global_average_pool(call: Call) -> Results:
    """The mean over all spatial axes, which stay with size 1."""
    x = call.float_value(0)
    rank = len(call.shape_of(0))
    if rank < 3:
        raise refuse(f"input has {rank} dimensions", "[N, C, ...] with at least one spatial dimension")
    return (call.emit("mean", x, axes=tuple(range(2, rank)), keep_dims=True),)


@translates("GlobalMaxPool")
def global_max_pool(call: Call) -> Results:
    """The maximum over all spatial axes, which stay with size 1."""
    rank = spatial_rank(call)
    x = channels_last(call, call.float_value(0))
    kernel = call.type(x).shape[1:-1]
    ones, none = (1,) * len(kernel), (0,) * 2 * len(kernel)
    y = call.emit(_maximum(kernel), x, kernel=kernel, stride=ones, dilation=ones, padding=none)
    return (channels_first(call, y, rank),)


@translates("MaxUnpool")
def max_unpool(call: Call) -> Results:
    """Each value at its index in the plane it was pooled from, zeros elsewhere. Source: ONNX MaxUnpool-22."""
    rank = spatial_rank(call)
    kernel = tuple(call.attribute("kernel_shape"))
    stride, pads = tuple(call.attribute("strides", (1,) * rank)), tuple(call.attribute("pads", (0,) * 2 * rank))
    if not len(kernel) == len(stride) == rank or len(pads) != 2 * rank:
        raise refuse("kernel_shape, strides or pads have the wrong length", f"{rank} spatial dimensions")
    shape = call.shape_of(0)
    sizes = ((n - 1) * s + k for n, s, k in zip(shape[2:], stride, kernel, strict=True))
    pooled = (*shape[:2], *(n - pads[i] - pads[i + rank] for i, n in enumerate(sizes)))
    result = call.integers(2, "output_shape") or pooled
    if len(result) != len(pooled) or min(pooled) < 1 or any(n < m for n, m in zip(result, pooled, strict=True)):
        raise refuse(f"output_shape is {list(result)}", f"at least {list(pooled)}")
    if math.prod(result) > MAX_FOLDED:
        raise refuse(f"the result is {list(result)}", f"at most {MAX_FOLDED} elements")
    values = call.reshape(call.float_value(0), (math.prod(shape),))
    places = call.reshape(call.value(1), (math.prod(shape),))
    empty = call.hold(np.zeros(math.prod(pooled), np.float32))
    y = call.emit("scatter_elements", empty, places, values, axis=0, reduction="none")
    y = call.reshape(y, pooled)
    if result != pooled:
        padding = tuple((0, n - m) for n, m in zip(result, pooled, strict=True))
        y = call.emit("pad", y, padding=padding, value=0.0)
    return (y,)
