"""The windows that convolutions and pooling share, and the way from channels-first to channels-last and back."""

from __future__ import annotations

import dataclasses

from tinydeploy.frontends.onnx_call import Call, refuse

Sizes = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Window:
    """A sliding window over [H, W] or [D, H, W]; ``padding`` is (before, after) of one axis after the other.

    ``extra``: what ceil_mode adds at the end of each axis, contained in ``padding``.
    """

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    padding: Sizes
    extra: Sizes

    @property
    def given(self) -> Sizes:
        """The padding without what ceil_mode adds."""
        return tuple(n - (self.extra[i // 2] if i % 2 else 0) for i, n in enumerate(self.padding))


def spatial_rank(call: Call) -> int:
    """Number of spatial axes of a channels-first input.

    Raises: UnsupportedError unless 1, 2 or 3.
    """
    rank = len(call.shape_of(0)) - 2
    if rank not in (1, 2, 3):
        raise refuse(f"input has {max(rank, 0)} spatial dimensions", "1 to 3 spatial dimensions: [N, C, W] and more")
    return rank


def geometry(call: Call, kernel: Sizes) -> tuple[Sizes, Sizes, Sizes, str]:
    """Strides, dilations, pads (as ONNX orders them) and auto_pad of a node, checked against the input's rank."""
    rank = len(call.shape_of(0)) - 2
    stride = tuple(call.attribute("strides", (1,) * rank))
    dilation = tuple(call.attribute("dilations", (1,) * rank))
    pads = tuple(call.attribute("pads", (0,) * 2 * rank))
    if not len(kernel) == len(stride) == len(dilation) == rank or len(pads) != 2 * rank:
        raise refuse("kernel_shape, strides, dilations or pads have the wrong length", f"{rank} spatial dimensions")
    if min((*kernel, *stride, *dilation)) < 1 or min(pads) < 0:
        raise refuse(f"kernel {kernel}, strides {stride}, dilations {dilation}, pads {pads}", "pads >= 0, others >= 1")
    mode = call.attribute("auto_pad", "NOTSET")
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise refuse(f"auto_pad is {mode!r}", "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    return stride, dilation, pads, mode


def window(call: Call, kernel: Sizes, *, ceil_mode: bool = False) -> Window:
    """The window of a convolution or pooling node; a 1-D one gets H = 1.

    Source: ONNX Conv-11, MaxPool-12, AveragePool-19: auto_pad, ceil_mode.
    """
    plane = call.shape_of(0)[2:]
    rank = len(plane)
    stride, dilation, pads, mode = geometry(call, kernel)
    ends: list[int] = []
    extra: list[int] = []
    for axis in range(rank):
        span = (kernel[axis] - 1) * dilation[axis] + 1
        before, after = _padding(mode, plane[axis], span, stride[axis], (pads[axis], pads[axis + rank]))
        more = 0
        if ceil_mode:
            more = _overshoot(plane[axis] + before + after, span, stride[axis], plane[axis] + before)
        ends += [before, after + more]
        extra.append(more)
    return lifted(kernel, stride, dilation, tuple(ends), tuple(extra))


def lifted(kernel: Sizes, stride: Sizes, dilation: Sizes, padding: Sizes, extra: Sizes) -> Window:
    """A window over one axis as one over [H, W] with H = 1; others as they are."""
    if len(kernel) > 1:
        return Window(kernel, stride, dilation, padding, extra)
    return Window((1, *kernel), (1, *stride), (1, *dilation), (0, 0, *padding), (0, *extra))


def _padding(mode: str, size: int, span: int, stride: int, explicit: tuple[int, int]) -> tuple[int, int]:
    if mode == "NOTSET":
        return explicit
    if mode == "VALID":
        return 0, 0
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    small = total // 2
    return (small, total - small) if mode == "SAME_UPPER" else (total - small, small)


def _overshoot(padded: int, span: int, stride: int, real: int) -> int:
    """How far the last window of ceil_mode reaches beyond the padding; one that starts beyond ``real`` is dropped."""
    count = -(-(padded - span) // stride) + 1
    if (count - 1) * stride >= real:
        count -= 1
    return max((count - 1) * stride + span - padded, 0)


def channels_last(call: Call, name: str) -> str:
    """[N, C, ...] as [N, ..., C]; [N, C, W] gets H = 1."""
    shape = call.type(name).shape
    if len(shape) > 3:
        return call.transpose(name, (0, *range(2, len(shape)), 1))
    batch, channels, width = shape
    return call.reshape(call.transpose(name, (0, 2, 1)), (batch, 1, width, channels))


def channels_first(call: Call, name: str, rank: int) -> str:
    """The reverse of `channels_last` for ``rank`` spatial axes."""
    if rank > 1:
        return call.transpose(name, (0, rank + 1, *range(1, rank + 1)))
    batch, _, width, channels = call.type(name).shape
    return call.transpose(call.reshape(name, (batch, width, channels)), (0, 2, 1))
