"""Operators on int16 activations against LiteRT's reference kernels, bit for bit."""

import dataclasses

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_twin, s8
from tinydeploy.ir.types import Elem, Quant, Type
from tinydeploy.ops._op import NO_CLAMP, Signature
from tinydeploy.ops.activation import Gelu, LeakyRelu
from tinydeploy.ops.add import Add
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.batch_matmul import BatchMatmul
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.logistic import Logistic
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.pad import Pad
from tinydeploy.ops.quantize import Quantize
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.sub import Sub
from tinydeploy.ops.tanh import Tanh
from tinydeploy.ops.transpose_conv import TransposeConv2d
from tinydeploy.ops.unary import Abs, Exp, Log, Rsqrt

INF = float("inf")
FUSED = {"NONE": NO_CLAMP, "RELU": (0.0, INF), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
EVERY = np.arange(-32768, 32768).astype(np.int16)[None]
UNIT = 2.0**-15


def s16(shape, scale) -> Type:
    return Type(tuple(shape), Elem.S16, Quant.per_tensor(scale))


def s32(shape, scale) -> Type:
    return Type(tuple(shape), Elem.S32, Quant.per_tensor(scale))


def data(rng, shape) -> np.ndarray:
    """int16 over the whole range with both ends."""
    values = rng.integers(-32768, 32768, shape).astype(np.int16)
    values.ravel()[:4] = [-32768, 32767, 0, -1]
    return values


@pytest.mark.parametrize("op_class", [Add, Sub, Mul])
class TestBinary:
    @pytest.mark.parametrize("fused", FUSED)
    @pytest.mark.parametrize("seed", range(3))
    def test_random_scales(self, op_class, fused, seed):
        rng = np.random.default_rng(seed)
        first, second = (float(v) for v in np.exp(rng.uniform(-9, -5, 2)))
        largest = first * second * 32768 if op_class is Mul else first + second
        out = largest * float(np.exp(rng.uniform(-1, 1)))
        shape = (1, 20000)
        sig = Signature((s16(shape, first), s16(shape, second)), (s16(shape, out),))
        assert_twin(op_class(clamp=FUSED[fused]), sig, data(rng, shape), data(rng, shape)[:, ::-1], fused=fused)

    def test_broadcast(self, op_class):
        rng = np.random.default_rng(1)
        sig = Signature((s16((1, 4, 4, 8), 1e-3), s16((8,), 4e-4)), (s16((1, 4, 4, 8), 3e-3),))
        assert_twin(op_class(), sig, data(rng, (1, 4, 4, 8)), data(rng, (8,)))


@pytest.mark.parametrize("shift", range(5))
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("op_class", [Add, Sub])
def test_sums_of_powers_of_two(op_class, swapped, shift):
    """``pot_scale_int16``: one operand is shifted, which is not what the multipliers give."""
    rng = np.random.default_rng(shift)
    shape = (1, 20000)
    kinds = [s16(shape, 2.0**-10), s16(shape, 2.0 ** -(10 + shift))]
    if swapped:
        kinds.reverse()
    sig = Signature(tuple(kinds), (s16(shape, 2.0**-10),))
    arrays = [data(rng, shape), data(rng, shape)[:, ::-1].copy()]
    assert_twin(op_class(pot_scale_int16=True), sig, *arrays)


LAYERS = {
    "conv": (Conv2d(padding=(1, 1, 1, 1)), (1, 7, 6, 5), (8, 3, 3, 5), 0),
    "strided": (Conv2d(stride=(2, 2), dilation=(1, 1)), (1, 9, 8, 3), (4, 2, 3, 3), 0),
    "grouped": (Conv2d(groups=2), (1, 5, 5, 8), (6, 3, 3, 4), 0),
    "depthwise": (DepthwiseConv2d(padding=(1, 1, 1, 1)), (1, 7, 6, 5), (1, 3, 3, 5), 3),
    "multiplied": (DepthwiseConv2d(multiplier=2), (1, 7, 6, 5), (1, 3, 2, 10), 3),
    "dense": (FullyConnected(), (3, 90), (10, 90), 0),
    "long dense": (FullyConnected(), (2, 3000), (6, 3000), 0),
}


TRANSPOSED = {
    "valid": (TransposeConv2d(stride=(2, 2)), (1, 4, 5, 3), (4, 3, 3, 3), 0),
    "strips": (TransposeConv2d(stride=(1, 2)), (1, 2, 9, 4), (3, 3, 4, 4), 0),
    "same": (TransposeConv2d(stride=(2, 2), padding=(0, 1, 0, 1)), (1, 4, 5, 3), (4, 3, 3, 3), 0),
}
LAYERS |= TRANSPOSED


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fused", ["NONE", "RELU", "RELU6"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_with_int8_weights(name, fused, seed):
    """A bias of 64 bits, now and then far beyond int32."""
    op, x_shape, w_shape, axis = LAYERS[name]
    rng = np.random.default_rng([seed, len(name)])
    op = dataclasses.replace(op, clamp=FUSED[fused])
    outputs = w_shape[axis]
    x, weights = data(rng, x_shape), rng.integers(-127, 128, w_shape).astype(np.int8)
    bias = rng.integers(-(2**26), 2**26, outputs) if seed else rng.integers(-(2**38), 2**38, outputs)
    source = s16(x_shape, float(np.exp(rng.uniform(-9, -5))))
    kind = Type(w_shape, Elem.S8, Quant.per_channel(np.exp(rng.uniform(-5, -2, outputs)), axis))
    scales = source.scale * kind.quant.scales()
    bias_kind = Type((outputs,), Elem.S64, Quant.per_channel(scales, 0))
    terms = weights.size // outputs
    reach = float(scales.max()) * (127 * 32768 * np.sqrt(terms) + float(np.abs(bias).max()))
    result = s16(op.infer((source, kind, bias_kind))[0].shape, reach / 32768 * float(np.exp(rng.uniform(-1, 0))))
    sig = Signature((source, kind, bias_kind), (result,))
    assert_twin(op, sig, x, weights, bias, constants=(1, 2), fused=fused)


@pytest.mark.parametrize(("a", "b"), [((2, 3, 40), (2, 40, 5)), ((1, 4, 300), (1, 300, 2))])
@pytest.mark.parametrize("out", [0.02, 0.3])
def test_batch_matmul(a, b, out):
    rng = np.random.default_rng(8)
    op, kinds = BatchMatmul(), (s16(a, 3e-4), s16(b, 7e-4))
    sig = Signature(kinds, (s16(op.infer(kinds)[0].shape, out),))
    assert_twin(op, sig, data(rng, a), data(rng, b))


@pytest.mark.parametrize("scale", [2.0**-12, 2.0**-10, 2.0**-13, 0.0003, 0.001, 0.01, 1e-5])
@pytest.mark.parametrize("op", [Logistic(), Tanh()], ids=lambda op: op.name)
def test_every_input_of_logistic_and_tanh(op, scale):
    assert_twin(op, Signature((s16(EVERY.shape, scale),), (s16(EVERY.shape, UNIT),)), EVERY)


@pytest.mark.parametrize("depth", [1, 2, 10, 300])
@pytest.mark.parametrize(("scale", "beta"), [(3e-4, 1.0), (1e-3, 1.0), (1e-4, 0.5), (2.0**-11, 2.0)])
def test_softmax(depth, scale, beta):
    rng = np.random.default_rng(depth)
    shape = (200, depth)
    x = np.clip(rng.normal(0, 2 / scale, shape), -32768, 32767).astype(np.int16)
    x[:50] = data(rng, (50, depth)) if depth > 3 else x[:50]
    assert_twin(Softmax(axis=1, beta=beta), Signature((s16(shape, scale),), (s16(shape, UNIT),)), x)


@pytest.mark.parametrize("bounds", [(0.0, INF), (0.0, 6.0)])  # LiteRT has no int16 RELU_N1_TO_1
@pytest.mark.parametrize("out_scale", [1e-3, 4e-4, 3e-3])
def test_clamp(bounds, out_scale):
    sig = Signature((s16(EVERY.shape, 1e-3),), (s16(EVERY.shape, out_scale),))
    assert_twin(Clamp(*bounds), sig, EVERY)


@pytest.mark.parametrize("fused", FUSED)
@pytest.mark.parametrize(("kernel", "padding"), [((2, 2), (0, 0, 0, 0)), ((3, 3), (1, 1, 1, 1))])
@pytest.mark.parametrize("op_class", [AveragePool2d, MaxPool2d])
def test_pools(op_class, kernel, padding, fused):
    rng = np.random.default_rng(2)
    x = data(rng, (1, 8, 8, 5))
    op = op_class(kernel=kernel, stride=(1, 1), padding=padding, clamp=FUSED[fused])
    kind = s16(x.shape, 5e-4)
    out = Type(op.infer((kind,))[0].shape, Elem.S16, kind.quant)
    assert_twin(op, Signature((kind,), (out,)), x, fused=fused)


@pytest.mark.parametrize("axes", [(1, 2), (1,), (3,), (1, 3)])
@pytest.mark.parametrize("out_scale", [1e-3, 3e-4, 2e-3])
def test_mean(axes, out_scale):
    rng = np.random.default_rng(3)
    x = data(rng, (1, 7, 5, 6))
    op, kind = Mean(axes=axes), s16(x.shape, 1e-3)
    assert_twin(op, Signature((kind,), (s16(op.infer((kind,))[0].shape, out_scale),)), x)


class TestQuantize:
    @pytest.mark.parametrize("out_scale", [1e-3, 4e-4, 3e-3])
    def test_int16_to_int16(self, out_scale):
        assert_twin(Quantize(Elem.S16), Signature((s16(EVERY.shape, 1e-3),), (s16(EVERY.shape, out_scale),)), EVERY)

    @pytest.mark.parametrize(("out_scale", "zero_point"), [(0.2, -3), (0.13, 100)])
    def test_int16_to_int8(self, out_scale, zero_point):
        assert_twin(Quantize(), Signature((s16(EVERY.shape, 1e-3),), (s8(EVERY.shape, out_scale, zero_point),)), EVERY)

    def test_int8_to_int16(self):
        x = np.arange(-128, 128).astype(np.int8)[None]
        sig = Signature((s8(x.shape, 0.1, 7),), (s16(x.shape, 4e-4),))
        assert_twin(Quantize(Elem.S16), sig, x)

    def test_int32_to_int16(self):
        rng = np.random.default_rng(4)
        x = rng.integers(-(2**31), 2**31, (1, 5000)).astype(np.int32)
        sig = Signature((s32(x.shape, 1.49e-7),), (s16(x.shape, 0.00922),))
        assert_twin(Quantize(Elem.S16), sig, x)

    def test_int16_to_int32(self):
        assert_twin(Quantize(Elem.S32), Signature((s16(EVERY.shape, 1e-3),), (s32(EVERY.shape, 1e-7),)), EVERY)

    def test_float_to_int16(self):
        rng = np.random.default_rng(5)
        halves = (np.arange(-300, 300) + 0.5) * 1e-3
        x = np.concatenate([rng.normal(0, 20, 4000), halves]).astype(np.float32)[None]
        assert_twin(Quantize(Elem.S16), Signature((Type(x.shape, Elem.F32),), (s16(x.shape, 1e-3),)), x)

    def test_dequantize(self):
        assert_twin(Dequantize(), Signature((s16(EVERY.shape, 0.000123),), (Type(EVERY.shape, Elem.F32),)), EVERY)


def test_pad_and_concat():
    rng = np.random.default_rng(6)
    x = data(rng, (1, 3, 4, 5))
    kind = s16(x.shape, 1e-3)
    pad = Pad(padding=((0, 0), (1, 2), (0, 1), (0, 0)))
    assert_twin(pad, Signature((kind,), (s16((1, 6, 5, 5), 1e-3),)), x)
    assert_twin(Concat(axis=3), Signature((kind, kind), (s16((1, 3, 4, 10), 1e-3),)), x, x[:, ::-1])


POSITIVE = np.clip(np.abs(EVERY.astype(int)), 1, 32767).astype(np.int16)
FUNCTIONS = [
    (Exp(), EVERY, 5e-4),
    (Log(), EVERY, 3e-4),
    (Exp(), EVERY, 1e30),
    (Log(), POSITIVE, 1e-4),
    (Rsqrt(), POSITIVE, 2e-3),
    (Gelu(), EVERY, 3e-4),
    (Gelu(), EVERY, 1e-4),
    (Gelu(approximate=True), EVERY, 3e-4),
    (Abs(), EVERY, 3e-4),
    (LeakyRelu(0.1), EVERY, 3e-4),
    (LeakyRelu(0.3), EVERY, 1e-4),
]


@pytest.mark.parametrize("source", [3e-4, 1e-4, 2.0**-10, 0.01])
@pytest.mark.parametrize(("op", "x", "out"), FUNCTIONS)
def test_every_input_of_a_function(op, x, out, source):
    assert_twin(op, Signature((s16(x.shape, source),), (s16(x.shape, out),)), x)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("op_class", [Abs, LeakyRelu])
def test_slopes_between_random_scales(op_class, seed):
    """The ratios are float32 numbers: some results are off by one where they are not."""
    rng = np.random.default_rng(seed)
    scales = np.exp(rng.uniform(-9, -6, 2))
    op = Abs() if op_class is Abs else LeakyRelu(float(np.float32(rng.uniform(0.05, 0.9))))
    assert_twin(op, Signature((s16(EVERY.shape, scales[0]),), (s16(EVERY.shape, scales[1]),)), EVERY)


@pytest.mark.parametrize("out", [0.05, 0.021])
@pytest.mark.parametrize("op", [Abs(), LeakyRelu(0.1), LeakyRelu(0.3)])
def test_every_int8_of_a_function_with_slopes(op, out):
    """These have no table in TFLite."""
    x = np.arange(-128, 128).astype(np.int8)[None]
    assert_twin(op, Signature((s8(x.shape, 0.05, 7),), (s8(x.shape, out, -20),)), x)
