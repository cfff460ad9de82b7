"""The twin of the kernels with three sums in two words equals the integers on this machine."""

import pytest

from tests.conformance import trio_cases
from tests.conformance.harness import check


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(compiler, tmp_path):
    check(trio_cases.cases(1), tmp_path, cpu="cortex-m0", defines=("TD_NO_LONG_MUL",), compiler=compiler)
