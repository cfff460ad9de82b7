"""Operators between float32 and integers equal the twin in every bit, for all halves, their neighbours and NaN."""

import pytest

from tests.conformance import float_cases
from tests.conformance.harness import check


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("operator", ["quantize", "quantize_even", "dequantize", "cast"])
def test_equals_the_twin(tmp_path, operator, compiler):
    cases = getattr(float_cases, f"{operator}_cases")()
    assert check(cases, tmp_path, compiler=compiler) == 2 * len(cases)
