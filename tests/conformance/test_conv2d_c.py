"""The plain convolution equals the twin for any geometry, on both kinds of multiplier hardware."""

import numpy as np
import pytest

from tests.conformance import linear_cases
from tests.conformance.harness import check


def cases(seed: int):
    rng = np.random.default_rng(seed)
    random = [linear_cases.conv(rng, f"random {i}") for i in range(24)]
    edges = [linear_cases.conv(rng, f"edge {i}", edge=True) for i in range(12)]
    grouped = [linear_cases.conv(rng, f"groups {i}", groups=int(rng.integers(2, 5))) for i in range(8)]
    pointwise = [
        linear_cases.conv(rng, f"1x1 {i}", kernel=(1, 1), stride=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1))
        for i in range(6)
    ]
    wide = [linear_cases.conv(rng, "beyond the kernel", kernel=(3, 3), padding=(7, 6, 5, 8), plane=(5, 4))]
    return [*random, *edges, *grouped, *pointwise, *wide]


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_equals_the_twin(tmp_path, defines):
    assert check(cases(1), tmp_path, cpu="cortex-m0" if defines else "host", defines=defines) > 80


def test_clang(tmp_path):
    check(cases(2), tmp_path, compiler="clang")
