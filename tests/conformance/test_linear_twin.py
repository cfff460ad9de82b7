"""Integer twins of conv2d, depthwise_conv2d and fully_connected against LiteRT's reference kernels, bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_float, assert_twin, s8, same_padding
from tinydeploy.ir.types import Elem, Quant, Type
from tinydeploy.ops._op import NO_CLAMP, Signature
from tinydeploy.ops.batch_matmul import BatchMatmul
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.transpose_conv import TransposeConv2d

INF = float("inf")
FUSED = {"NONE": NO_CLAMP, "RELU": (0.0, INF), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
GEOMETRY = {
    "plain": {},
    "valid": {"same": False},
    "stride": {"stride": (2, 2)},
    "uneven": {"stride": (2, 1), "kernel": (5, 4)},
    "dilated": {"dilation": (2, 2)},
    "pointwise": {"kernel": (1, 1)},
}


def log_uniform(rng, low, high, size=None):
    return np.exp(rng.uniform(np.log(low), np.log(high), size)).astype(np.float32)


def linear_case(rng, op, x_shape, w_shape, axis, *, per_channel=True, extreme=False):
    """Signature and arrays with random scales; ``extreme``: biases up to 2**31 and multipliers down to 2**-40."""
    outputs = w_shape[axis]
    low, high = (1e-12, 50.0) if extreme else (1e-4, 0.02)
    w_scales = log_uniform(rng, low, high, outputs if per_channel else 1)
    x_scale = log_uniform(rng, 0.001, 1.0)
    out_scale = float(x_scale * np.median(w_scales) * 50 * log_uniform(rng, 0.1, 10))
    weights = Quant.per_channel(w_scales, axis) if per_channel else Quant.per_tensor(w_scales[0])
    bias = Quant.per_channel(x_scale * w_scales, 0) if per_channel else Quant.per_tensor(x_scale * w_scales[0])
    kinds = (
        s8(x_shape, x_scale, rng.integers(-128, 128)),
        Type(w_shape, Elem.S8, weights),
        Type((outputs,), Elem.S32, bias),
    )
    sig = Signature(kinds, (s8(op.infer(kinds)[0].shape, out_scale, rng.integers(-128, 128)),))
    limit = 2**31 if extreme else 4000
    return sig, (
        rng.integers(-128, 128, x_shape).astype(np.int8),
        rng.integers(-128, 128, w_shape).astype(np.int8),
        rng.integers(-limit, limit, outputs).astype(np.int32),
    )


def conv(rng, *, depthwise, stride=(1, 1), dilation=(1, 1), kernel=(3, 3), same=True, clamp=NO_CLAMP, **case):
    size, channels, outputs = (9, 8), 5, 6
    padding = same_padding(size, kernel, stride, dilation) if same else (0, 0, 0, 0)
    shape = (2, *size, channels)
    if depthwise:
        op = DepthwiseConv2d(stride=stride, dilation=dilation, padding=padding, clamp=clamp)
        return op, *linear_case(rng, op, shape, (1, *kernel, channels), 3, **case)
    op = Conv2d(stride=stride, dilation=dilation, padding=padding, clamp=clamp)
    return op, *linear_case(rng, op, shape, (outputs, *kernel, channels), 0, **case)


@pytest.mark.parametrize("depthwise", [False, True])
class TestConvolution:
    @pytest.mark.parametrize("fused", FUSED)
    @pytest.mark.parametrize("per_channel", [False, True])
    def test_clamp(self, depthwise, fused, per_channel):
        rng = np.random.default_rng(1)
        op, sig, arrays = conv(rng, depthwise=depthwise, clamp=FUSED[fused], per_channel=per_channel)
        assert_twin(op, sig, *arrays, constants=(1, 2), fused=fused)

    @pytest.mark.parametrize("geometry", GEOMETRY)
    def test_geometry(self, depthwise, geometry):
        rng = np.random.default_rng(2)
        op, sig, arrays = conv(rng, depthwise=depthwise, **GEOMETRY[geometry])
        assert_twin(op, sig, *arrays, constants=(1, 2))

    @pytest.mark.parametrize("seed", range(12))
    def test_huge_biases_and_odd_multipliers(self, depthwise, seed):
        """Accumulators that wrap, left shifts that wrap, multipliers flushed to zero."""
        rng = np.random.default_rng(seed)
        op, sig, arrays = conv(rng, depthwise=depthwise, extreme=True, per_channel=seed % 3 > 0)
        assert_twin(op, sig, *arrays, constants=(1, 2))

    def test_no_bias(self, depthwise):
        rng = np.random.default_rng(3)
        op, sig, arrays = conv(rng, depthwise=depthwise)
        without = Signature((*sig.inputs[:2], None), sig.outputs)
        if depthwise:  # LiteRT's int8 convolution insists on a bias
            assert_twin(op, without, *arrays[:2], None, constants=(1, 2))
        zero = op.integer(sig, *arrays[:2], np.zeros_like(arrays[2]))
        np.testing.assert_array_equal(op.integer(without, *arrays[:2], None), zero)

    @pytest.mark.parametrize("fused", FUSED)
    def test_float(self, depthwise, fused):
        rng = np.random.default_rng(4)
        op, sig, _ = conv(rng, depthwise=depthwise, stride=(2, 1), clamp=FUSED[fused])
        arrays = [rng.normal(size=kind.shape).astype(np.float32) for kind in sig.inputs]
        assert_float(op, *arrays, constants=(1, 2), fused=fused)


@pytest.mark.parametrize(("channels", "multiplier"), [(5, 3), (1, 8)])
def test_depth_multiplier(channels, multiplier):
    rng = np.random.default_rng(5)
    op = DepthwiseConv2d(multiplier=multiplier)
    sig, arrays = linear_case(rng, op, (1, 6, 7, channels), (1, 3, 3, channels * multiplier), 3)
    assert_twin(op, sig, *arrays, constants=(1, 2))


@pytest.mark.parametrize("fused", FUSED)
@pytest.mark.parametrize("seed", range(6))
def test_transpose_conv(seed, fused):
    """SAME and VALID, biases that wrap, multipliers flushed to zero; every other case without bias."""
    rng = np.random.default_rng(seed)
    size, kernel, stride = (5, 4), ((3, 3), (4, 2), (2, 5))[seed % 3], ((1, 1), (2, 2), (2, 3))[seed % 3]
    padding = (0, 0, 0, 0)
    if seed % 2:
        cut = [max(k - s, 0) for k, s in zip(kernel, stride, strict=True)]  # the result has size * stride positions
        padding = (cut[0] // 2, cut[0] - cut[0] // 2, cut[1] // 2, cut[1] - cut[1] // 2)
    extra = tuple(max(s - k, 0) if seed % 2 else 0 for k, s in zip(kernel, stride, strict=True))
    op = TransposeConv2d(stride=stride, padding=padding, output_padding=extra, clamp=FUSED[fused])
    sig, arrays = linear_case(rng, op, (2, *size, 5), (6, *kernel, 5), 0, extreme=seed > 2, per_channel=seed != 4)
    if seed % 2 and seed != 5:
        sig, arrays = Signature((*sig.inputs[:2], None), sig.outputs), (*arrays[:2], None)
    assert_twin(op, sig, *arrays, constants=(1, 2), fused=fused)


@pytest.mark.parametrize("seed", range(8))
def test_batch_matmul(seed):
    """Broadcast leading axes, zero points at the ends, ratios from tiny to huge, a constant operand now and then."""
    rng = np.random.default_rng(seed)
    shapes = [((2, 3, 40), (2, 40, 5)), ((1, 2, 3, 40), (3, 1, 40, 5)), ((4, 40), (40, 7))][seed % 3]
    zeros = [int(rng.choice([-128, 127, 0, 9])) for _ in range(3)]
    scales = log_uniform(rng, 0.001, 1.0, 2)
    out = float(scales[0] * scales[1] * 40 * 40 * log_uniform(rng, 1e-3, 1e3))
    kinds = tuple(s8(shape, scale, zero) for shape, scale, zero in zip(shapes, scales, zeros, strict=False))
    op = BatchMatmul()
    sig = Signature(kinds, (s8(op.infer(kinds)[0].shape, out, zeros[2]),))
    arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    assert_twin(op, sig, *arrays, constants=(1,) if seed % 4 == 3 else ())


def test_groups():
    rng = np.random.default_rng(6)
    op = Conv2d(groups=3)
    sig, arrays = linear_case(rng, op, (1, 6, 7, 6), (9, 3, 3, 2), 0)
    assert_twin(op, sig, *arrays, constants=(1, 2))


def test_long_sums_leave_float32():
    """2**14 products of the largest integers: exact only in float64."""
    op = FullyConnected()
    kinds = (s8((1, 16384), 1.0, 127), s8((3, 16384), 1.0), Type((3,), Elem.S32, Quant.per_tensor(1.0)))
    sig = Signature(kinds, (s8((1, 3), 7001377.0),))
    weights = np.stack([np.full(16384, -128), np.full(16384, 127), np.arange(16384) % 255 - 127]).astype(np.int8)
    x = np.full((1, 16384), -128, np.int8)
    assert_twin(op, sig, x, weights, np.array([1, -1, 3], np.int32), constants=(1, 2))


class TestFullyConnected:
    @pytest.mark.parametrize("fused", FUSED)
    @pytest.mark.parametrize("per_channel", [False, True])
    def test_clamp(self, fused, per_channel):
        rng = np.random.default_rng(7)
        op = FullyConnected(clamp=FUSED[fused])
        sig, arrays = linear_case(rng, op, (50, 32), (16, 32), 0, per_channel=per_channel)
        assert_twin(op, sig, *arrays, constants=(1, 2), fused=fused)

    def test_rank_three_and_no_bias(self):
        rng = np.random.default_rng(8)
        op = FullyConnected()
        sig, arrays = linear_case(rng, op, (2, 5, 12), (7, 12), 0)
        sig = Signature((*sig.inputs[:2], None), sig.outputs)
        assert_twin(op, sig, *arrays[:2], None, constants=(1, 2))

    def sweep(self, accumulators, x_scale, w_scale, out_scale):
        """Every accumulator given is a bias; the input is zero."""
        outputs = len(accumulators)
        kinds = (
            s8((1, 1), x_scale),
            s8((outputs, 1), w_scale),
            Type((outputs,), Elem.S32, Quant.per_tensor(np.float32(x_scale) * np.float32(w_scale))),
        )
        sig = Signature(kinds, (s8((1, outputs), out_scale),))
        weights = np.ones((outputs, 1), np.int8)
        assert_twin(
            FullyConnected(), sig, np.zeros((1, 1), np.int8), weights, accumulators.astype(np.int32), constants=(1, 2)
        )

    @pytest.mark.parametrize("w_scale", [0.5, 0.25, 0.75, 1.5])
    def test_ties_go_away_from_zero(self, w_scale):
        self.sweep(np.arange(-300, 300), 1.0, w_scale, 1.0)

    @pytest.mark.parametrize("seed", range(10))
    def test_accumulators_beside_every_threshold(self, seed):
        rng = np.random.default_rng(seed)
        x_scale, w_scale, out_scale = (float(log_uniform(rng, 0.01, limit)) for limit in (1.0, 0.1, 1e4))
        ratio = x_scale * w_scale / out_scale
        near = np.rint((np.arange(-130, 130) + 0.5) / ratio)[:, None] + np.arange(-2, 3)
        self.sweep(np.clip(near.ravel(), -(2**31), 2**31 - 1).astype(np.int64), x_scale, w_scale, out_scale)

    def test_sums_wrap(self):
        op = FullyConnected()
        kinds = (s8((1, 4), 1.0), s8((2, 4), 1.0), Type((2,), Elem.S32, Quant.per_tensor(1.0)))
        sig = Signature(kinds, (s8((1, 2), 1e8),))
        weights = np.array([[127] * 4, [-128] * 4], np.int8)
        bias = np.array([2**31 - 1, -(2**31)], np.int32)
        assert_twin(op, sig, np.full((1, 4), 127, np.int8), weights, bias, constants=(1, 2))

    def test_float(self):
        rng = np.random.default_rng(9)
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in ((3, 32), (5, 32), (5,))]
        assert_float(FullyConnected(clamp=(0.0, INF)), *arrays, constants=(1, 2), fused="RELU")
