"""Softmax equals the twin for any depth, at scales that use one step or all, and where the sum is largest."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node, s8
from tinydeploy.ir import Quant
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext
from tinydeploy.ops.softmax import Softmax

OUT = Quant.per_tensor(1 / 256, -128)
SHAPES = [
    ((1,), 0),
    ((1, 1), 1),
    ((1, 2), 1),
    ((1, 10), 1),
    ((5, 7), 1),
    ((2, 3, 4, 5), 3),
    ((1, 3, 9, 1), 2),
    ((2, 1, 3, 2, 1, 4), 5),
    ((1, 511), 1),
    ((1, 512), 1),
    ((2, 4095), 1),
]
SCALES = [1e-9, 1e-3, 0.004, 0.05, 0.125, 0.7, 8.0, 1e4, 1e9]


def patterns(rng: np.random.Generator, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Samples: random, all equal (the largest sum), equal at both ends, one winner, two values next to each other."""
    one = np.full(shape, -128)
    one[(0,) * len(shape)] = 127
    near = rng.choice([5, 6], shape)
    equal = [np.full(shape, value) for value in (-128, 0, 127)]
    every = [rng.integers(-128, 128, shape), rng.choice([-128, 127], shape), *equal, one, near]
    return np.stack(every).astype(np.int8)


def case(rng: np.random.Generator, shape: tuple[int, ...], axis: int, scale: float, beta: float) -> Case:
    label = f"softmax {shape} {axis} scale {scale} beta {beta}"
    made = one_node(label, Softmax(axis, beta), [s8(shape, scale, int(rng.integers(-128, 128)))], [OUT], rng)
    made.feeds["x0"] = patterns(rng, shape, axis)
    return made


def cases(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    small = [(shape, axis) for shape, axis in SHAPES if np.prod(shape) < 600]
    made = [case(rng, *where, scale, 1.0) for where in small for scale in SCALES]
    made += [case(rng, *where, 0.05, 1.0) for where in SHAPES if where not in small]
    made += [
        case(rng, (2, 9), 1, float(np.exp(rng.uniform(-9, 4))), float(np.exp(rng.uniform(-3, 3)))) for _ in range(40)
    ]
    return made


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_equals_the_twin(tmp_path, defines):
    assert check(cases(1), tmp_path, cpu="cortex-m0" if defines else "host", defines=defines) > 200


def test_clang(tmp_path):
    check(cases(2), tmp_path, compiler="clang")


@pytest.mark.parametrize(("shape", "axis"), [((1, 4096), 1), ((3, 4), 0)], ids=["sum overflows", "inner axis"])
def test_refused(shape, axis):
    rng = np.random.default_rng(0)
    one = one_node("refused", Softmax(axis), [s8(shape, 0.1)], [OUT], rng)
    assert offers_for(LowerContext(one.graph, one.graph.nodes[0], target_for("host"))) == []
