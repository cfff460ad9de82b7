"""Reductions, running sums, orders and extremes in C equal the twin, in every element type."""

import numpy as np

from tests.conformance.harness import check, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.reduce import ReduceAll, ReduceAny, ReduceMax, ReduceMin, ReduceProd, ReduceSum

INTEGERS = (Elem.S8, Elem.U8, Elem.S16, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64)
SHAPES = (((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)), ((3, 4), (0, 1)), ((2, 3, 2, 2, 3, 2), (1, 3, 5)), ((2, 1, 5), (1,)))


def reduce_cases(rng):
    cases = []
    for op_class in (ReduceSum, ReduceProd, ReduceMax, ReduceMin, Mean):
        for elem in (Elem.F32, *INTEGERS):
            if op_class is Mean and elem is Elem.U64:
                continue
            for number, (shape, axes) in enumerate(SHAPES):
                op = op_class(axes=axes, keep_dims=bool(number % 2))
                cases.append(one_node(f"{op} {elem.value}", op, [Type(shape, elem)], [None], rng))
    for op_class in (ReduceAny, ReduceAll, ReduceMax):
        for shape, axes in SHAPES:
            cases.append(one_node(f"{op_class.name} bool", op_class(axes=axes), [Type(shape, Elem.BOOL)], [None], rng))
    return [case for case in cases if case.graph.type("x0").shape != (2, 1, 5)]


def special_cases(rng):
    """NaN, infinities and zeros of both signs."""
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    cases = []
    for op_class in (ReduceSum, ReduceProd, ReduceMax, ReduceMin, Mean):
        case = one_node(f"special {op_class.name}", op_class(axes=(0,)), [Type((3, 216), Elem.F32)], [None], rng, 1)
        case.feeds["x0"] = np.stack(np.meshgrid(values, values, values)).reshape(1, 3, 216)
        cases.append(case)
    return cases


def quantised_cases(rng):
    cases = []
    for scale, zero in ((0.05, -7), (0.4, 3), (0.011, 0)):
        for axes in ((1, 2), (3,), (0,)):
            op, x = ReduceSum(axes=axes), s8((2, 4, 3, 5), 0.05, 9)
            cases.append(one_node(f"sum {scale}", op, [x], [Quant.per_tensor(scale, zero)], rng))
            op = ReduceMax(axes=axes)
            cases.append(
                one_node(f"max {scale}", op, [s8((2, 4, 3, 5), scale, zero)], [Quant.per_tensor(scale, zero)], rng)
            )
    return cases


def test_reduce(tmp_path):
    rng = np.random.default_rng(1)
    check([*reduce_cases(rng), *special_cases(rng), *quantised_cases(rng)], tmp_path)
