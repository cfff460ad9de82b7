"""Kernels of int16 activations equal the integer twin, under sanitizers, apart and overlapping."""

import subprocess

import numpy as np
import pytest

from tests.conformance import int16_cases
from tests.conformance.harness import SANITIZE, WARNINGS, check
from tests.conftest import REPO, need_tool
from tinydeploy.lower._weighted16 import once_records
from tinydeploy.numerics.requantise import float_to_int32, round_half_away

FAMILIES = {
    "conv": 40,
    "depthwise": 30,
    "dense": 40,
    "binary": 60,
    "powers": 12,
    "far_apart": 12,
    "function": 30,
    "conversion": 96,
    "reduction": 40,
    "slopes": 24,
    "joined": 8,
    "products": 30,
}


def cases(family: str, seed: int, count: int):
    rng = np.random.default_rng(seed)
    return [getattr(int16_cases, family)(rng, number) for number in range(count)]


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_twin(tmp_path, family):
    assert check(cases(family, 1, FAMILIES[family]), tmp_path) >= FAMILIES[family]


@pytest.mark.parametrize("family", ["conv", "dense", "binary"])
def test_small_cores_and_clang(tmp_path, family):
    check(cases(family, 2, 12), tmp_path, cpu="cortex-m0", defines=("TD_NO_LONG_MUL", "TD_NO_ASM"), compiler="clang")


ROUND_ONCE = """
#include <stdio.h>
#include "td_requant64.h"
int main(void)
{
    int64_t acc;
    td_once r = {0};
    while (fread(&acc, 8, 1, stdin) == 1 && fread(&r, sizeof r, 1, stdin) == 1) {
        const int32_t y = td_requant_once(acc, &r, 0, INT32_MIN, INT32_MAX);
        fwrite(&y, 4, 1, stdout);
    }
    return 0;
}
"""


def test_rounding_once_is_that_of_doubles(tmp_path):
    """Products that miss a half by less than a double can hold are rounded up by it; random data never meets them."""
    need_tool("gcc")
    rng = np.random.default_rng(3)
    steps = np.concatenate([rng.integers(0, 200, 5000), rng.integers(0, 40000, 20000)])
    acc = np.concatenate([rng.integers(1, 2**46, 20000), rng.integers(1, 2**20, 5000)])
    ratio = (steps + 0.5) / acc
    ratio = np.concatenate([ratio, np.nextafter(ratio, 0), np.nextafter(ratio, 1), rng.uniform(0, 3, 25000)])
    acc = np.tile(acc, 4) * rng.choice([-1, 1], 100000)
    kept = (ratio < 2.0**14) & (ratio > 2.0**-60)
    acc, ratio = acc[kept], ratio[kept]
    records = once_records(np.zeros(len(acc), np.int64), ratio)
    exact = np.array([int(a) * int(r * 2.0**110) for a, r in zip(np.abs(acc), ratio, strict=True)], object)
    missed = np.array([(p + (1 << 109)) >> 110 for p in exact], object) != round_half_away(np.abs(acc) * ratio)
    assert missed.sum() > 100  # the cases are there: exact arithmetic differs from the doubles'
    table = np.empty(len(acc), [("acc", "<i8"), ("record", records.dtype)])
    table["acc"], table["record"] = acc, records
    (tmp_path / "once.c").write_text(ROUND_ONCE)
    flags = ["-std=c99", "-O1", *WARNINGS, *SANITIZE, f"-I{REPO / 'runtime_c' / 'include'}"]
    subprocess.run(["gcc", *flags, "once.c", "-o", "once"], cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "once"], input=table.tobytes(), capture_output=True, check=True)
    wanted = np.clip(float_to_int32(round_half_away(acc * ratio)), -(2**31) + 1, 2**31 - 1)
    np.testing.assert_array_equal(np.frombuffer(ran.stdout, np.int32), wanted)
