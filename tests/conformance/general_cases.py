"""Random cases of weighted layers in the types and batches that only the general kernels take."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Case, one_node, random_data, s8
from tests.conformance.linear_cases import CLAMPS, weights_of
from tinydeploy.ir import Array, Elem, Quant, Type
from tinydeploy.ops._op import Op
from tinydeploy.ops.batch_matmul import BatchMatmul
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.conv3d import Conv3d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.transpose_conv import TransposeConv2d, TransposeConv3d

FORMS = ("float", "computed", "small", "int32", "int8", "int8 computed")


def ints(rng: np.random.Generator, low: int, high: int, count: int) -> tuple[int, ...]:
    """Random integers, both ends included."""
    return tuple(int(n) for n in rng.integers(low, high, count, endpoint=True))


def window(rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    """A random window of two axes and a plane on which it fits."""
    kernel, stride, dilation, padding = ints(rng, 1, 4, 2), ints(rng, 1, 3, 2), ints(rng, 1, 3, 2), ints(rng, 0, 3, 4)
    if rng.random() < 0.5:
        dilation = (1, 1)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    plane = tuple(max(1, s + int(rng.integers(-1, 7)) - min(padding)) for s in span)
    found = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": padding, "plane": plane}
    sizes = zip(plane, span, (padding[0] + padding[1], padding[2] + padding[3]), strict=True)
    return found if all(n + pads >= s for n, s, pads in sizes) else window(rng)


def layer(rng: np.random.Generator, label: str, form: str, op: Op, x: tuple[int, ...], w: tuple[int, ...], axis: int):
    """A node of ``op`` in one of `FORMS`; ``axis``: output channels in the shape ``w`` of the weights."""
    outputs = w[axis]
    bias = rng.random() < 0.7
    if form in ("float", "computed", "small"):
        content = rng.normal(size=w).astype(np.float32)
        kind: Type = Type(w, Elem.F32)
        if form == "small":
            content = rng.integers(-127, 128, w).astype(np.int8)
            scales = np.exp(rng.uniform(-6, -2, outputs if rng.random() < 0.7 else 1))
            per_channel = Quant.per_channel(scales, axis)
            kind = Type(w, Elem.S8, per_channel if len(scales) == outputs else Quant.per_tensor(scales[0]))
        data: Array = rng.normal(size=outputs).astype(np.float32)
        weights = kind if form == "computed" else (kind, content)
        return one_node(
            label, op, [Type(x, Elem.F32), weights, (Type((outputs,), Elem.F32), data) if bias else None], [None], rng
        )
    if form == "int32":
        content = rng.integers(-(2**20), 2**20, w).astype(np.int32)
        held = (Type(w, Elem.S32), content) if rng.random() < 0.5 else Type(w, Elem.S32)
        data = rng.integers(-(2**31), 2**31, outputs).astype(np.int32)
        return one_node(
            label, op, [Type(x, Elem.S32), held, (Type((outputs,), Elem.S32), data) if bias else None], [None], rng
        )
    (kind, content), held_bias, quant = weights_of(rng, w, axis, int(np.prod(w)) // outputs, rng.random() < 0.3)
    weights = (kind, content)
    if form == "int8 computed":
        weights = Type(w, Elem.S8, Quant.per_tensor(float(np.median(kind.quant.scale)), int(rng.integers(-20, 20))))
    zero = int(rng.integers(-128, 128))
    return one_node(label, op, [s8(x, 1.0, zero), weights, held_bias if bias else None], [quant], rng)


def clamp_of(rng: np.random.Generator, form: str) -> tuple[float, float]:
    """A random fused clamp; integers without scales have none."""
    return CLAMPS[0 if form == "int32" else int(rng.integers(len(CLAMPS)))]


def conv(rng: np.random.Generator, form: str, number: int) -> Case:
    """A convolution of one to three samples and one to three groups."""
    shape, groups = window(rng), int(rng.choice([1, 1, 2, 3]))
    depth, outputs = int(rng.integers(1, 7)), groups * int(rng.integers(1, 7))
    batch = int(rng.integers(2, 4)) if form == "int8" else int(rng.integers(1, 4))
    op = Conv2d(shape["stride"], shape["dilation"], shape["padding"], groups, clamp_of(rng, form))
    x = (batch, *shape["plane"], depth * groups)
    return layer(rng, f"conv {form} {number}", form, op, x, (outputs, *shape["kernel"], depth), 0)


def depthwise(rng: np.random.Generator, form: str, number: int) -> Case:
    """A depthwise convolution of one to three samples."""
    shape, multiplier, channels = window(rng), int(rng.choice([1, 1, 2, 3])), int(rng.integers(1, 10))
    batch = int(rng.integers(2, 4)) if form == "int8" else int(rng.integers(1, 4))
    op = DepthwiseConv2d(shape["stride"], shape["dilation"], shape["padding"], multiplier, clamp_of(rng, form))
    x = (batch, *shape["plane"], channels)
    return layer(rng, f"depthwise {form} {number}", form, op, x, (1, *shape["kernel"], channels * multiplier), 3)


def dense(rng: np.random.Generator, form: str, number: int) -> Case:
    """A fully connected layer on one or several vectors."""
    inputs, outputs = int(rng.integers(1, 70)), int(rng.integers(1, 20))
    lead = [(), (1,), (3,), (1, 2, 2)][int(rng.integers(4))]
    return layer(
        rng, f"dense {form} {number}", form, FullyConnected(clamp_of(rng, form)), (*lead, inputs), (outputs, inputs), 0
    )


def volume(rng: np.random.Generator, form: str, number: int) -> Case:
    """A convolution over three axes."""
    kernel, stride, dilation = ints(rng, 1, 3, 3), ints(rng, 1, 2, 3), ints(rng, 1, 2, 3)
    padding, groups = ints(rng, 0, 2, 6), int(rng.choice([1, 1, 2]))
    sizes = tuple((k - 1) * d + 1 + int(n) for k, d, n in zip(kernel, dilation, rng.integers(0, 4, 3), strict=True))
    depth, outputs = int(rng.integers(1, 5)), groups * int(rng.integers(1, 6))
    op = Conv3d(stride, dilation, padding, groups, clamp_of(rng, form))
    x = (int(rng.integers(1, 3)), *sizes, depth * groups)
    return layer(rng, f"volume {form} {number}", form, op, x, (outputs, *kernel, depth), 0)


def transposed(rng: np.random.Generator, form: str, number: int) -> Case:
    """A transposed convolution over two or three axes."""
    rank, groups = int(rng.integers(2, 4)), int(rng.choice([1, 1, 2]))
    kernel, stride, dilation = ints(rng, 1, 4, rank), ints(rng, 1, 3, rank), ints(rng, 1, 2, rank)
    sizes, extra = ints(rng, 1, 5, rank), ints(rng, 0, 2, rank)
    full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(sizes, stride, kernel, dilation, strict=True)]
    cut = tuple(int(rng.integers(0, (n + 1) // 2)) for n in full for _ in (0, 1))
    depth, outputs = int(rng.integers(1, 7)), groups * int(rng.integers(1, 7))
    kind = TransposeConv2d if rank == 2 else TransposeConv3d
    op = kind(stride, dilation, cut, extra, groups, clamp_of(rng, form))
    x = (int(rng.integers(1, 3)), *sizes, depth * groups)
    return layer(rng, f"transposed {form} {number}", form, op, x, (outputs, *kernel, depth), 0)


def matmul(rng: np.random.Generator, elem: Elem, number: int) -> Case:
    """A product of matrices whose leading axes broadcast; now and then one of them is constant."""
    lead = ints(rng, 1, 3, int(rng.integers(0, 4)))
    rows, terms, columns = int(rng.integers(1, 8)), int(rng.integers(1, 40)), int(rng.integers(1, 11))
    kinds: list[Type | tuple[Type, Array]] = []
    for shape in ((rows, terms), (terms, columns)):
        own = tuple(1 if rng.random() < 0.3 else n for n in lead)[int(rng.integers(0, len(lead) + 1)) :]
        quant = Quant.per_tensor(float(rng.uniform(0.01, 0.1)), int(rng.integers(-128, 128)))
        kind = Type((*own, *shape), elem, quant if elem is Elem.S8 else None)
        constant = rng.random() < 0.2
        kinds.append((kind, random_data(rng, kind, 2)[1]) if constant else kind)
    if all(isinstance(kind, tuple) for kind in kinds):
        kinds[0] = kinds[0][0]
    step = 0.003 * np.sqrt(terms) * rng.uniform(0.2, 4)
    result = Quant.per_tensor(float(step * 20), int(rng.integers(-128, 128))) if elem is Elem.S8 else None
    op = BatchMatmul(CLAMPS[int(rng.integers(len(CLAMPS)))] if elem is not Elem.S32 else CLAMPS[0])
    return one_node(f"matmul {elem} {number}", op, kinds, [result], rng)
