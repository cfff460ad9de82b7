"""Operators that only move elements, against LiteRT's reference kernels."""

import numpy as np
import pytest

from tests.conformance.tflite_build import assert_float, assert_twin, s8
from tinydeploy.ops._op import Signature
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.pad import Pad
from tinydeploy.ops.reshape import Reshape
from tinydeploy.ops.split import Split
from tinydeploy.ops.strided_slice import StridedSlice
from tinydeploy.ops.transpose import Transpose

SHAPE = (2, 3, 4, 5)
CASES = {
    "pad": Pad(((0, 0), (1, 2), (0, 3), (0, 0))),
    "pad batch": Pad(((1, 0), (0, 0), (0, 0), (2, 2))),
    "concat channels": (Concat(3), 3),
    "concat rows": (Concat(1), 2),
    "split": Split(3, (2, 3)),
    "split rows": Split(1, (1, 1, 1)),
    "transpose": Transpose((0, 3, 1, 2)),
    "transpose all": Transpose((3, 2, 1, 0)),
    "reshape": Reshape((2, 60)),
    "slice": StridedSlice((0, 1, 0, 1), (2, 3, 4, 4), (1, 1, 2, 2)),
}


@pytest.mark.parametrize("name", CASES)
class TestMovement:
    def case(self, name):
        case = CASES[name]
        return case if isinstance(case, tuple) else (case, 1)

    def test_integer(self, name):
        op, count = self.case(name)
        kind = s8(SHAPE, 0.05, 7)
        outputs = tuple(s8(t.shape, 0.05, 7) for t in op.infer((kind,) * count))
        rng = np.random.default_rng(1)
        data = [rng.integers(-128, 128, SHAPE).astype(np.int8) for _ in range(count)]
        assert_twin(op, Signature((kind,) * count, outputs), *data)

    def test_float(self, name):
        op, count = self.case(name)
        rng = np.random.default_rng(2)
        assert_float(op, *[rng.normal(size=SHAPE).astype(np.float32) for _ in range(count)])


def test_slice_backwards():
    """TFLite writes "down to and with index 0" as an end that lies before the axis."""
    op = StridedSlice((0, 2), (2, -1), (1, -1))
    data = np.arange(6, dtype=np.int8).reshape(2, 3)
    kind = s8((2, 3), 0.1)
    np.testing.assert_array_equal(op.integer(Signature((kind,), (kind,)), data)[0], data[:, ::-1])


def test_concat_brings_other_scales_to_the_output():
    kinds = (s8((1, 3), 0.1, 0), s8((1, 3), 0.05, 10))
    data = (np.array([[1, 2, -3]], np.int8), np.array([[14, 11, 127]], np.int8))
    sig = Signature(kinds, (s8((1, 6), 0.1, 0),))
    np.testing.assert_array_equal(Concat(1).integer(sig, *data)[0], [[1, 2, -3, 2, 1, 59]])


@pytest.mark.parametrize(
    ("value", "want"), [(0.0, 7), (1.0, 23), (-1e9, -128), (float("inf"), 127), (0.03125, 8), (-0.03125, 6)]
)
def test_pad_value_in_the_scale(value, want):
    assert Pad(((1, 1),), value).pad_integer(s8((3,), 0.0625, 7)) == want


def test_a_scalar_has_no_axis_to_pad():
    kind = s8((), 0.1)
    assert Pad(()).integer(Signature((kind,), (kind,)), np.array(5, np.int8))[0] == 5
    assert Pad(()).reference(np.float32(2))[0] == 2
