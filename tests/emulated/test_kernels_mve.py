"""The mve kernels' assembly equals the twin on an emulated Cortex-M55, at every optimisation."""

import pytest

from tests.conformance import wide_cases
from tests.conformance.harness import Case
from tests.conftest import need_tool
from tests.emulated.kernel_board import run
from tinydeploy.lower._contract import Offer


def mve(offers: list[Offer]) -> Offer:
    """The mve kernel where there is one."""
    return ([offer for offer in offers if "_mve" in offer.kernel] or offers)[-1]


def cases(seed: int) -> dict[str, list[Case]]:
    return {
        "convolutions": wide_cases.convolutions(seed),
        "depthwises": wide_cases.depthwises(seed, even=True),
        "vectors": wide_cases.vectors(seed),
        "totals": wide_cases.totals(seed),
    }


@pytest.mark.qemu
@pytest.mark.parametrize("family", ["convolutions", "depthwises", "vectors", "totals"])
def test_equals_the_twin(family, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run(cases(21)[family], "cortex-m55", "mps3-an547", tmp_path, mve)


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize("opt", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("seed", [22, 23])
def test_optimisations(opt, seed, tmp_path):
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    run([case for family in cases(seed).values() for case in family], "cortex-m55", "mps3-an547", tmp_path, mve, opt)
