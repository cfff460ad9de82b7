"""The dsp kernels' assembly equals the twin on every core that has the 32-bit SIMD, at every optimisation."""

import pytest

from tests.conformance import wide_cases
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tinydeploy.lower._contract import Offer

BOARDS = {"cortex-m4f": "mps2-an386", "cortex-m7": "mps2-an500", "cortex-m33": "mps2-an505"}
FAMILIES = {
    "convolutions": wide_cases.convolutions,
    "depthwises": wide_cases.depthwises,
    "vectors": wide_cases.vectors,
    "totals": wide_cases.totals,
}


def dsp(offers: list[Offer]) -> Offer:
    """The dsp kernel where there is one, the last where there are several."""
    return ([offer for offer in offers if "_dsp" in offer.kernel] or offers)[-1]


def first_dsp(offers: list[Offer]) -> Offer:
    """As `dsp`, the first where there are several."""
    return ([offer for offer in offers if "_dsp" in offer.kernel] or offers)[0]


@pytest.mark.qemu
@pytest.mark.parametrize("family", FAMILIES)
def test_cortex_m4(family, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(FAMILIES[family](11), "cortex-m4f", BOARDS["cortex-m4f"], tmp_path, dsp)


@pytest.mark.qemu
@pytest.mark.parametrize("opt", ["-O0", "-Os"])
def test_optimisations(opt, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = [case for family in FAMILIES.values() for case in family(12)[::2]]
    run(cases, "cortex-m4f", BOARDS["cortex-m4f"], tmp_path, first_dsp, opt)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("cpu", BOARDS)
@pytest.mark.parametrize("seed", [13, 14, 15])
def test_boards(cpu, seed, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run([case for family in FAMILIES.values() for case in family(seed)], cpu, BOARDS[cpu], tmp_path, dsp)


@pytest.mark.qemu
@pytest.mark.slow
def test_plain_twins_on_the_core(tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = [case for family in FAMILIES.values() for case in family(16)[::2]]
    run(cases, "cortex-m4f", BOARDS["cortex-m4f"], tmp_path, dsp, flags=("-DTD_NO_ASM",))


@pytest.mark.qemu
def test_on_the_vector_core(tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    cases = [case for family in FAMILIES.values() for case in family(17)[::2]]
    run(cases, "cortex-m55", "mps3-an547", tmp_path, dsp)
