"""Weighted layers in float32, int32, with small weights, computed weights and several samples equal the twin."""

import numpy as np
import pytest

from tests.conformance import general_cases
from tests.conformance.harness import check
from tinydeploy.ir import Elem


def cases(operator: str, seed: int, count: int):
    rng = np.random.default_rng(seed)
    forms = [f for f in general_cases.FORMS if (operator, f) not in {("depthwise", "int32"), ("dense", "int8")}]
    return [getattr(general_cases, operator)(rng, form, i) for form in forms for i in range(count)]


LAYERS = ["conv", "depthwise", "dense", "volume", "transposed"]


@pytest.mark.parametrize("operator", LAYERS)
def test_equals_the_twin(tmp_path, operator):
    assert check(cases(operator, 1, 10), tmp_path) > 80


@pytest.mark.parametrize("operator", LAYERS)
def test_clang(tmp_path, operator):
    check(cases(operator, 2, 3), tmp_path, compiler="clang")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_matmul(tmp_path, compiler):
    rng = np.random.default_rng(3)
    made = [general_cases.matmul(rng, elem, i) for elem in (Elem.F32, Elem.S32, Elem.S8) for i in range(12)]
    assert check(made, tmp_path, compiler=compiler) > 90
