"""Random cases of the operators with weights, in every shape and at the edges of requantisation."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Case, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.fully_connected import FullyConnected

NO_LIMIT = (float("-inf"), float("inf"))
RELU6 = (0.0, 6.0)
CLAMPS = (NO_LIMIT, RELU6, (0.0, float("inf")), (-1.0, 1.0))


def weights_of(rng: np.random.Generator, shape: tuple[int, ...], axis: int, terms: int, edge: bool):
    """(weights, bias, output quant) with outputs that use the range; ``edge``: extreme scales, biases and weights."""
    channels = shape[axis]
    content = rng.integers(-127, 127, shape, endpoint=True)
    if edge:
        content = rng.choice([-128, -127, 0, 1, 127], shape)
    scales = np.exp(rng.uniform(-6, -4, channels))
    if edge:
        scales = scales * np.exp2(rng.integers(-24, 6, channels))
    bias = rng.integers(-(2**30) if edge else -4000, 2**30 if edge else 4000, channels)
    kind = Type(shape, Elem.S8, Quant.per_channel(scales, axis))
    step = float(np.median(scales)) * np.sqrt(terms) * rng.uniform(0.2, 4)
    relu = rng.random() < 0.5
    quant = Quant.per_tensor(step, -128 if relu else int(rng.integers(-60, 60)))
    return (kind, content.astype(np.int8)), (Type((channels,), Elem.S32), bias.astype(np.int32)), quant


def conv(rng: np.random.Generator, label: str, **given) -> Case:
    """A convolution of random geometry; ``given`` fixes attributes, ``shape``, ``outputs``, ``kernel``, ``edge``."""
    groups = given.get("groups", 1)
    depth = given.get("depth", int(rng.integers(1, 9)))
    outputs = given.get("outputs", groups * int(rng.integers(1, 6)))
    kernel = given.get("kernel", tuple(int(k) for k in rng.integers(1, 5, 2)))
    stride = given.get("stride", tuple(int(k) for k in rng.integers(1, 4, 2)))
    dilation = given.get("dilation", (1, 1) if rng.random() < 0.7 else tuple(int(k) for k in rng.integers(1, 4, 2)))
    padding = given.get("padding", tuple(int(k) for k in rng.integers(0, 4, 4)))
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    plane = given.get("plane", tuple(int(rng.integers(s, s + 9)) for s in span))
    edge = given.get("edge", False)
    zero_point = int(rng.choice([-128, 127, 0, 5])) if edge else int(rng.integers(-128, 127))
    weights, bias, quant = weights_of(rng, (outputs, *kernel, depth), 0, kernel[0] * kernel[1] * depth, edge)
    clamp = CLAMPS[int(rng.integers(len(CLAMPS)))]
    op = Conv2d(stride=stride, dilation=dilation, padding=padding, groups=groups, clamp=clamp)
    x = s8((1, *plane, depth * groups), 1.0, zero_point)
    return one_node(label, op, [x, weights, bias if rng.random() < 0.9 else None], [quant], rng)


def depthwise(rng: np.random.Generator, label: str, **given) -> Case:
    """A depthwise convolution of random geometry."""
    channels = given.get("channels", int(rng.integers(1, 9)))
    multiplier = given.get("multiplier", 1 if rng.random() < 0.7 else int(rng.integers(2, 4)))
    kernel = given.get("kernel", tuple(int(k) for k in rng.integers(1, 6, 2)))
    stride = given.get("stride", tuple(int(k) for k in rng.integers(1, 4, 2)))
    dilation = given.get("dilation", (1, 1) if rng.random() < 0.7 else tuple(int(k) for k in rng.integers(1, 4, 2)))
    padding = given.get("padding", tuple(int(k) for k in rng.integers(0, 4, 4)))
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    plane = given.get("plane", tuple(int(rng.integers(s, s + 12)) for s in span))
    edge = given.get("edge", False)
    zero_point = int(rng.choice([-128, 127, 0, 5])) if edge else int(rng.integers(-128, 127))
    shape = (1, *kernel, channels * multiplier)
    weights, bias, quant = weights_of(rng, shape, 3, kernel[0] * kernel[1], edge)
    clamp = CLAMPS[int(rng.integers(len(CLAMPS)))]
    op = DepthwiseConv2d(stride=stride, dilation=dilation, padding=padding, multiplier=multiplier, clamp=clamp)
    x = s8((1, *plane, channels), 1.0, zero_point)
    return one_node(label, op, [x, weights, bias if rng.random() < 0.9 else None], [quant], rng)


def dense(rng: np.random.Generator, label: str, **given) -> Case:
    """A fully connected layer on one or several vectors."""
    inputs = given.get("inputs", int(rng.integers(1, 70)))
    outputs = given.get("outputs", int(rng.integers(1, 20)))
    lead = given.get("lead", [(1,), (1,), (3,), (1, 2, 2)][int(rng.integers(4))])
    edge = given.get("edge", False)
    weights, bias, quant = weights_of(rng, (outputs, inputs), 0, inputs, edge)
    if rng.random() < 0.5:
        kind = weights[0]
        scale = kind.quant.scale[0] if edge else float(np.median(kind.quant.scale))
        weights = (Type(kind.shape, kind.elem, Quant.per_tensor(scale)), weights[1])
    op = FullyConnected(clamp=CLAMPS[int(rng.integers(len(CLAMPS)))])
    x = s8((*lead, inputs), 1.0, int(rng.integers(-128, 127)))
    return one_node(label, op, [x, weights, bias if rng.random() < 0.9 else None], [quant], rng)
