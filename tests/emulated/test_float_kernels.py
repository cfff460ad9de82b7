"""Operators between float32 and integers on cores with a float unit, with one for single precision, and with none."""

from pathlib import Path

import pytest

from tests.conformance import float_cases
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m3", "cortex-m4f", "cortex-m55"])
def test_equals_the_twin(cpu: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    parts = (float_cases.quantize_cases(), float_cases.dequantize_cases()[:20], float_cases.cast_cases())
    for number, cases in enumerate(parts):
        (tmp_path / str(number)).mkdir()
        run(cases, cpu, BOARDS[cpu], tmp_path / str(number), choose=lambda offers: offers[0])
