"""Random cases of operators on int16 activations."""

from __future__ import annotations

import numpy as np

from tests.conformance.general_cases import ints, window
from tests.conformance.harness import Case, one_node, s8
from tests.conformance.linear_cases import CLAMPS
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops._op import Op
from tinydeploy.ops.activation import Gelu, LeakyRelu
from tinydeploy.ops.add import Add
from tinydeploy.ops.batch_matmul import BatchMatmul
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.logistic import Logistic
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.quantize import Quantize
from tinydeploy.ops.reduce import ReduceSum
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.sub import Sub
from tinydeploy.ops.tanh import Tanh
from tinydeploy.ops.transpose_conv import TransposeConv2d
from tinydeploy.ops.unary import Abs, Exp, Log, Rsqrt

UNIT = 2.0**-15


def s16(shape: tuple[int, ...], scale: float, zero_point: int = 0) -> Type:
    """An int16 type with one scale."""
    return Type(tuple(shape), Elem.S16, Quant.per_tensor(scale, zero_point))


def s32(shape: tuple[int, ...], scale: float) -> Type:
    """An int32 type with one scale."""
    return Type(tuple(shape), Elem.S32, Quant.per_tensor(scale))


def _scale(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _clamp(rng: np.random.Generator) -> tuple[float, float]:
    return CLAMPS[int(rng.integers(len(CLAMPS)))]


def _weighted(rng: np.random.Generator, label: str, op: Op, x: tuple[int, ...], w: tuple[int, ...], axis: int) -> Case:
    """A layer whose results fill int16; some sums need 64 bits, by weights or by bias."""
    outputs, terms = w[axis], int(np.prod(w)) // w[axis]
    content = rng.integers(-127, 128, w).astype(np.int8)
    if rng.random() < 0.3:
        content[:] = 127
    per_channel = rng.random() < 0.7
    scales = np.exp(rng.uniform(-5, -2, outputs if per_channel else 1))
    source = s16(x, _scale(rng, 1e-5, 1e-2), 0 if rng.random() < 0.7 else int(rng.integers(-32768, 32768)))
    quant = Quant.per_channel(scales, axis) if per_channel else Quant.per_tensor(scales[0])
    reach = source.scale * float(scales.max()) * 127 * 32768 * np.sqrt(terms)
    out = Quant.per_tensor(reach / 32768 * _scale(rng, 0.05, 3), int(rng.choice([0, 0, 0, 77])))
    bias = None
    if rng.random() < 0.8:
        elem, most = (Elem.S64, 2**40) if rng.random() < 0.3 else (Elem.S64, 2**26)
        if rng.random() < 0.2:
            elem, most = Elem.S32, 2**31
        bias = (Type((outputs,), elem), rng.integers(-most, most, outputs).astype(elem.dtype))
    return one_node(label, op, [source, (Type(w, Elem.S8, quant), content), bias], [out], rng)


def conv(rng: np.random.Generator, number: int) -> Case:
    """A convolution of one or two samples, in one to three groups."""
    shape, groups = window(rng), int(rng.choice([1, 1, 2, 3]))
    depth, outputs = int(rng.choice([1, 3, 8, 40])), groups * int(rng.integers(1, 7))
    rounding = (number % 3 == 0, number % 3 == 1)
    op = Conv2d(shape["stride"], shape["dilation"], shape["padding"], groups, _clamp(rng), *rounding)
    x = (int(rng.integers(1, 3)), *shape["plane"], depth * groups)
    return _weighted(rng, f"conv {number}", op, x, (outputs, *shape["kernel"], depth), 0)


def depthwise(rng: np.random.Generator, number: int) -> Case:
    """A depthwise convolution."""
    shape, multiplier, channels = window(rng), int(rng.choice([1, 1, 2, 3])), int(rng.integers(1, 10))
    window_of = (shape["stride"], shape["dilation"], shape["padding"])
    op = DepthwiseConv2d(*window_of, multiplier, _clamp(rng), number % 3 == 0)
    x = (int(rng.integers(1, 3)), *shape["plane"], channels)
    return _weighted(rng, f"depthwise {number}", op, x, (1, *shape["kernel"], channels * multiplier), 3)


def dense(rng: np.random.Generator, number: int) -> Case:
    """A fully connected layer on one or several vectors; long ones need sums of 64 bits."""
    inputs, outputs = int(rng.choice([1, 7, 64, 700])), int(rng.integers(1, 12))
    lead = [(), (1,), (3,), (1, 2, 2)][int(rng.integers(4))]
    return _weighted(rng, f"dense {number}", FullyConnected(_clamp(rng)), (*lead, inputs), (outputs, inputs), 0)


def binary(rng: np.random.Generator, number: int) -> Case:
    """Add, sub or mul with broadcasting, one operand a constant now and then."""
    kind = (Add, Sub, Mul)[number % 3]
    shapes = [((1, 4, 3, 5), (1, 4, 3, 5)), ((2, 3, 7), (7,)), ((5,), (2, 1, 5)), ((2, 3, 1), (2, 1, 4)), ((), (3,))]
    a, b = shapes[int(rng.integers(len(shapes)))]
    first, second = s16(a, _scale(rng, 1e-6, 1e-2)), s16(b, _scale(rng, 1e-6, 1e-2))
    if rng.random() < 0.3 and kind is not Mul:
        first = s16(a, first.scale, int(rng.choice([-32768, 32767, 5])))
    largest = first.scale * second.scale * 32768 if kind is Mul else first.scale + second.scale
    held = (second, rng.integers(-32768, 32768, b).astype(np.int16)) if rng.random() < 0.3 else second
    out = Quant.per_tensor(largest * _scale(rng, 0.3, 3))
    return one_node(f"{kind.__name__} {number}", kind(clamp=_clamp(rng)), [first, held], [out], rng, 20)


def powers(rng: np.random.Generator, number: int) -> Case:
    """Sums of int16 whose scales are powers of two."""
    kind, bits, shift = (Add, Sub)[number % 2], int(rng.integers(5, 15)), int(rng.integers(0, 6))
    scales = [2.0**-bits, 2.0 ** -(bits + shift)]
    if rng.random() < 0.5:
        scales.reverse()
    inputs = [s16((2, 50), scale) for scale in scales]
    op = kind(clamp=_clamp(rng), pot_scale_int16=True)
    return one_node(f"powers {number}", op, inputs, [Quant.per_tensor(2.0**-bits)], rng, 10)


def far_apart(rng: np.random.Generator, number: int) -> Case:
    """Sums of int8 whose scales no single linear form in int32 takes."""
    kind = (Add, Sub)[number % 2]
    small = _scale(rng, 1e-6, 1e-5)
    scales = [small, small * _scale(rng, 1e4, 1e6)]
    if rng.random() < 0.5:
        scales.reverse()
    inputs = [s8((3, 40), scale, int(rng.integers(-128, 128))) for scale in scales]
    out = Quant.per_tensor(small * _scale(rng, 1, 1e3), int(rng.integers(-128, 128)))
    return one_node(f"far apart {number}", kind(clamp=_clamp(rng)), inputs, [out], rng, 20)


def function(rng: np.random.Generator, number: int) -> Case:
    """Logistic, tanh and softmax."""
    scale = [2.0**-12, 2.0**-10, _scale(rng, 1e-6, 1)][int(rng.integers(3))]
    if number % 3 == 2:
        shape = tuple(ints(rng, 1, 9, int(rng.integers(1, 4))))
        op: Op = Softmax(axis=int(rng.integers(len(shape))), beta=float(rng.choice([1.0, 0.5, 3.0])))
        return one_node(
            f"softmax {number}", op, [s16(shape, _scale(rng, 1e-5, 1e-3))], [Quant.per_tensor(UNIT)], rng, 5
        )
    op = Logistic() if number % 3 == 0 else Tanh()
    return one_node(f"{op.name} {number}", op, [s16((500,), scale)], [Quant.per_tensor(UNIT)], rng)


def products(rng: np.random.Generator, number: int) -> Case:
    """Matrix products of two computed operands, and transposed convolutions."""
    if number % 2:
        kernel, stride = ints(rng, 1, 4, 2), ints(rng, 1, 3, 2)
        depth, outputs = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        x = (int(rng.integers(1, 3)), *ints(rng, 1, 5, 2), depth)
        op = TransposeConv2d(stride=stride, output_padding=(stride[0] - 1, 0), clamp=_clamp(rng))
        return _weighted(rng, f"transpose_conv {number}", op, x, (outputs, *kernel, depth), 0)
    rows, terms, columns = ints(rng, 1, 6, 3)
    a, b = s16((2, rows, terms), _scale(rng, 1e-5, 1e-3)), s16((1, terms, columns), _scale(rng, 1e-5, 1e-3))
    out = Quant.per_tensor(a.scale * b.scale * 32768 * np.sqrt(terms) * _scale(rng, 0.1, 2))
    return one_node(f"batch_matmul {number}", BatchMatmul(clamp=_clamp(rng)), [a, b], [out], rng, 4)


def joined(rng: np.random.Generator, number: int) -> Case:
    """Concatenation of tensors of several scales, one of them a constant now and then."""
    shapes, axis = [(2, int(rng.integers(1, 5)), 3) for _ in range(3)], 1
    kinds = [s16(shape, _scale(rng, 1e-4, 1e-3), int(rng.choice([0, 0, 7]))) for shape in shapes]
    content = rng.integers(-32768, 32768, shapes[1]).astype(np.int16)
    held = (kinds[1], content) if number % 2 else kinds[1]
    return one_node(f"concat {number}", Concat(axis=axis), [kinds[0], held, kinds[2]], [kinds[0].quant], rng, 4)


def slopes(rng: np.random.Generator, number: int) -> Case:
    """abs, leaky_relu and the functions that go through a table with interpolation."""
    scale = _scale(rng, 1e-5, 1e-3)
    ops: tuple[Op, ...] = (Abs(), LeakyRelu(0.1), LeakyRelu(-0.7), LeakyRelu(1.5), Exp(), Log(), Rsqrt(), Gelu())
    op = ops[number % len(ops)]
    out = Quant.per_tensor(scale * _scale(rng, 0.5, 3))
    return one_node(f"{op.name} {number}", op, [s16((400,), scale)], [out], rng, 3)


def reduction(rng: np.random.Generator, number: int) -> Case:
    """Means and sums over any axes."""
    shape = tuple(ints(rng, 1, 5, int(rng.integers(1, 7))))
    axes = tuple(axis for axis in range(len(shape)) if rng.random() < 0.5) or (0,)
    op = (Mean, ReduceSum)[number % 2](axes=axes, keep_dims=bool(rng.random() < 0.5))
    scale = _scale(rng, 1e-5, 1e-2)
    source = s8(shape, scale, int(rng.integers(-128, 128))) if number % 3 == 2 else s16(shape, scale)
    out = Quant.per_tensor(scale * _scale(rng, 0.3, 3), int(rng.integers(-9, 9)))
    return one_node(f"{op.name} {source.elem.value} {number}", op, [source], [out], rng, 5)


_KINDS = {
    Elem.S8: (1e-2, 1e-1, 128),
    Elem.U8: (1e-2, 1e-1, 255),
    Elem.S16: (1e-4, 1e-3, 200),
    Elem.S32: (1e-8, 1e-7, 0),
}


def _random_kind(rng: np.random.Generator, elem: Elem, shape: tuple[int, ...]) -> Type:
    low, high, zero = _KINDS[elem]
    first = -zero if elem in (Elem.S8, Elem.S16) else 0
    return Type(
        shape, elem, Quant.per_tensor(_scale(rng, low, high), int(rng.integers(first, zero + 1) if zero else 0))
    )


def conversion(rng: np.random.Generator, number: int) -> Case:
    """Quantize, dequantize and clamp between all pairs of types."""
    elems = list(_KINDS)
    source, target = elems[number // 6 % 4], elems[number // 24 % 4]
    shape = (3, 37)
    x, y = _random_kind(rng, source, shape), _random_kind(rng, target, shape)
    real = Type(shape, Elem.F32)
    match number % 6:
        case 0:
            return one_node(f"dequantize {number}", Dequantize(), [x], [real], rng)
        case 1:
            scaled = one_node(f"quantize real {number}", Quantize(target), [real], [y], rng, 5)
            scaled.feeds["x0"][1:] *= np.float32(40 * y.scale * min(32768, y.elem.limits[1]) / 128)
            return scaled
        case 2 if source in (Elem.S16, Elem.S8):
            kind = _random_kind(rng, source, shape)
            return one_node(f"clamp {number}", Clamp(*_clamp(rng)), [x], [kind.quant], rng, 5)
        case _:
            return one_node(f"quantize {number}", Quantize(target), [x], [y], rng, 5)
