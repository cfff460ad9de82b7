"""Cases for the dsp and mve kernels: scales as in trained networks, shapes with every tail, data at its limits."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Case, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.add import Add
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.sub import Sub

NONE = (float("-inf"), float("inf"))
RELU = (0.0, float("inf"))
CLAMPS = (NONE, RELU, (0.0, 1.0), (-0.3, 0.4))


def _weights(rng: np.random.Generator, shape: tuple[int, ...], axis: int, per_channel: bool = True):
    """Weights, bias and the output's quantisation so that outputs fill their range; some cases use extremes only."""
    channels, terms = shape[axis], int(np.prod(shape)) // shape[axis]
    content = np.clip(np.rint(rng.normal(0, 40, shape)), -127, 127)
    if rng.random() < 0.3:
        content = rng.choice([-127, 127], shape)
    if rng.random() < 0.2:
        content = content * (rng.random(channels) < 0.5).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    scales = 0.004 * np.exp(rng.uniform(-1, 1, channels)) if per_channel else np.full(channels, 0.004)
    quant = Quant.per_channel(scales, axis) if per_channel else Quant.per_tensor(0.004)
    bias = rng.integers(-3000, 3000, channels).astype(np.int32)
    output = Quant.per_tensor(0.004 * 40 * 70 * 0.02 * np.sqrt(terms) / 40, int(rng.choice([-128, -128, -5, 0, 17])))
    return (Type(shape, Elem.S8, quant), content.astype(np.int8)), (Type((channels,), Elem.S32), bias), output


def _pick(rng: np.random.Generator, given: tuple[int, int] | None, low: int, high: int) -> tuple[int, int]:
    return given if given is not None else (int(rng.integers(low, high)), int(rng.integers(low, high)))


def _input(rng: np.random.Generator, shape: tuple[int, ...]) -> Type:
    return s8(shape, 0.02, int(rng.choice([-128, -100, 0, 3, 127])))


def conv(
    rng: np.random.Generator,
    label: str,
    depth: int,
    outputs: int,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] | None = None,
    dilation: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] | None = None,
    plane: tuple[int, int] | None = None,
) -> Case:
    """A convolution; what is not given is random."""
    weights, bias, output = _weights(rng, (outputs, *kernel, depth), 0)
    padding = tuple(int(p) for p in rng.integers(0, 3, 4)) if padding is None else padding
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    plane = _pick(rng, plane, max(span), max(span) + 8)
    clamp = CLAMPS[int(rng.integers(len(CLAMPS)))]
    op = Conv2d(stride=_pick(rng, stride, 1, 3), dilation=dilation, padding=padding, clamp=clamp)
    return one_node(label, op, [_input(rng, (1, *plane, depth)), weights, bias], [output], rng)


def depthwise(
    rng: np.random.Generator,
    label: str,
    channels: int,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] | None = None,
    dilation: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] | None = None,
    plane: tuple[int, int] | None = None,
) -> Case:
    """A depthwise convolution; what is not given is random."""
    weights, bias, output = _weights(rng, (1, *kernel, channels), 3)
    padding = tuple(int(p) for p in rng.integers(0, 3, 4)) if padding is None else padding
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    plane = _pick(rng, plane, max(span), max(span) + 8)
    clamp = CLAMPS[int(rng.integers(len(CLAMPS)))]
    op = DepthwiseConv2d(stride=_pick(rng, stride, 1, 3), dilation=dilation, padding=padding, clamp=clamp)
    return one_node(label, op, [_input(rng, (1, *plane, channels)), weights, bias], [output], rng)


def dense(rng: np.random.Generator, label: str, inputs: int, outputs: int, vectors: int = 1) -> Case:
    """A fully connected layer."""
    weights, bias, output = _weights(rng, (outputs, inputs), 0, per_channel=rng.random() < 0.5)
    op = FullyConnected(clamp=CLAMPS[int(rng.integers(len(CLAMPS)))])
    return one_node(label, op, [_input(rng, (vectors, inputs)), weights, bias], [output], rng)


