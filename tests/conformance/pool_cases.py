"""Random cases of the pooling operators."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Case, one_node, s8
from tinydeploy.ir import Quant
from tinydeploy.ops._op import Op

CLAMPS = ((float("-inf"), float("inf")), (0.0, 6.0), (-1.0, float("inf")), (-0.3, 0.2))


def ints(rng: np.random.Generator, low: int, high: int, count: int = 2) -> tuple[int, ...]:
    """Random integers, both ends included."""
    return tuple(int(x) for x in rng.integers(low, high, count, endpoint=True))


def pool(rng: np.random.Generator, op: Op, plane: tuple[int, int], channels: int, step: float, zero: int) -> Case:
    """The case of ``op`` on a plane; samples: random, all of the lowest, of the highest, of the zero point."""
    shape = (1, *plane, channels)
    made = one_node(f"{op} on {shape}", op, [s8(shape, step, zero)], [Quant.per_tensor(step, zero)], rng)
    flat = [np.full((1, *shape), value, np.int8) for value in (-128, 127, zero)]
    made.feeds["x0"] = np.concatenate([made.feeds["x0"], *flat])
    return made


def zero_of(rng: np.random.Generator) -> int:
    """A zero point, often at an end of the range."""
    return int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))]))


def step_of(rng: np.random.Generator) -> float:
    """A scale, now and then one at which every clamp is the whole range or one value."""
    return float(np.exp(rng.choice([rng.uniform(-5, -1), rng.uniform(-20, 12)])))
