"""Resizing: C equals the twin, and the twin LiteRT's kernels."""

import dataclasses

import numpy as np
import pytest

from tests.conformance.harness import check, one_node, s8
from tests.conformance.tflite_build import Reference
from tests.conftest import need_module
from tests.unit.frontends.tflite_build import TfliteModel
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops._op import Signature
from tinydeploy.ops.resample import Resample
from tinydeploy.ops.resize_bilinear import ResizeBilinear

MODES = ((False, False), (True, False), (False, True))
SIZES = (((3, 4), (6, 8)), ((5, 7), (3, 2)), ((4, 4), (7, 9)), ((1, 1), (3, 3)), ((6, 5), (1, 1)), ((2, 3), (11, 13)))


def resize_cases(rng):
    cases = []
    for source, size in SIZES:
        for align, centers in MODES:
            op = ResizeBilinear(size, align, centers)
            shape = (2, *source, 3)
            cases.append(one_node(f"{op}", op, [Type(shape, Elem.F32)], [None], rng))
            cases.append(one_node(f"{op} s8", op, [s8(shape, 0.1, 3)], [Quant.per_tensor(0.1, 3)], rng))
            kind = dataclasses.replace(s8(shape, 0.1), elem=Elem.S16)
            cases.append(one_node(f"{op} s16", op, [kind], [Quant.per_tensor(0.1)], rng))
    for axis in range(3):
        for taps in (1, 2, 4):
            x, rows = Type((3, 4, 5), Elem.F32), int(rng.integers(1, 7))
            indices = (Type((rows, taps), Elem.S32), rng.integers(-6, 6, (rows, taps)).astype(np.int32))
            weights = (Type((rows, taps), Elem.F32), rng.normal(size=(rows, taps)).astype(np.float32))
            cases.append(one_node(f"resample {axis} {taps}", Resample(axis), [x, indices, weights], [None], rng))
    return cases


def test_c(tmp_path):
    check(resize_cases(np.random.default_rng(1)), tmp_path)


@pytest.mark.parametrize("elem", [Elem.F32, Elem.S8, Elem.S16])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_litert(elem, mode, source, size):
    need_module("ai_edge_litert")
    rng = np.random.default_rng(2)
    op = ResizeBilinear(size, *mode)
    quant = None if elem is Elem.F32 else Quant.per_tensor(0.1, 3 if elem is Elem.S8 else 0)
    kind = Type((1, *source, 3), elem, quant)
    sig = Signature((kind,), (dataclasses.replace(op.infer((kind,))[0], quant=quant),))
    model, scale = TfliteModel(), {} if quant is None else {"scale": 0.1, "zero": quant.zero_point[0]}
    x, y = model.tensor(kind.shape, elem.value, **scale), model.tensor(sig.outputs[0].shape, elem.value, **scale)
    shape = model.constant(np.array(size, "i4"))
    version = 3 if elem is not Elem.F32 else 1
    options = {"align_corners": mode[0], "half_pixel_centers": mode[1]}
    model.op("RESIZE_BILINEAR", [x, shape], [y], version=version, **options)
    if elem is Elem.F32:
        data = rng.normal(size=kind.shape).astype(np.float32)
    else:
        data = rng.integers(*elem.limits, kind.shape, endpoint=True).astype(elem.dtype)
    (wanted,) = Reference(model.to_bytes([x], [y]))(data)
    if elem is Elem.F32:
        np.testing.assert_allclose(op.reference(data)[0], wanted, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(op.integer(sig, data)[0], wanted)
