"""Maximum pooling equals the twin for any window, with padding on some sides and none on others, and dilation."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check
from tests.conformance.pool_cases import CLAMPS, ints, pool, step_of, zero_of
from tinydeploy.ops.max_pool2d import MaxPool2d


def random_case(rng: np.random.Generator, number: int) -> Case:
    kernel, dilation = ints(rng, 1, 4), ints(rng, 1, 3) if number % 2 else (1, 1)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    padding = tuple(int(rng.integers(0, span[i // 2])) for i in range(4))
    plane = tuple(int(rng.integers(max(1, s - padding[2 * i] - padding[2 * i + 1]), s + 7)) for i, s in enumerate(span))
    op = MaxPool2d(kernel, ints(rng, 1, 4), dilation, padding, CLAMPS[number % 4])
    return pool(rng, op, plane, int(rng.integers(1, 8)), step_of(rng), zero_of(rng))


def cases(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    chosen = [
        pool(rng, MaxPool2d((1, 1), (1, 1)), (4, 5), 3, 0.1, 0),
        pool(rng, MaxPool2d((6, 9), (1, 1)), (6, 9), 2, 0.1, 5),
        pool(rng, MaxPool2d((2, 2), (5, 5)), (11, 11), 1, 0.1, 5),
        pool(rng, MaxPool2d((1, 3), (1, 2), (1, 1), (0, 0, 1, 1)), (1, 40), 17, 0.1, 5),
        pool(rng, MaxPool2d((3, 3), (2, 2), (1, 1), (0, 1, 0, 1)), (8, 8), 200, 0.1, -128),
        pool(rng, MaxPool2d((3, 3), (1, 1), (3, 2), (2, 4, 3, 1)), (5, 5), 2, 0.1, -128),
    ]
    return [*(random_case(rng, number) for number in range(50)), *chosen]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(tmp_path, compiler):
    assert check(cases(1 if compiler == "gcc" else 2), tmp_path, compiler=compiler) == 2 * 56
