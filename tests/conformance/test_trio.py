"""The twin of the kernels with three sums in two words equals the integers on this machine."""

import pytest

from tests.conformance import trio_cases
from tests.conformance.harness import check, jobs_of


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(compiler, tmp_path):
    check(trio_cases.cases(1), tmp_path, cpu="cortex-m0", defines=("TD_NO_LONG_MUL",), compiler=compiler)


def test_is_offered():
    offered = [
        any("_trio" in job.low.offer.kernel for job in jobs_of(case, "cortex-m0")) for case in trio_cases.cases(1)
    ]
    assert sum(offered) > 0.8 * len(offered)  # not where scales are extreme
