"""td_math*.c against numerics/float32.py in every bit, and that against NumPy in extended precision."""

import ctypes
import functools
import subprocess

import numpy as np
import pytest

from tests.conftest import REPO, need_tool
from tinydeploy.numerics import float32

UNARY = [name for name in float32.__all__ if name not in ("atan2", "pow")]
BINARY = ["atan2", "pow"]
SPECIAL = [0.0, 0.5, 1.0, 2.0, 3.0, 1.5, 1e-45, 1.17549435e-38, 3e38, 2.0**23, 2.0**24, 2.0**24 - 1, np.inf]
REFERENCE = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
REFERENCE |= {"atanh": "arctanh"}
BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")]


def library(folder, compiler, level):
    need_tool(compiler)
    lines = ['#include "td_math.h"']
    for name in UNARY:
        lines.append(f"void all_{name}(const float *x, float *y, int n);")
        lines.append(f"void all_{name}(const float *x, float *y, int n)")
        lines.append(f"{{ for (int i = 0; i < n; i++) {{ y[i] = td_{name}f(x[i]); }} }}")
    for name in BINARY:
        lines.append(f"void all_{name}(const float *x, const float *z, float *y, int n);")
        lines.append(f"void all_{name}(const float *x, const float *z, float *y, int n)")
        lines.append(f"{{ for (int i = 0; i < n; i++) {{ y[i] = td_{name}f(x[i], z[i]); }} }}")
    (folder / "all.c").write_text("\n".join([*lines, ""]))
    sources = [str(REPO / "runtime_c" / "src" / f"td_math{part}.c") for part in ("", "_trig", "_pow")]
    flags = ["-std=c99", level, "-ffp-contract=off", "-fPIC", "-shared", f"-I{REPO / 'runtime_c' / 'include'}"]
    flags += ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror"]
    command = [compiler, *flags, "all.c", *sources, "-o", "all.so"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return ctypes.CDLL(str(folder / "all.so"))


def call(code, name, *arrays):
    result = np.empty_like(arrays[0])
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, result)]
    getattr(code, f"all_{name}")(*pointers, len(result))
    return result


def any_bits(seed, count):
    """Every exponent, both signs, infinities and NaN."""
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)


def usual(seed, count):
    rng = np.random.default_rng(seed)
    special = np.array(SPECIAL, np.float32)
    parts = [rng.uniform(-limit, limit, count // 5).astype(np.float32) for limit in (1, 2, 6, 20, 120)]
    return np.concatenate([special, -special, *parts])


@functools.cache
def operand():
    return np.concatenate([any_bits(1, 200_000), usual(2, 100_000)])


@functools.cache
def twin(name):
    return getattr(float32, name)(operand())


def differing(got, want):
    differ = (got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want))
    return np.flatnonzero(differ)


@pytest.mark.parametrize(("compiler", "level"), BUILDS)
def test_c_equals_the_twin(tmp_path, compiler, level):
    code = library(tmp_path, compiler, level)
    x = operand()
    for name in UNARY:
        got, want = call(code, name, x), twin(name)
        bad = differing(got, want)
        assert not bad.size, (name, x[bad[:3]], got[bad[:3]], want[bad[:3]])
    z = np.random.default_rng(3).permutation(x)
    grid = [g.ravel() for g in np.meshgrid(usual(4, 0), usual(4, 0))]
    whole = np.random.default_rng(5).integers(-20, 20, len(x)).astype(np.float32)
    for name in BINARY:
        for a, b in ((x, z), grid, (x, whole)):
            a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
            got, want = call(code, name, a, b), getattr(float32, name)(a, b)
            bad = differing(got, want)
            assert not bad.size, (name, a[bad[:3]], b[bad[:3]], got[bad[:3]], want[bad[:3]])


@np.errstate(all="ignore")
def errors(got, want):
    """Units in the last place; infinite where one is infinite or NaN and the other is not."""
    rounded = want.astype(np.float32)
    unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 0))).astype(np.longdouble)
    both = np.isfinite(rounded) & np.isfinite(got)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(both, np.abs(got - want) / unit, np.where(same, 0, np.inf))


@pytest.mark.parametrize("name", [name for name in UNARY if name not in ("erf", "sigmoid")])
def test_the_twin_is_accurate(name):
    x = np.concatenate([any_bits(6, 200_000), usual(7, 200_000)])
    exact = getattr(np, REFERENCE.get(name, name))
    with np.errstate(all="ignore"):
        error = errors(getattr(float32, name)(x), exact(x.astype(np.longdouble)))
    worst = {"sqrt": 0.51, "floor": 0, "ceil": 0, "rint": 0, "tan": 4}.get(name, 3)
    assert error.max() <= worst, (error.max(), x[np.argmax(error)])


def test_sigmoid_and_erf_are_accurate():
    special = pytest.importorskip("scipy.special")
    x = np.concatenate([any_bits(6, 200_000), usual(7, 200_000)])
    with np.errstate(all="ignore"):
        assert errors(float32.sigmoid(x), special.expit(x.astype(np.longdouble))).max() <= 3
        assert errors(float32.erf(x), special.erf(x.astype(np.float64)).astype(np.longdouble)).max() <= 3.1


@pytest.mark.parametrize(("name", "exact"), [("pow", "power"), ("atan2", "arctan2")])
def test_functions_of_two_are_accurate(name, exact):
    rng = np.random.default_rng(8)
    pairs = [(any_bits(9, 200_000), any_bits(10, 200_000)), [g.ravel() for g in np.meshgrid(usual(4, 0), usual(4, 0))]]
    pairs += [(rng.uniform(0.3, 3, 200_000), rng.uniform(-60, 60, 200_000))]
    pairs += [(rng.uniform(-9, 9, 200_000), rng.integers(-9, 9, 200_000))]
    for a, b in pairs:
        a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
        with np.errstate(all="ignore"):
            want = getattr(np, exact)(a.astype(np.longdouble), b.astype(np.longdouble))
        got = getattr(float32, name)(a, b)
        error = errors(got, want)
        assert error.max() <= 3, (error.max(), a[np.argmax(error)], b[np.argmax(error)])
        known = ~np.isnan(got)
        np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def test_shapes_and_numbers():
    assert float32.exp(0.0).shape == ()
    assert float32.exp(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert float32.pow(np.ones((2, 1)), np.ones(3)).shape == (2, 3)
    assert float32.exp(0).dtype == np.float32
