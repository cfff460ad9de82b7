"""Operators between float32 and integers on cores with a float unit, with one for single precision, and with none."""

from pathlib import Path

import numpy as np
import pytest

from tests.conformance import float_cases, test_along_c, test_gather_c, test_reduce_c, test_resize_c
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS
from tinydeploy.ir import Elem
from tinydeploy.ops.arg_reduce import ArgMax
from tinydeploy.ops.cumsum import Cumsum

FEW = (Elem.F32, Elem.S8, Elem.S64)


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m3", "cortex-m4f", "cortex-m55"])
def test_equals_the_twin(cpu: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    parts = (float_cases.quantize_cases(), float_cases.dequantize_cases()[:20], float_cases.cast_cases())
    for number, cases in enumerate(parts):
        (tmp_path / str(number)).mkdir()
        run(cases, cpu, BOARDS[cpu], tmp_path / str(number), choose=lambda offers: offers[0])


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
def test_shapes_and_reductions(cpu: str, tmp_path: Path) -> None:
    """Sums in a fixed order, 64-bit indices, resizing: the same bits on every core."""
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    rng = np.random.default_rng(1)
    reductions = [case for case in test_reduce_c.reduce_cases(rng) if case.graph.type("x0").elem in FEW]
    moved = [*test_gather_c.gather_cases(rng)[::2], *test_gather_c.scatter_cases(rng)[::4]]
    along = [case for op in (Cumsum(1), ArgMax(0), Cumsum(2, product=True)) for case in test_along_c.cases_of(rng, op)]
    parts = (reductions[::3], moved, along, test_resize_c.resize_cases(rng)[::3])
    for number, cases in enumerate(parts):
        (tmp_path / str(number)).mkdir()
        run(cases, cpu, BOARDS[cpu], tmp_path / str(number), choose=lambda offers: offers[0])
