"""Normalisations equal their twins in every bit: float32 along any axes, int8 at scales that use one step or all."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node, s8
from tests.conformance.test_softmax_c import patterns
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.batch_norm import BatchNorm
from tinydeploy.ops.l2_normalize import L2Normalize
from tinydeploy.ops.layer_norm import LayerNorm
from tinydeploy.ops.local_response_norm import LocalResponseNorm
from tinydeploy.ops.log_softmax import LogSoftmax
from tinydeploy.ops.softmax import Softmax

SHAPES = [((7,), 0), ((1, 10), 1), ((3, 5), 0), ((2, 3, 4, 5), 1), ((2, 1, 3, 2, 2, 4), 5), ((2, 3, 2, 2, 1, 4), 2)]
LINES = [
    ((7,), (0,)),
    ((3, 9), (1,)),
    ((2, 3, 4), (0, 2)),
    ((2, 3, 4, 5), (2, 3)),
    ((2, 3, 4, 5), (1,)),
    ((2, 3, 2, 2, 3, 2), (1, 3, 5)),
    ((2, 3, 2, 2, 3, 2), (0, 2, 4)),
    ((1, 1, 1), (1,)),
]


def f32(*shape: int) -> Type:
    """A float32 type."""
    return Type(shape, Elem.F32)


def constant(rng: np.random.Generator, *shape: int) -> tuple[Type, np.ndarray]:
    """A normally distributed float32 constant."""
    return f32(*shape), rng.normal(1, 0.3, shape).astype(np.float32)


def softmax_cases(rng: np.random.Generator) -> list[Case]:
    """Softmax and its logarithm in float32, ordinary and extreme values, NaN and infinities."""
    made = []
    for shape, axis in SHAPES:
        for op in (Softmax(axis, 1.0), Softmax(axis, 0.3), LogSoftmax(axis)):
            case = one_node(f"{op} {shape}", op, [f32(*shape)], [None], rng, samples=4)
            case.feeds["x0"][1] = rng.normal(0, 30, shape)
            case.feeds["x0"][2].ravel()[0] = np.nan
            case.feeds["x0"][3].ravel()[-1] = np.inf
            made.append(case)
    return made


def line_cases(rng: np.random.Generator) -> list[Case]:
    """layer_norm and l2_normalize over any axes."""
    made = []
    for shape, axes in LINES:
        inner = tuple(shape[axis] for axis in axes)
        small = (1, *inner[1:])
        for epsilon, rms in ((1e-5, False), (1e-3, True), (0.0, False)):
            op = LayerNorm(axes, epsilon, rms)
            operands = [
                [],
                [constant(rng, *inner), constant(rng, *inner)],
                [None, constant(rng, *small)],
                [constant(rng, inner[-1]), None],
                [f32(*inner), f32(*inner)],
            ]
            made += [one_node(f"{op} {shape} {rest}", op, [f32(*shape), *rest], [None], rng) for rest in operands]
        for epsilon in (1e-6, 0.0, 2.0):
            made.append(one_node(f"l2 {shape}", L2Normalize(axes, epsilon), [f32(*shape)], [None], rng))
    return made


def channel_cases(rng: np.random.Generator) -> list[Case]:
    """Batch and local response normalisation."""
    made = []
    for shape in ((4,), (2, 5), (2, 3, 2, 7)):
        channels = shape[-1]
        fixed = [constant(rng, channels) for _ in range(4)]
        statistics = [f32(channels), *fixed[:3]]
        if len(shape) > 1:
            made.append(one_node(f"batch {shape}", BatchNorm(1e-3), [f32(*shape), *fixed], [None], rng))
            made.append(one_node(f"batch computed {shape}", BatchNorm(1e-3), [f32(*shape), *statistics], [None], rng))
        for size, beta in ((1, 0.75), (2, 0.5), (3, 1.0), (5, 0.3), (99, 0.75)):
            op = LocalResponseNorm(size, 0.02, beta, 1.5)
            made.append(one_node(f"{op} {shape}", op, [f32(*shape)], [None], rng))
    return made


def integer_cases(rng: np.random.Generator) -> list[Case]:
    """log_softmax and l2_normalize of int8."""
    made = []
    for shape in ((1, 1), (1, 2), (3, 7), (2, 3, 4, 5), (1, 300), (1, 4095)):
        axis = len(shape) - 1
        for scale in (1e-9, 1e-3, 0.05, 0.125, 0.7, 8.0, 1e4) if np.prod(shape) < 400 else (0.01, 0.05):
            kind = s8(shape, scale, int(rng.integers(-128, 128)))
            case = one_node(f"log {shape} {scale}", LogSoftmax(axis), [kind], [Quant.per_tensor(1 / 16, 127)], rng)
            case.feeds["x0"] = patterns(rng, shape, axis)
            made.append(case)
    for shape, axes in (*LINES, ((1, 33000), (1,)), ((4, 300), (1,))):
        for zero in (-128, 0, 127):
            op, out = L2Normalize(axes), Quant.per_tensor(1 / 128, 0)
            case = one_node(f"l2 {shape} {zero}", op, [s8(shape, 0.1, zero)], [out], rng)
            near = np.clip(zero + rng.integers(-2, 3, (2, *shape)), -128, 127)
            every = [case.feeds["x0"], near, np.full((1, *shape), zero), np.full((1, *shape), -128)]
            case.feeds["x0"] = np.concatenate(every).astype(np.int8)
            made.append(case)
    return made


CASES = {
    "softmax": softmax_cases,
    "lines": line_cases,
    "channels": channel_cases,
    "integers": integer_cases,
}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", CASES)
def test_equals_the_twin(tmp_path, kind, compiler):
    cases = CASES[kind](np.random.default_rng(1))
    assert check(cases, tmp_path, compiler=compiler) >= 2 * len(cases)


def test_without_a_long_multiply(tmp_path):
    check(integer_cases(np.random.default_rng(2)), tmp_path, cpu="cortex-m0", defines=("TD_NO_LONG_MUL",))
