"""Dense layers and convolutions of all kinds. Kernels are stored as Keras does (HWIO) and turned to OHWI here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.frontends.keras_ops._planes import from_plane, plane
from tinydeploy.frontends.keras_ops.activations import activation, finish
from tinydeploy.ir import Array
from tinydeploy.ops._op import NO_CLAMP


@layer("Dense", mask="passes")
def _dense(call: Call) -> str:
    x = call.input()
    if call.type(x).rank < 2:
        raise call.damaged(f"its input is {call.type(x)}")
    kernel, bias = call.kernel_and_bias(2)
    wanted = activation(call, call.config.get("activation"))
    y = call.emit("fully_connected", (x, call.constant("kernel", kernel.T), bias), clamp=wanted.clamp)
    return finish(call, y, wanted)


def _conv(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        kernel, bias = call.kernel_and_bias(dims + 2)
        image = plane(call, dims)
        stride, dilation = call.integers("strides", dims, 1), call.integers("dilation_rate", dims, 1)
        pads = call.padding(image.sizes, kernel.shape[:dims], stride, dilation)
        channels = call.type(image.x).shape[-1]
        if channels % kernel.shape[-2] or kernel.shape[-1] % (channels // kernel.shape[-2]):
            raise call.damaged(f"has {channels} channels and a kernel of {list(kernel.shape)}")
        wanted = activation(call, call.config.get("activation"))
        y = call.emit(
            "conv3d" if dims == 3 else "conv2d",
            (image.x, call.constant("kernel", np.moveaxis(image.window(kernel), -1, 0)), bias),
            stride=image.spread(stride, 1),
            dilation=image.spread(dilation, 1),
            padding=image.borders(pads),
            groups=channels // kernel.shape[-2],
            clamp=wanted.clamp,
        )
        return finish(call, from_plane(call, image, y), wanted)

    return translate


layer("Conv1D", "Convolution1D")(_conv(1))
layer("Conv2D", "Convolution2D")(_conv(2))
layer("Conv3D", "Convolution3D")(_conv(3))


def _depthwise(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        kernel, bias = call.kernel_and_bias(dims + 2)
        wanted = activation(call, call.config.get("activation"))
        image = plane(call, dims)
        y = _each_channel(call, dims, kernel, bias, "", wanted.clamp)
        return finish(call, from_plane(call, image, y), wanted)

    return translate


layer("DepthwiseConv1D")(_depthwise(1))
layer("DepthwiseConv2D")(_depthwise(2))


def _each_channel(call: Call, dims: int, kernel: Array, bias: str | None, stem: str, clamp: tuple[float, float]) -> str:
    image = plane(call, dims)
    stride, dilation = call.integers("strides", dims, 1), call.integers("dilation_rate", dims, 1)
    pads = call.padding(image.sizes, kernel.shape[:dims], stride, dilation)
    if call.type(image.x).shape[-1] != kernel.shape[-2]:
        raise call.damaged(f"has {call.type(image.x).shape[-1]} channels and a kernel of {list(kernel.shape)}")
    window = image.window(kernel)
    weights = window.reshape(1, *window.shape[:2], window.shape[2] * window.shape[3])
    return call.emit(
        "depthwise_conv2d",
        (image.x, call.constant(f"{stem or 'depthwise'}_kernel", weights), bias),
        stem=stem,
        stride=image.spread(stride, 1),
        dilation=image.spread(dilation, 1),
        padding=image.borders(pads),
        multiplier=kernel.shape[-1],
        clamp=clamp,
    )


def _separable(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        arrays = call.weights(*([dims + 2, dims + 2] + [1] * bool(call.config.get("use_bias", True))))
        image = plane(call, dims)
        y = _each_channel(call, dims, arrays[0], None, "depthwise", NO_CLAMP)
        bias = call.constant("bias", arrays[2]) if len(arrays) == 3 else None
        wanted = activation(call, call.config.get("activation"))
        weights = call.constant("pointwise_kernel", image.window(arrays[1]).transpose(3, 0, 1, 2))
        y = call.emit("conv2d", (y, weights, bias), clamp=wanted.clamp)
        return finish(call, from_plane(call, image, y), wanted)

    return translate


layer("SeparableConv1D", "SeparableConvolution1D")(_separable(1))
layer("SeparableConv2D", "SeparableConvolution2D")(_separable(2))


def _transposed(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        kernel, bias = call.kernel_and_bias(dims + 2)
        image = plane(call, dims)
        stride, dilation = call.integers("strides", dims, 1), call.integers("dilation_rate", dims, 1)
        cuts, extra = _cuts(call, image.sizes, kernel.shape[:dims], stride, dilation)
        wanted = activation(call, call.config.get("activation"))
        weights = np.moveaxis(image.window(kernel), -2, 0)  # Keras: ..., output, input
        y = call.emit(
            "transpose_conv3d" if dims == 3 else "transpose_conv2d",
            (image.x, call.constant("kernel", weights), bias),
            stride=image.spread(stride, 1),
            dilation=image.spread(dilation, 1),
            padding=image.borders(cuts),
            output_padding=image.spread(extra, 0),
            groups=1,
            clamp=wanted.clamp,
        )
        return finish(call, from_plane(call, image, y), wanted)

    return translate


layer("Conv1DTranspose", "Convolution1DTranspose")(_transposed(1))
layer("Conv2DTranspose", "Convolution2DTranspose")(_transposed(2))
layer("Conv3DTranspose", "Convolution3DTranspose")(_transposed(3))


def _cuts(
    call: Call, sizes: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """What is cut off each axis, (before, after), and what is added at its end.

    The layer is the gradient of a convolution, whose padding is half of what is missing, the odd one at the end.
    """
    word, given = call.config.get("padding", "valid"), call.config.get("output_padding")
    if word not in ("valid", "same"):
        raise call.damaged(f"padding is {str(word)[:80]!r}")
    wanted = given if isinstance(given, list) else [given] * len(sizes)
    if len(wanted) != len(sizes) or any(w is not None and (type(w) is not int or not 0 <= w < 1 << 20) for w in wanted):
        raise call.damaged(f"output_padding is {str(given)[:80]}")
    cuts, extra = [], []
    for size, taps, step, gap, more in zip(sizes, kernel, stride, dilation, wanted, strict=True):
        span = (taps - 1) * gap + 1
        full = (size - 1) * step + span
        if word == "valid":
            length = (size - 1) * step + max(span, step) if more is None else full + more
        else:
            length = size * step if more is None else (size - 1) * step + span % 2 + more
        missing = max(full - length, 0)
        cuts.append((missing // 2, missing - missing // 2))
        extra.append(max(length - full, 0))
    return cuts, tuple(extra)
