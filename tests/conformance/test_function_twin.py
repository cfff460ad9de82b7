"""softmax, logistic and tanh against LiteRT's reference kernels, bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_float, assert_twin, s8
from tinydeploy.ops._op import Signature
from tinydeploy.ops.logistic import Logistic
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.tanh import Tanh

EVERY = np.arange(-128, 128).astype(np.int8)[None]


class TestSoftmax:
    @pytest.mark.parametrize(
        ("scale", "beta"), [(0.05, 1.0), (0.3, 1.0), (0.001, 1.0), (4.0, 1.0), (0.07, 0.5), (0.07, 2.0)]
    )
    @pytest.mark.parametrize("shape", [(1, 10), (200, 2), (1, 3, 5, 4), (1, 300), (50, 12), (3, 1)])
    def test_integer(self, scale, beta, shape):
        sig = Signature((s8(shape, scale, 4),), (s8(shape, 1 / 256, -128),))
        data = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
        assert_twin(Softmax(len(shape) - 1, beta), sig, data)

    @pytest.mark.parametrize("scale", [0.01, 0.117, 0.5])
    def test_every_difference(self, scale):
        data = np.stack([np.full(256, 127), np.arange(-128, 128)], axis=-1).astype(np.int8)
        sig = Signature((s8((256, 2), scale, 4),), (s8((256, 2), 1 / 256, -128),))
        assert_twin(Softmax(1), sig, data)

    @pytest.mark.parametrize("count", [255, 256, 257, 511])
    def test_many_equal_inputs(self, count):
        sig = Signature((s8((1, count), 0.1, 4),), (s8((1, count), 1 / 256, -128),))
        assert_twin(Softmax(1), sig, np.zeros((1, count), np.int8))

    def test_more_than_litert_can_add(self):
        """From a sum of 512 on LiteRT aborts; every share is below half a step then."""
        sig = Signature((s8((1, 4000), 0.1, 4),), (s8((1, 4000), 1 / 256, -128),))
        np.testing.assert_array_equal(Softmax(1).integer(sig, np.zeros((1, 4000), np.int8))[0], -128)

    @pytest.mark.parametrize("beta", [1.0, 0.3])
    def test_float(self, beta):
        assert_float(Softmax(1, beta), np.random.default_rng(2).normal(0, 9, (5, 17)).astype(np.float32))

    def test_another_axis_is_the_last_one_moved(self):
        kind, out = s8((2, 5, 3), 0.1, 4), s8((2, 5, 3), 1 / 256, -128)
        data = np.random.default_rng(3).integers(-128, 128, (2, 5, 3)).astype(np.int8)
        got = Softmax(1).integer(Signature((kind,), (out,)), data)[0]
        moved = Signature((s8((2, 3, 5), 0.1, 4),), (s8((2, 3, 5), 1 / 256, -128),))
        want = Softmax(2).integer(moved, data.transpose(0, 2, 1))[0]
        np.testing.assert_array_equal(got, want.transpose(0, 2, 1))


@pytest.mark.parametrize(("op", "out"), [(Logistic(), (1 / 256, -128)), (Tanh(), (1 / 128, 0))])
class TestTables:
    @pytest.mark.parametrize("scale", [0.05, 0.1, 0.02, 0.3, 1 / 16, 0.007, 3.0, 0.0313, 0.0787])
    @pytest.mark.parametrize("zero_point", [-128, 0, 17, 127])
    def test_integer(self, op, out, scale, zero_point):
        sig = Signature((s8((1, 256), scale, zero_point),), (s8((1, 256), *out),))
        assert_twin(op, sig, EVERY)

    def test_float(self, op, out):
        assert_float(op, np.linspace(-100, 100, 4001, dtype=np.float32)[None])
