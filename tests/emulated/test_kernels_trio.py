"""The assembly with three sums in two words equals the twin on an emulated Cortex-M0, at every optimisation."""

import pytest

from tests.conformance import trio_cases
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tinydeploy.lower._contract import Offer


def trio(offers: list[Offer]) -> Offer:
    """The kernel under test, or any where scales are too extreme for it."""
    return next((offer for offer in offers if "_trio" in offer.kernel), offers[0])


@pytest.mark.qemu
@pytest.mark.parametrize("opt", ["-O0", "-O2", "-Os"])
def test_equals_the_twin(opt, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(trio_cases.cases(2), "cortex-m0", "microbit-large", tmp_path, trio, opt)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_more(seed, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(trio_cases.cases(seed), "cortex-m0", "microbit-large", tmp_path, trio)


@pytest.mark.qemu
@pytest.mark.slow
def test_plain_twin_on_the_core(tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(trio_cases.cases(6), "cortex-m0", "microbit-large", tmp_path, trio, flags=("-DTD_NO_ASM",))
