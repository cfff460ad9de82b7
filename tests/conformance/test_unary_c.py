"""Functions of one element in C against their twin, and their float32 form against their meaning."""

import dataclasses

import numpy as np
import pytest

from tests.conformance.harness import check, one_node
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops import registry
from tinydeploy.ops._elementwise import Unary, letter_of
from tinydeploy.ops._op import Signature
from tinydeploy.ops.activation import (
    Celu,
    Elu,
    Gelu,
    HardSigmoid,
    LeakyRelu,
    Selu,
    Shrink,
    Swish,
    ThresholdedRelu,
)
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.logistic import Logistic
from tinydeploy.ops.predicate import IsInf
from tinydeploy.ops.tanh import Tanh

FUNCTIONS = [kind() for kind in registry().values() if issubclass(kind, Unary)]
OTHERS = [Elu(0.3), Selu(1.2, 0.9), Celu(2.5), LeakyRelu(-0.3), HardSigmoid(0.7, -0.2), ThresholdedRelu(-0.4)]
OTHERS += [Shrink(0.9, 0.4), Swish(1.7), Gelu(approximate=True), IsInf(negative=False), IsInf(positive=False)]
OTHERS += [Logistic(), Tanh(), Clamp(-0.5, 6.0), Clamp(low=0.0), Clamp(high=-1.0)]
INTEGERS = [Elem.S8, Elem.U8, Elem.S16, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64]
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 1e-45, 1e38, -3e38, 89], np.float32)


def numbers(rng):
    spread = rng.normal(size=60) * np.exp(rng.uniform(-8, 5, 60))
    return np.concatenate([SPECIAL, spread]).astype(np.float32)[None]


def with_feed(case, x):
    feeds = dict.fromkeys(case.feeds, x)
    return dataclasses.replace(case, feeds=feeds)


def float_cases(rng):
    x = numbers(rng)
    kind = Type(x.shape[1:], Elem.F32)
    cases = []
    for op in (*FUNCTIONS, *OTHERS):
        if isinstance(op, Unary) and "f" not in op.takes:
            continue
        cases.append(with_feed(one_node(repr(op), op, [kind], [None], rng), x))
    return cases


def integer_cases(rng):
    cases = []
    for op in FUNCTIONS:
        for elem in (*INTEGERS, Elem.BOOL):
            if letter_of(elem) in op.takes:
                cases.append(one_node(f"{op.name} {elem.value}", op, [Type((3, 5), elem)], [None], rng))
    for elem in INTEGERS:
        for bounds in ((-2.5, 100.5), (0.0, float("inf")), (-float("inf"), -3.0), (300.0, 1e30)):
            cases.append(one_node(f"{bounds} {elem.value}", Clamp(*bounds), [Type((3, 5), elem)], [None], rng))
    return cases


def test_float32(tmp_path):
    cases = float_cases(np.random.default_rng(1))
    assert check(cases, tmp_path) >= 2 * len(cases)


def test_integers_and_bool(tmp_path):
    assert check(integer_cases(np.random.default_rng(2)), tmp_path, compiler="clang") > 70


def test_int8_tables(tmp_path):
    rng = np.random.default_rng(3)
    cases = []
    for op in (*FUNCTIONS, *OTHERS):
        if op.quant.integer:
            kind = Type((2, 40), Elem.S8, Quant.per_tensor(0.05, -3))
            cases.append(one_node(repr(op), op, [kind], [Quant.per_tensor(0.02, 5)], rng))
    assert check(cases, tmp_path) > 40


@pytest.mark.parametrize("op", [op for op in (*FUNCTIONS, *OTHERS) if "f" in getattr(op, "takes", "f")], ids=repr)
def test_c_is_near_the_meaning(op):
    x = np.concatenate([SPECIAL, np.random.default_rng(4).normal(0, 4, 2000).astype(np.float32)])
    kind = Type(x.shape, Elem.F32)
    want, got = op.reference(x)[0], op.float32(Signature((kind,), op.infer((kind,))), x)[0]
    assert want.dtype == got.dtype
    if got.dtype == np.bool_:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=4e-7)