def total(rng: np.random.Generator, label: str, size: int) -> Case:
    """A sum or a difference."""
    a, b = np.exp(rng.uniform(-3, 0.5, 2))
    kinds = [s8((1, size), a, int(rng.integers(-128, 128))), s8((1, size), b, int(rng.integers(-128, 128)))]
    output = Quant.per_tensor((a + b) * rng.uniform(0.3, 1.2), int(rng.integers(-128, 128)))
    op = (Add, Sub)[int(rng.integers(2))](clamp=CLAMPS[int(rng.integers(len(CLAMPS)))])
    return one_node(label, op, kinds, [output], rng)


def convolutions(seed: int) -> list[Case]:
    """Every remainder of taps, channels and pixels; strides, dilations, paddings beyond the kernel."""
    rng = np.random.default_rng(seed)
    point = {"stride": (1, 1), "padding": (0, 0, 0, 0)}
    cases = [
        conv(rng, f"1x1 {d}-{o}", d, o, (1, 1), plane=(1, w), **point)
        for d, o, w in (
            (1, 1, 1),
            (2, 2, 2),
            (3, 5, 3),
            (5, 4, 6),
            (8, 3, 4),
            (13, 2, 5),
            (16, 6, 9),
            (72, 2, 2),
            (150, 3, 3),
        )
    ]
    cases += [
        conv(rng, f"{k} {d}-{o}", d, o, k)
        for k, d, o in (
            ((3, 3), 1, 3),
            ((3, 3), 3, 8),
            ((10, 4), 1, 4),
            ((2, 5), 2, 2),
            ((3, 3), 4, 5),
            ((3, 3), 16, 4),
            ((1, 3), 5, 7),
            ((5, 1), 12, 2),
            ((3, 3), 6, 3),
            ((7, 7), 1, 2),
            ((4, 2), 33, 2),
        )
    ]
    cases += [conv(rng, f"dilated {d}", d, 3, (3, 2), dilation=(2, 3)) for d in (1, 3, 4, 8)]
    cases += [conv(rng, f"padded {d}", d, 2, (3, 3), padding=(4, 5, 6, 3), plane=(4, 3)) for d in (2, 4)]
    cases += [
        conv(rng, f"whole {pad}", 6, 5, (2, 3), padding=pad, plane=(2, 3)) for pad in ((0, 0, 0, 0), (1, 0, 0, 1))
    ]
    cases += [conv(rng, f"narrow {d}", d, 2, (3, 3), padding=(1, 1, 1, 1), plane=(3, 1)) for d in (1, 4)]
    return cases


def depthwises(seed: int, even: bool = False) -> list[Case]:
    """Odd and even numbers of taps, from 1 to more than the unrolled ones; channels of every remainder."""
    rng = np.random.default_rng(seed)
    channels = (2, 4, 6, 8, 10, 16, 18, 24) if even else (1, 2, 3, 4, 5, 7, 8, 13)
    kernels = ((3, 3), (1, 1), (2, 1), (5, 5), (3, 3), (15, 1), (3, 2), (1, 17))
    cases = [depthwise(rng, f"{k} {c}", c, k) for c, k in zip(channels, kernels, strict=True)]
    cases += [
        depthwise(rng, f"same {w}", 8, (3, 3), stride=(1, 1), padding=(1, 1, 1, 1), plane=(4, w)) for w in (1, 2, 9)
    ]
    cases += [
        depthwise(rng, f"sliding {pad}", c, (3, 3), stride=(1, 1), padding=pad)
        for c, pad in ((4, (0, 0, 0, 0)), (12, (2, 1, 3, 2)), (4, (1, 2, 0, 4)), (16, (0, 1, 2, 0)))
    ]
    cases += [
        depthwise(rng, "dilated", 4, (3, 3), dilation=(2, 3)),
        depthwise(rng, "far", 4, (3, 3), padding=(4, 4, 5, 5)),
    ]
    return cases


def vectors(seed: int) -> list[Case]:
    """Inputs and outputs of every remainder, one step and many."""
    rng = np.random.default_rng(seed)
    sizes = (
        (1, 1),
        (7, 3),
        (8, 4),
        (9, 5),
        (16, 8),
        (17, 7),
        (24, 2),
        (64, 12),
        (72, 9),
        (130, 6),
        (144, 16),
        (640, 5),
    )
    return [dense(rng, f"{i}x{o}", i, o, 1 + (i == 9)) for i, o in sizes]


def totals(seed: int) -> list[Case]:
    """Lengths of every remainder."""
    rng = np.random.default_rng(seed)
    return [total(rng, f"sum of {n}", n) for n in (1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 33)]
