"""add, sub, mul, clamp, quantize, dequantize and cast against LiteRT's reference kernels, bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_float, assert_twin, build, run, s8
from tests.conftest import need_module
from tinydeploy.ir.types import Elem, Quant, Type
from tinydeploy.ops._op import NO_CLAMP, Signature
from tinydeploy.ops.add import Add
from tinydeploy.ops.cast import Cast
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.quantize import Quantize
from tinydeploy.ops.sub import Sub

INF = float("inf")
FUSED = {"NONE": NO_CLAMP, "RELU": (0.0, INF), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
EVERY = np.arange(-128, 128).astype(np.int8)
PAIRS = (np.repeat(EVERY, 256)[None], np.tile(EVERY, 256)[None])


def scale(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def zero(rng):
    return int(rng.integers(-128, 128))


@pytest.mark.parametrize("op_class", [Add, Sub, Mul])
class TestBinary:
    def every_pair(self, op, first, second, out, fused="NONE"):
        shape = (1, 65536)
        sig = Signature((s8(shape, *first), s8(shape, *second)), (s8(shape, *out),))
        assert_twin(op, sig, *PAIRS, fused=fused)

    @pytest.mark.parametrize("fused", FUSED)
    @pytest.mark.parametrize("seed", range(3))
    def test_random_scales(self, op_class, fused, seed):
        rng = np.random.default_rng(seed)
        first, second = scale(rng, 0.01, 1), scale(rng, 0.01, 1)
        out = scale(rng, 0.05, 1) if op_class is Mul else max(first, second) * scale(rng, 0.7, 3)
        self.every_pair(
            op_class(clamp=FUSED[fused]), (first, zero(rng)), (second, zero(rng)), (out, zero(rng)), fused=fused
        )

    @pytest.mark.parametrize("second", [0.5, 0.25, 2.0])
    def test_ties_of_round_scales(self, op_class, second):
        self.every_pair(op_class(), (0.5, 3), (second, -3), (4.0, 3))

    @pytest.mark.parametrize(("a", "b"), [((1, 4, 4, 8), (8,)), ((1, 4, 4, 8), (1, 1, 1, 8)), ((2, 1, 3), (2, 5, 1))])
    def test_broadcast(self, op_class, a, b):
        rng = np.random.default_rng(1)
        out = np.broadcast_shapes(a, b)
        sig = Signature((s8(a, 0.5, 3), s8(b, 0.3, -3)), (s8(out, 0.9, 3),))
        arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in (a, b)]
        assert_twin(op_class(), sig, *arrays)

    def test_float(self, op_class):
        rng = np.random.default_rng(2)
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in ((1, 4, 8), (8,))]
        assert_float(op_class(clamp=(0.0, 6.0)), *arrays, fused="RELU6")


@pytest.mark.parametrize("bounds", [(0.0, INF), (0.0, 6.0), (-1.0, 1.0)])
class TestClamp:
    @pytest.mark.parametrize("out_scale", [0.05, 0.021, 0.2])
    @pytest.mark.parametrize("zero_point", [-128, -3, 100])
    def test_integer(self, bounds, out_scale, zero_point):
        sig = Signature((s8((1, 256), 0.05, zero_point),), (s8((1, 256), out_scale, -50),))
        assert_twin(Clamp(*bounds), sig, EVERY[None])

    def test_float(self, bounds):
        assert_float(Clamp(*bounds), np.linspace(-9, 9, 101, dtype=np.float32)[None])


class TestQuantize:
    @pytest.mark.parametrize("source", [(0.05, -128), (0.1, 0), (0.007, 17), (3.0, 127)])
    @pytest.mark.parametrize("out_scale", [0.05, 0.021, 0.5])
    def test_rescale(self, source, out_scale):
        sig = Signature((s8((1, 256), *source),), (s8((1, 256), out_scale, -5),))
        assert_twin(Quantize(), sig, EVERY[None])

    def test_from_float(self):
        rng = np.random.default_rng(1)
        halves = (np.arange(-300, 300) + 0.5) * 0.05
        x = np.concatenate([rng.normal(0, 3, 4000), halves]).astype(np.float32)[None]
        sig = Signature((Type(x.shape, Elem.F32),), (s8(x.shape, 0.05, 3),))
        assert_twin(Quantize(), sig, x)

    def test_what_no_int32_can_hold_saturates(self):
        x = np.array([[1e20, -1e20, np.inf, -np.inf, np.nan]], np.float32)
        sig = Signature((Type(x.shape, Elem.F32),), (s8(x.shape, 0.05, 3),))
        np.testing.assert_array_equal(Quantize().integer(sig, x)[0], [[127, -128, 127, -128, 3]])

    @pytest.mark.parametrize("kind", [(0.0371, 3), (1e-5, -128), (123.0, 127)])
    def test_dequantize(self, kind):
        sig = Signature((s8((1, 256), *kind),), (Type((1, 256), Elem.F32),))
        assert_twin(Dequantize(), sig, EVERY[None])


@pytest.mark.parametrize(
    ("source", "target"),
    [(Elem.F32, Elem.S32), (Elem.S32, Elem.F32), (Elem.F32, Elem.BOOL), (Elem.S64, Elem.S32), (Elem.S8, Elem.F32)],
)
def test_cast(source, target):
    need_module("ai_edge_litert")
    x = np.array([[-100.75, -1.5, -0.5, 0.0, 0.5, 1.5, 100.75]]).astype(source.dtype)
    sig = Signature((Type(x.shape, source),), (Type(x.shape, target),))
    want = run(build(Cast(target), sig, {}), x)[0]
    got = Cast(target).reference(x)[0]
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_integers_without_scale_wrap():
    kind = Type((1, 2), Elem.S32)
    a, b = np.array([[2**31 - 1, 5]], np.int32), np.array([[1, -7]], np.int32)
    sig = Signature((kind, kind), (kind,))
    assert_twin(Add(), sig, a, b)
    assert_twin(Sub(), sig, b, a)
    assert_twin(Mul(), sig, a, b)


def test_uint8_input_is_only_another_zero_point():
    """A uint8 tensor and the int8 tensor 128 below it mean the same."""
    u8 = Type((1, 256), Elem.U8, Quant.per_tensor(0.1, 131))
    want = Quantize().integer(Signature((s8((1, 256), 0.1, 3),), (s8((1, 256), 0.07, 5),)), EVERY[None])[0]
    got = Quantize().integer(
        Signature((u8,), (s8((1, 256), 0.07, 5),)), (EVERY.astype(int) + 128).astype(np.uint8)[None]
    )
    np.testing.assert_array_equal(got[0], want)
