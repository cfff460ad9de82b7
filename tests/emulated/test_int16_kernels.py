"""Kernels of int16 activations on cores with and without a long multiplication: the same bits as the twin."""

from pathlib import Path

import numpy as np
import pytest

from tests.conformance import int16_cases
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS

FAMILIES = {
    "layers": (("conv", 12), ("depthwise", 9), ("dense", 10), ("products", 8)),
    "elements": (("binary", 18), ("powers", 4), ("far_apart", 4), ("joined", 3), ("slopes", 8)),
    "others": (("function", 12), ("reduction", 8), ("conversion", 96)),
}


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m55"])
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_twin(family: str, cpu: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    rng = np.random.default_rng(9)
    cases = [getattr(int16_cases, name)(rng, number) for name, count in FAMILIES[family] for number in range(count)]
    for case in cases:
        case.feeds = {name: array[:2] for name, array in case.feeds.items()}
    run(cases, cpu, BOARDS[cpu], tmp_path, choose=lambda offers: offers[0])
