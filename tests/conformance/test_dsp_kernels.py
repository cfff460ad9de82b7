"""The dsp and mve kernels equal the twin on this machine, through the plain C twins of their assembly."""

import pytest

from tests.conformance import wide_cases
from tests.conformance.harness import Case, check
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext

FAMILIES = {
    "convolutions": wide_cases.convolutions,
    "depthwises": wide_cases.depthwises,
    "vectors": wide_cases.vectors,
    "totals": wide_cases.totals,
}


def offered(cases: list[Case], cpu: str, kind: str) -> int:
    """How many cases have a kernel of a class."""
    contexts = [LowerContext(case.graph, case.graph.nodes[0], target_for(cpu)) for case in cases]
    return sum(any(f"_{kind}" in offer.kernel for offer in offers_for(ctx)) for ctx in contexts)


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_twin(family, tmp_path):
    cases = FAMILIES[family](1)
    assert offered(cases, "cortex-m4", "dsp") >= 0.9 * len(cases)
    check(cases, tmp_path, cpu="cortex-m55")


@pytest.mark.parametrize("family", FAMILIES)
def test_mve_is_offered(family):
    cases = wide_cases.depthwises(1, even=True) if family == "depthwises" else FAMILIES[family](1)
    assert offered(cases, "cortex-m55", "mve") >= 0.9 * len(cases)


@pytest.mark.parametrize("family", FAMILIES)
def test_clang(family, tmp_path):
    check(FAMILIES[family](2), tmp_path, cpu="cortex-m55", compiler="clang")


def test_even_depthwise(tmp_path):
    check(wide_cases.depthwises(3, even=True), tmp_path, cpu="cortex-m55")
