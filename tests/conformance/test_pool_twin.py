"""Pooling and means against LiteRT's reference kernels, bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_float, assert_twin, s8, same_padding
from tinydeploy.ops._op import NO_CLAMP, Signature
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean

INF = float("inf")
FUSED = {"NONE": NO_CLAMP, "RELU": (0.0, INF), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}


@pytest.mark.parametrize("op_class", [AveragePool2d, MaxPool2d])
@pytest.mark.parametrize(("kernel", "stride", "same"), [((2, 2), (2, 2), 0), ((3, 3), (2, 2), 1), ((5, 4), (1, 1), 1)])
class TestPool:
    def make(self, op_class, kernel, stride, same, clamp=NO_CLAMP):
        padding = same_padding((9, 8), kernel, stride) if same else (0, 0, 0, 0)
        return op_class(kernel=kernel, stride=stride, padding=padding, clamp=clamp)

    @pytest.mark.parametrize("fused", FUSED)
    def test_integer(self, op_class, kernel, stride, same, fused):
        op = self.make(op_class, kernel, stride, same, FUSED[fused])
        x = s8((2, 9, 8, 7), 0.05, -3)
        sig = Signature((x,), (s8(op.infer((x,))[0].shape, 0.05, -3),))
        data = np.random.default_rng(1).integers(-128, 128, x.shape).astype(np.int8)
        assert_twin(op, sig, data, fused=fused)

    def test_float(self, op_class, kernel, stride, same):
        data = np.random.default_rng(2).normal(size=(2, 9, 8, 7)).astype(np.float32)
        assert_float(self.make(op_class, kernel, stride, same), data)


def test_average_of_ties():
    """Sums of both signs whose quotient ends in a half: away from zero."""
    op = AveragePool2d(kernel=(1, 2), stride=(1, 2))
    data = np.stack([np.arange(-60, 60), np.arange(-60, 60)[::-1] + 1], axis=-1).reshape(1, 1, 240, 1)
    kind = s8((1, 1, 240, 1), 0.1, 5)
    sig = Signature((kind,), (s8((1, 1, 120, 1), 0.1, 5),))
    assert_twin(op, sig, data.astype(np.int8))


MEANS = [
    ((1, 2), True, (1, 7, 5, 33)),
    ((1, 2), False, (2, 8, 8, 64)),
    ((1,), False, (1, 5, 6)),
    ((3,), True, (1, 3, 4, 100)),
    ((0, 1), False, (3, 4)),
    ((1, 2), False, (1, 96, 96, 3)),
]


@pytest.mark.parametrize(("axes", "keep_dims", "shape"), MEANS)
class TestMean:
    @pytest.mark.parametrize("out_scale", [0.05, 0.02, 0.3, 1e-4, 1e9])
    def test_integer(self, axes, keep_dims, shape, out_scale):
        op, x = Mean(axes, keep_dims), s8(shape, 0.05, 9)
        sig = Signature((x,), (s8(op.infer((x,))[0].shape, out_scale, -11),))
        assert_twin(op, sig, np.random.default_rng(3).integers(-128, 128, shape).astype(np.int8))

    def test_float(self, axes, keep_dims, shape):
        assert_float(Mean(axes, keep_dims), np.random.default_rng(4).normal(size=shape).astype(np.float32))
