"""The plain matrix times vector equals the twin, for one and several vectors."""

import numpy as np
import pytest

from tests.conformance import linear_cases
from tests.conformance.harness import check


def cases(seed: int):
    rng = np.random.default_rng(seed)
    random = [linear_cases.dense(rng, f"random {i}") for i in range(24)]
    edges = [linear_cases.dense(rng, f"edge {i}", edge=True) for i in range(12)]
    return [*random, *edges, linear_cases.dense(rng, "long", inputs=3000, outputs=5)]


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_equals_the_twin(tmp_path, defines):
    assert check(cases(1), tmp_path, cpu="cortex-m0" if defines else "host", defines=defines) > 60


def test_clang(tmp_path):
    check(cases(2), tmp_path, compiler="clang")
