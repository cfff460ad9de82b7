"""The plain depthwise convolution equals the twin for any geometry, on both kinds of multiplier hardware."""

import numpy as np
import pytest

from tests.conformance import linear_cases
from tests.conformance.harness import check


def cases(seed: int):
    rng = np.random.default_rng(seed)
    random = [linear_cases.depthwise(rng, f"random {i}") for i in range(24)]
    edges = [linear_cases.depthwise(rng, f"edge {i}", edge=True) for i in range(12)]
    common = [
        linear_cases.depthwise(rng, f"3x3 {i}", kernel=(3, 3), dilation=(1, 1), padding=(1, 1, 1, 1), multiplier=1)
        for i in range(6)
    ]
    wide = [linear_cases.depthwise(rng, "beyond the kernel", kernel=(3, 3), padding=(7, 6, 5, 8), plane=(5, 4))]
    return [*random, *edges, *common, *wide]


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_equals_the_twin(tmp_path, defines):
    assert check(cases(1), tmp_path, cpu="cortex-m0" if defines else "host", defines=defines) > 80


def test_clang(tmp_path):
    check(cases(2), tmp_path, compiler="clang")
