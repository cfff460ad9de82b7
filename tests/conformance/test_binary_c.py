"""Functions of two elements, comparisons and select in C against their twin, for every element type, broadcasting."""

import dataclasses
import itertools

import numpy as np
import pytest

from tests.conformance.harness import check, one_node
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops import registry
from tinydeploy.ops._elementwise import letter_of
from tinydeploy.ops._op import Signature
from tinydeploy.ops.add import Add
from tinydeploy.ops.binary import Binary, Maximum, Minimum, Mod, Pow
from tinydeploy.ops.comparison import BitShift
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.select import Select
from tinydeploy.ops.sub import Sub

FUNCTIONS = [kind() for kind in registry().values() if issubclass(kind, Binary)]
FUNCTIONS += [Mod(fmod=True), BitShift(left=True)]
ARITHMETIC = [Add(), Sub(), Mul()]
INTEGERS = [Elem.S8, Elem.U8, Elem.S16, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64]
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, -2.5, 3, np.inf, -np.inf, np.nan, 1e-45, 1e38, -3e38, 89, 1e-20], np.float32)
SHAPES = [
    ((2, 3, 4), (2, 3, 4)),
    ((2, 3, 4), (4,)),
    ((3, 1), (2, 1, 5)),
    ((), (3, 2)),
    ((1, 2, 1, 3, 1, 2), (2, 1, 3, 1)),
]


def takes(op):
    return getattr(op, "takes", "fsu")


def small(rng, kind, samples):
    """Integers that are often equal, 0 or -1."""
    low = max(kind.elem.limits[0], -3)
    return rng.integers(low, min(kind.elem.limits[1], 9), (samples, *kind.shape), endpoint=True).astype(kind.elem.dtype)


def float_cases(rng):
    cases = []
    for op in (*FUNCTIONS, *ARITHMETIC, Add(clamp=(0.0, 6.0)), Sub(clamp=(-1.0, 1.0)), Mul(clamp=(0.0, float("inf")))):
        if "f" not in takes(op):
            continue
        grid = [g[None] for g in np.meshgrid(SPECIAL, SPECIAL)]
        kind = Type(grid[0].shape[1:], Elem.F32)
        case = one_node(f"{op} special", op, [kind, kind], [None], rng)
        cases.append(dataclasses.replace(case, feeds=dict(zip(case.feeds, grid, strict=True))))
        a, b = SHAPES[len(cases) % len(SHAPES)]
        cases.append(one_node(f"{op} {a} {b}", op, [Type(a, Elem.F32), Type(b, Elem.F32)], [None], rng))
    return cases


def integer_cases(rng):
    cases = []
    for op, elem in itertools.product((*FUNCTIONS, *ARITHMETIC), (*INTEGERS, Elem.BOOL)):
        if letter_of(elem) not in takes(op) or (op.name == "prelu" and letter_of(elem) == "u"):
            continue
        shapes = [((3, 4), (3, 4)), ((2, 3, 4), (4,)) if op.name == "prelu" else SHAPES[len(cases) % len(SHAPES)]]
        for a, b in shapes:
            case = one_node(f"{op} {elem} {a} {b}", op, [Type(a, elem), Type(b, elem)], [None], rng, samples=3)
            cases.append(case)
            feeds = {name: small(rng, case.graph.type(name), 4) for name in case.feeds}
            cases.append(dataclasses.replace(case, label=f"{op} {elem} small", feeds=feeds))
    return cases


def test_float32(tmp_path):
    cases = float_cases(np.random.default_rng(1))
    assert check(cases, tmp_path) >= 2 * len(cases)


def test_integers_and_bool(tmp_path):
    cases = integer_cases(np.random.default_rng(2))
    assert check(cases, tmp_path) >= len(cases)


def test_constant_operands(tmp_path):
    rng = np.random.default_rng(3)
    x = Type((2, 3, 4), Elem.F32)
    data = rng.normal(size=(3, 1)).astype(np.float32)
    cases = []
    for op in FUNCTIONS:
        if "f" in takes(op):
            cases.append(one_node(f"{op} b", op, [x, (Type((3, 1), Elem.F32), data)], [None], rng))
            cases.append(one_node(f"{op} a", op, [(Type((3, 1), Elem.F32), data), x], [None], rng))
    cases.append(one_node("ints", Maximum(), [Type((4,), Elem.S64), (Type((), Elem.S64), np.array(7))], [None], rng))
    assert check(cases, tmp_path, compiler="clang") >= len(cases)


def test_quantised_extremes_and_select(tmp_path):
    rng = np.random.default_rng(4)
    quant = Quant.per_tensor(0.1, 3)
    kind = Type((2, 3, 4), Elem.S8, quant)
    cases = [one_node(op.name, op, [kind, kind], [quant], rng) for op in (Maximum(), Minimum())]
    cases.append(one_node("select", Select(), [Type((3, 1), Elem.BOOL), kind, kind], [quant], rng))
    assert check(cases, tmp_path) >= len(cases)


def select_cases(rng):
    shapes = [
        ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
        ((3, 1), (2, 1, 4), ()),
        ((1, 2, 1, 3, 1, 2), (1,), (2, 1, 2, 1, 3, 1)),
    ]
    which = (Type((2, 1), Elem.BOOL), np.array([[True], [False]]))
    cases = []
    for elem in (Elem.F32, *INTEGERS, Elem.BOOL):
        for condition, a, b in shapes:
            kinds = [Type(condition, Elem.BOOL), Type(a, elem), Type(b, elem)]
            cases.append(one_node(f"{elem} {condition} {a} {b}", Select(), kinds, [None], rng))
        cases.append(one_node("constant", Select(), [which, Type((2, 3), elem), Type((3,), elem)], [None], rng))
    return cases


def test_select(tmp_path):
    cases = select_cases(np.random.default_rng(5))
    assert check(cases, tmp_path) >= len(cases)


@pytest.mark.parametrize("op", [op for op in FUNCTIONS if "f" in op.takes], ids=repr)
def test_c_is_near_the_meaning(op):
    rng = np.random.default_rng(6)
    a, b = (
        np.concatenate([g.ravel(), rng.normal(0, 4, 2000)]).astype(np.float32) for g in np.meshgrid(SPECIAL, SPECIAL)
    )
    kind = Type(a.shape, Elem.F32)
    want, got = op.reference(a, b)[0], op.float32(Signature((kind, kind), op.infer((kind, kind))), a, b)[0]
    assert want.dtype == got.dtype
    if got.dtype == np.bool_:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_integer_powers_and_quotients():
    a, b = (g.ravel() for g in np.meshgrid(np.arange(-4, 5, dtype=np.int8), np.arange(-4, 5, dtype=np.int8)))
    whole = [0 if x == 0 and y < 0 else int(float(x) ** int(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(Pow().reference(a, b)[0], np.array(whole).astype(np.int8))
    low = np.array([-128, -128, 7], np.int8)
    by_name = {op.name: op for op in FUNCTIONS}
    np.testing.assert_array_equal(by_name["div"].reference(low, np.array([-1, 3, 0], np.int8))[0], [-128, -42, 0])
    np.testing.assert_array_equal(by_name["floor_div"].reference(low, np.array([-1, 3, 0], np.int8))[0], [-128, -43, 0])
