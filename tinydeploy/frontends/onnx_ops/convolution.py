"""Conv and the windows that convolutions and pooling share."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates

Pair = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Window:
    """Geometry of a sliding window over [H, W]; ``padding`` is (top, bottom, left, right)."""

    kernel: Pair
    stride: Pair
    dilation: Pair
    padding: tuple[int, int, int, int]


def spatial_rank(call: Call) -> int:
    """Number of spatial axes of a channels-first input.

    Raises: UnsupportedError unless 1 or 2.
    """
    rank = len(call.shape_of(0)) - 2
    if rank not in (1, 2):
        raise refuse(
            f"input has {max(rank, 0)} spatial dimensions", "1 or 2 spatial dimensions: [N, C, W] or [N, C, H, W]"
        )
    return rank


def window(call: Call, kernel: tuple[int, ...], *, ceil_mode: bool = False) -> Window:
    """The window of a convolution or pooling node; a 1-D one gets H = 1.

    Source: ONNX Conv-11, MaxPool-12, AveragePool-19: auto_pad, ceil_mode.
    """
    plane = call.shape_of(0)[2:]
    rank = len(plane)
    stride = tuple(call.attribute("strides", (1,) * rank))
    dilation = tuple(call.attribute("dilations", (1,) * rank))
    mode = call.attribute("auto_pad", "NOTSET")
    pads = tuple(call.attribute("pads", (0,) * 2 * rank))
    if not len(kernel) == len(stride) == len(dilation) == rank or len(pads) != 2 * rank:
        raise refuse("kernel_shape, strides, dilations or pads have the wrong length", f"{rank} spatial dimensions")
    if min((*kernel, *stride, *dilation)) < 1 or min(pads) < 0:
        raise refuse(f"kernel {kernel}, strides {stride}, dilations {dilation}, pads {pads}", "pads >= 0, others >= 1")
    ends = []
    for axis in range(rank):
        span = (kernel[axis] - 1) * dilation[axis] + 1
        before, after = _padding(mode, plane[axis], span, stride[axis], (pads[axis], pads[axis + rank]))
        if ceil_mode:
            after += _overshoot(plane[axis] + before + after, span, stride[axis], plane[axis] + before)
        ends.append((before, after))
    if rank == 1:
        ends.insert(0, (0, 0))
    lift = (1,) * (2 - rank)
    return Window(_pair(lift + kernel), _pair(lift + stride), _pair(lift + dilation), (*ends[0], *ends[1]))


def _padding(mode: str, size: int, span: int, stride: int, explicit: Pair) -> Pair:
    if mode == "NOTSET":
        return explicit
    if mode == "VALID":
        return 0, 0
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise refuse(f"auto_pad is {mode!r}", "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    small = total // 2
    return (small, total - small) if mode == "SAME_UPPER" else (total - small, small)


def _overshoot(padded: int, span: int, stride: int, real: int) -> int:
    """How far the last window of ceil_mode reaches beyond the padding; one that starts beyond ``real`` is dropped."""
    count = -(-(padded - span) // stride) + 1
    if (count - 1) * stride >= real:
        count -= 1
    return max((count - 1) * stride + span - padded, 0)


def _pair(values: tuple[int, ...]) -> Pair:
    return values[0], values[1]


def channels_last(call: Call, name: str) -> str:
    """[N, C, H, W] or [N, C, W] as [N, H, W, C]; H = 1 in the second case."""
    shape = call.type(name).shape
    if len(shape) == 4:
        return call.transpose(name, (0, 2, 3, 1))
    batch, channels, width = shape
    return call.reshape(call.transpose(name, (0, 2, 1)), (batch, 1, width, channels))


def channels_first(call: Call, name: str, rank: int) -> str:
    """The reverse of `channels_last` for ``rank`` spatial axes."""
    if rank == 2:
        return call.transpose(name, (0, 3, 1, 2))
    batch, _, width, channels = call.type(name).shape
    return call.transpose(call.reshape(name, (batch, width, channels)), (0, 2, 1))


@translates("Conv")
def conv(call: Call) -> Results:
    """X [N, C, ...], W [M, C / group, ...], B [M]. Source: ONNX Conv-22."""
    rank = spatial_rank(call)
    weights = call.constant(1, "weights")
    bias = call.optional(2, "bias")
    groups = call.attribute("group", 1)
    channels = call.shape_of(0)[1]
    if weights.ndim != rank + 2 or weights.dtype != np.float32:
        raise refuse(f"weights are {weights.dtype}{list(weights.shape)}", f"float32 with {rank + 2} dimensions")
    kernel = tuple(call.attribute("kernel_shape", weights.shape[2:]))
    if kernel != weights.shape[2:]:
        raise refuse(f"kernel_shape is {list(kernel)}, weights have {list(weights.shape[2:])}", "they are equal")
    if groups < 1 or channels != weights.shape[1] * groups or weights.shape[0] % groups:
        what = f"group={groups} with {channels} channels and weights {list(weights.shape)}"
        raise refuse(what, "group divides both channel counts")
    shape = window(call, kernel)
    ohwi = np.moveaxis(weights.reshape(*weights.shape[:2], *shape.kernel), 1, 3)
    x = channels_last(call, call.float_value(0))
    held_bias = None if bias is None else call.hold(bias, call.node.inputs[2])
    common: dict[str, Any] = {"stride": shape.stride, "dilation": shape.dilation, "padding": shape.padding}
    if groups == channels and groups > 1:
        multiplier = weights.shape[0] // groups
        held = call.hold(ohwi[..., 0].transpose(1, 2, 0)[np.newaxis], call.node.inputs[1])
        y = call.emit("depthwise_conv2d", x, held, held_bias, multiplier=multiplier, **common)
    else:
        y = call.emit("conv2d", x, call.hold(ohwi, call.node.inputs[1]), held_bias, groups=groups, **common)
    return (channels_first(call, y, rank),)
