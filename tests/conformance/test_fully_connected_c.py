"""The plain matrix times vector equals the twin, for one and several vectors."""

import numpy as np
import pytest

from tests.conformance import linear_cases, wide_cases
from tests.conformance.harness import check, jobs_of


def cases(seed: int):
    rng = np.random.default_rng(seed)
    random = [linear_cases.dense(rng, f"random {i}") for i in range(24)]
    edges = [linear_cases.dense(rng, f"edge {i}", edge=True) for i in range(12)]
    return [*random, *edges, *wide_cases.vectors(seed), linear_cases.dense(rng, "long", inputs=3000, outputs=5)]


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_equals_the_twin(tmp_path, defines):
    cpu, optimize = ("cortex-m0", "speed") if defines else ("host", "balanced")
    assert check(cases(1), tmp_path, cpu=cpu, optimize=optimize, defines=defines) > 60


def test_sextets_take_ordinary_layers():
    case = wide_cases.dense(np.random.default_rng(3), "ordinary", 100, 10)
    kernels = {job.low.offer.kernel for job in jobs_of(case, "cortex-m0", "speed")}
    assert {"fully_connected_sextets_w8a8", "fully_connected_octets_w8a8"} <= kernels


def test_clang(tmp_path):
    check(cases(2), tmp_path, compiler="clang")
