"""Functions of one and two elements give the same bits on cores with and without a float unit."""

import dataclasses

import numpy as np
import pytest

from tests.conformance import test_binary_c, test_pairs_c, test_unary_c
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS

CASES = {
    "floats of one": test_unary_c.float_cases,
    "floats of two": test_binary_c.float_cases,
    "integers of one": lambda rng: test_unary_c.integer_cases(rng)[::3],
    "integers of two": lambda rng: test_binary_c.integer_cases(rng)[::9],
    "select": lambda rng: test_binary_c.select_cases(rng)[::4],
    "int8 of two": lambda rng: test_pairs_c.pair_cases(rng)[::3],
}


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
@pytest.mark.parametrize("kind", CASES)
def test_equals_the_twin(kind, cpu, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = CASES[kind](np.random.default_rng(5))
    samples = min(len(data) for case in cases for data in case.feeds.values())
    cut = [dataclasses.replace(case, feeds={n: data[:samples] for n, data in case.feeds.items()}) for case in cases]
    with_kernel = [
        case for case in cut if case.graph.nodes[0].op.name != "abs" or case.graph.type("x0").elem.value[0] != "u"
    ]
    run(with_kernel, cpu, BOARDS[cpu], tmp_path, lambda offers: offers[0])
