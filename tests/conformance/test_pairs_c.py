"""Functions of two int8 operands in C against their twin: every pair of values, and broadcasting."""

import dataclasses

import numpy as np

from tests.conformance.harness import check, one_node
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.binary import Div, Prelu, SquaredDifference
from tinydeploy.ops.comparison import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual

FUNCTIONS = [Prelu(), SquaredDifference(), Div()]
COMPARISONS = [Equal(), NotEqual(), Less(), LessEqual(), Greater(), GreaterEqual()]
EVERY = np.arange(-128, 128).astype(np.int8)


def quant(rng):
    return Quant.per_tensor(float(np.exp(rng.uniform(np.log(0.005), np.log(0.5)))), int(rng.integers(-128, 128)))


def pair_cases(rng):
    cases = []
    for op in (*FUNCTIONS * 3, *COMPARISONS):
        kinds = [Type((256, 1), Elem.S8, quant(rng)), Type((256,), Elem.S8, quant(rng))]
        result = None if op in COMPARISONS else quant(rng)
        case = one_node(repr(op), op, kinds, [result], rng, samples=1)
        feeds = dict(zip(case.feeds, (EVERY[None, :, None], EVERY[None]), strict=True))
        cases.append(dataclasses.replace(case, feeds=feeds))
    return cases


def test_every_pair(tmp_path):
    cases = pair_cases(np.random.default_rng(1))
    assert check(cases, tmp_path) >= len(cases)


def test_broadcast_and_constants(tmp_path):
    rng = np.random.default_rng(2)
    cases = []
    for op in (*FUNCTIONS, *COMPARISONS):
        x, slope = Type((2, 3, 4), Elem.S8, quant(rng)), Type((3, 1), Elem.S8, quant(rng))
        result = None if op in COMPARISONS else quant(rng)
        cases.append(one_node(repr(op), op, [x, slope], [result], rng))
        data = rng.integers(-128, 128, (3, 1)).astype(np.int8)
        cases.append(one_node(f"{op} constant", op, [x, (slope, data)], [result], rng))
    assert check(cases, tmp_path, compiler="clang") >= len(cases)
