"""The general kernels give the twin's bits with a float unit, with one for single precision only, and with none."""

from pathlib import Path

import numpy as np
import pytest

from tests.conformance import general_cases
from tests.conformance.test_pool_general_c import FLOATS, SCALED, pool
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tests.mlperf import BOARDS
from tinydeploy.ir import Elem

LAYERS = ("conv", "depthwise", "dense", "volume", "transposed")


def cases():
    rng = np.random.default_rng(11)
    made = [getattr(general_cases, layer)(rng, form, 0) for layer in LAYERS for form in ("float", "small")]
    made += [getattr(general_cases, layer)(rng, "int8 computed", 0) for layer in LAYERS]
    made += [general_cases.conv(rng, "int32", 0), general_cases.transposed(rng, "int8", 0)]
    made += [general_cases.matmul(rng, elem, 0) for elem in (Elem.F32, Elem.S32, Elem.S8)]
    return [*made, *(pool(rng, *form) for form in (*FLOATS, *SCALED))]


@pytest.mark.qemu
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4f", "cortex-m7", "cortex-m55"])
def test_equals_the_twin(cpu: str, tmp_path: Path) -> None:
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(cases(), cpu, BOARDS[cpu], tmp_path, choose=lambda offers: offers[0])
