"""Keras layers with weights or windows. Kernels are stored as Keras does (HWIO) and turned to OHWI here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call
from tinydeploy.ir import Array


def _dense(call: Call) -> str:
    x = call.input()
    if call.type(x).rank < 2:
        raise call.damaged(f"its input is {call.type(x)}")
    kernel, bias = call.kernel_and_bias(2)
    activation = call.activation(call.config.get("activation"))
    y = call.emit("fully_connected", (x, call.constant("kernel", kernel.T), bias), clamp=activation.clamp)
    return call.activate(y, activation, "activation") if activation.operator else y


def _conv(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        kernel, bias = call.kernel_and_bias(dims + 2)
        return _convolve(call, dims, kernel, bias)

    return translate


def _convolve(call: Call, dims: int, kernel: Array, bias: str | None) -> str:
    x, (stride, dilation, padding) = _plane(call, dims, kernel)
    if dims == 1:
        kernel = kernel[np.newaxis]
    channels = call.type(x).shape[3]
    if channels % kernel.shape[2]:
        raise call.damaged(f"has {channels} channels and a kernel of {list(kernel.shape)}")
    weights = call.constant("kernel", kernel.transpose(3, 0, 1, 2))
    activation = call.activation(call.config.get("activation"))
    y = call.emit(
        "conv2d",
        (x, weights, bias),
        stride=stride,
        dilation=dilation,
        padding=padding,
        groups=channels // kernel.shape[2],
        clamp=activation.clamp,
    )
    y = _line(call, y) if dims == 1 else y
    return call.activate(y, activation, "activation") if activation.operator else y


def _depthwise(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        kernel, bias = call.kernel_and_bias(dims + 2)
        activation = call.activation(call.config.get("activation"))
        y = _convolve_depthwise(call, dims, kernel, bias, "", activation.clamp)
        y = _line(call, y) if dims == 1 else y
        return call.activate(y, activation, "activation") if activation.operator else y

    return translate


def _convolve_depthwise(
    call: Call, dims: int, kernel: Array, bias: str | None, stem: str, clamp: tuple[float, float]
) -> str:
    x, (stride, dilation, padding) = _plane(call, dims, kernel)
    if dims == 1:
        kernel = kernel[np.newaxis]
    weights = kernel.reshape(1, *kernel.shape[:2], kernel.shape[2] * kernel.shape[3])
    return call.emit(
        "depthwise_conv2d",
        (x, call.constant(f"{stem or 'depthwise'}_kernel", weights), bias),
        stem=stem,
        stride=stride,
        dilation=dilation,
        padding=padding,
        multiplier=kernel.shape[3],
        clamp=clamp,
    )


def _separable(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        arrays = call.weights(*([dims + 2, dims + 2] + [1] * bool(call.config.get("use_bias", True))))
        y = _convolve_depthwise(call, dims, arrays[0], None, "depthwise", (-math.inf, math.inf))
        pointwise = arrays[1] if dims == 2 else arrays[1][np.newaxis]
        bias = call.constant("bias", arrays[2]) if len(arrays) == 3 else None
        activation = call.activation(call.config.get("activation"))
        weights = call.constant("pointwise_kernel", pointwise.transpose(3, 0, 1, 2))
        y = call.emit("conv2d", (y, weights, bias), clamp=activation.clamp)
        y = _line(call, y) if dims == 1 else y
        return call.activate(y, activation, "activation") if activation.operator else y

    return translate


def _plane(
    call: Call, dims: int, kernel: Array
) -> tuple[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """The input as an image, and stride, dilation and padding; a line becomes an image of height 1."""
    x, kind = call.image(dims + 2)
    stride, dilation = call.integers("strides", dims, 1), call.integers("dilation_rate", dims, 1)
    pads = call.padding(kind.shape[1:-1], kernel.shape[:dims], stride, dilation)
    if dims == 1:
        x = call.reshape(x, (kind.shape[0], 1, *kind.shape[1:]), "image")
        stride, dilation, pads = (1, *stride), (1, *dilation), [(0, 0), *pads]
    return x, (stride, dilation, (*pads[0], *pads[1]))


def _line(call: Call, y: str) -> str:
    shape = call.type(y).shape
    return call.reshape(y, (shape[0], *shape[2:]), "line")


def _pool(operator: str, dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, kind = call.image(dims + 2)
        kernel = call.integers("pool_size", dims, 2)
        stride = kernel if call.config.get("strides") is None else call.integers("strides", dims)
        pads = call.padding(kind.shape[1:-1], kernel, stride, (1,) * dims)
        if dims == 1:
            x = call.reshape(x, (kind.shape[0], 1, *kind.shape[1:]), "image")
            kernel, stride, pads = (1, *kernel), (1, *stride), [(0, 0), *pads]
        extra: dict[str, Any] = {"count_include_pad": False} if operator == "average_pool2d" else {}
        y = call.emit(operator, (x,), kernel=kernel, stride=stride, padding=(*pads[0], *pads[1]), **extra)
        return _line(call, y) if dims == 1 else y

    return translate


def _global_average(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, _ = call.image(dims + 2)
        return call.emit("mean", (x,), axes=tuple(range(1, dims + 1)), keep_dims=bool(call.config.get("keepdims")))

    return translate


def _global_max(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, kind = call.image(dims + 2)
        plane = (1, *kind.shape[1:-1])[-2:]
        x = call.reshape(x, (kind.shape[0], *plane, kind.shape[-1]), "image")
        y = call.emit("max_pool2d", (x,), kernel=plane, stride=(1, 1), padding=(0, 0, 0, 0))
        ones = (1,) * dims if call.config.get("keepdims") else ()
        return call.reshape(y, (kind.shape[0], *ones, kind.shape[-1]), "squeeze")

    return translate


def _batch_normalization(call: Call) -> str:
    x = call.input()
    kind = call.type(x)
    axis = call.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    if kind.rank < 2 or call.axis(axis, kind.rank) != kind.rank - 1:
        raise call.refuse(f"normalises axis {axis} of {kind}", "the channels are the last axis")
    scale, center = bool(call.config.get("scale", True)), bool(call.config.get("center", True))
    arrays = call.weights(*[1] * (2 + scale + center))
    gamma = arrays.pop(0) if scale else np.ones_like(arrays[-1])
    beta = arrays.pop(0) if center else np.zeros_like(arrays[-1])
    parts = {"gamma": gamma, "beta": beta, "moving_mean": arrays[0], "moving_variance": arrays[1]}
    names = tuple(call.constant(stem, array) for stem, array in parts.items())
    return call.emit("batch_norm", (x, *names), epsilon=call.number("epsilon", 1e-3))


LAYERS: dict[str, Callable[[Call], str]] = {
    "Dense": _dense,
    "Conv1D": _conv(1),
    "Conv2D": _conv(2),
    "Convolution1D": _conv(1),
    "Convolution2D": _conv(2),
    "DepthwiseConv1D": _depthwise(1),
    "DepthwiseConv2D": _depthwise(2),
    "SeparableConv1D": _separable(1),
    "SeparableConv2D": _separable(2),
    "AveragePooling1D": _pool("average_pool2d", 1),
    "AveragePooling2D": _pool("average_pool2d", 2),
    "MaxPooling1D": _pool("max_pool2d", 1),
    "MaxPooling2D": _pool("max_pool2d", 2),
    "GlobalAveragePooling1D": _global_average(1),
    "GlobalAveragePooling2D": _global_average(2),
    "GlobalMaxPooling1D": _global_max(1),
    "GlobalMaxPooling2D": _global_max(2),
    "BatchNormalization": _batch_normalization,
    "BatchNormalizationV1": _batch_normalization,
    "BatchNormalizationV2": _batch_normalization,
}
