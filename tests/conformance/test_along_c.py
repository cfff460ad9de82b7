"""Running sums, places of extremes and the best k elements in C equal the twin, in every element type."""

import numpy as np

from tests.conformance.harness import check, one_node, s8
from tests.conformance.test_reduce_c import INTEGERS
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.arg_reduce import ArgMax, ArgMin
from tinydeploy.ops.cumsum import Cumsum
from tinydeploy.ops.top_k import TopK

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)


def cases_of(rng, op, outputs=1):
    """The operator in every element type, and of every three special floats."""
    cases = []
    for elem in (Elem.F32, *INTEGERS):
        case = one_node(f"{op} {elem.value}", op, [Type((3, 4, 3), elem)], [None] * outputs, rng)
        if elem is not Elem.F32:  # few different numbers, so that many are equal
            case.feeds["x0"][1] = rng.integers(0, 3, (3, 4, 3))
        cases.append(case)
    special = one_node(f"{op} special", op, [Type((3, 72, 3), Elem.F32)], [None] * outputs, rng)
    special.feeds["x0"] = SPECIAL[rng.integers(0, 6, (2, 3, 72, 3))]
    return [*cases, special]


def test_cumsum(tmp_path):
    rng = np.random.default_rng(1)
    cases = []
    for number in range(8):
        op = Cumsum(number % 3, bool(number & 1), bool(number & 2), bool(number & 4))
        cases += cases_of(rng, op)
    check(cases, tmp_path)


def test_places(tmp_path):
    rng = np.random.default_rng(2)
    cases = []
    for op_class in (ArgMax, ArgMin):
        for number in range(6):
            elem = Elem.S32 if number % 2 else Elem.S64
            cases += cases_of(rng, op_class(number % 3, bool(number & 2), number > 2, elem))
        cases.append(one_node("int8", op_class(1), [s8((2, 5), 0.1, 3)], [None], rng))
    check(cases, tmp_path)


def test_best(tmp_path):
    rng = np.random.default_rng(3)
    cases = []
    for largest in (True, False):
        for k, axis, elem in ((1, 0, Elem.S32), (2, 1, Elem.S64), (3, 2, Elem.S64), (4, 1, Elem.S32)):
            cases += cases_of(rng, TopK(k, axis, largest, elem), 2)
        quant = Quant.per_tensor(0.1, 3)
        cases.append(one_node("int8", TopK(2, 1, largest), [s8((2, 5), 0.1, 3)], [quant, None], rng))
    check(cases, tmp_path)
