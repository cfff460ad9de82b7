"""Average pooling equals the twin for any window, whether padding counts or not."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check
from tests.conformance.pool_cases import CLAMPS, ints, pool, step_of, zero_of
from tinydeploy.ops.average_pool2d import AveragePool2d


def random_case(rng: np.random.Generator, number: int) -> Case:
    kernel = ints(rng, 1, 5)
    padding = tuple(int(rng.integers(0, kernel[i // 2])) for i in range(4))
    plane = tuple(
        int(rng.integers(max(1, k - padding[2 * i] - padding[2 * i + 1]), k + 7)) for i, k in enumerate(kernel)
    )
    op = AveragePool2d(kernel, ints(rng, 1, 4), padding, bool(number % 2), CLAMPS[number // 2 % 4])
    return pool(rng, op, plane, int(rng.integers(1, 8)), step_of(rng), zero_of(rng))


def cases(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    chosen = [
        pool(rng, AveragePool2d((1, 1), (1, 1)), (4, 5), 3, 0.1, 0),
        pool(rng, AveragePool2d((6, 9), (1, 1)), (6, 9), 64, 0.1, 5),
        pool(rng, AveragePool2d((64, 64), (1, 1)), (64, 64), 1, 0.1, 5),
        pool(rng, AveragePool2d((2, 2), (2, 2)), (9, 9), 300, 0.1, -128),
        pool(rng, AveragePool2d((1, 4), (1, 3), (0, 0, 2, 1)), (1, 50), 5, 0.1, 9),
        pool(rng, AveragePool2d((1, 4), (1, 3), (0, 0, 2, 1), True), (1, 50), 5, 0.1, 127),
        pool(rng, AveragePool2d((3, 3), (2, 2), (0, 1, 0, 1)), (8, 8), 3, 0.1, -128),
        pool(rng, AveragePool2d((3, 3), (2, 2), (0, 2, 0, 2), True), (8, 8), 3, 0.1, -128),
        pool(rng, AveragePool2d((5, 5), (1, 1), (4, 4, 4, 4), True), (1, 1), 3, 0.1, 77),
        pool(rng, AveragePool2d((5, 5), (1, 1), (4, 4, 4, 4)), (1, 1), 3, 0.1, 77),
    ]
    return [*(random_case(rng, number) for number in range(50)), *chosen]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(tmp_path, compiler):
    assert check(cases(1 if compiler == "gcc" else 2), tmp_path, compiler=compiler) == 2 * 60
