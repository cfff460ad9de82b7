"""Weighted layers in float32, int32, with small weights, computed weights and several samples equal the twin."""

import numpy as np
import pytest

from tests.conformance import general_cases
from tests.conformance.harness import check, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.fully_connected import FullyConnected


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


def test_sums_that_leave_int32(tmp_path):
    """A layer whose bias and products wrap: the whole int32 range is scaled and rounded once."""
    rng = np.random.default_rng(4)
    made = []
    for number, scale in enumerate((1e7, 3.3e6, 123456.7)):
        inputs, outputs = 700, 6
        weights = (Type((outputs, inputs), Elem.S8, Quant.per_tensor(1.0)), rng.choice([-128, 127], (outputs, inputs)))
        bias = rng.integers(2**31 - 5000, 2**31, outputs) * rng.choice([-1, 1], outputs)
        held = (Type((outputs,), Elem.S32), bias.astype(np.int32))
        x = s8((3, inputs), 1.0, int(rng.integers(-128, 128)))
        weights = (weights[0], weights[1].astype(np.int8))
        made.append(
            one_node(f"wraps {number}", FullyConnected(), [x, weights, held], [Quant.per_tensor(scale, 3)], rng)
        )
    assert check(made, tmp_path) == 6


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_matmul(tmp_path, compiler):
    rng = np.random.default_rng(3)
    made = [general_cases.matmul(rng, elem, i) for elem in (Elem.F32, Elem.S32, Elem.S8) for i in range(12)]
    assert check(made, tmp_path, compiler=compiler) > 90
