"""Recurrent layers equal their twins in every bit: all activations, clips, states, peepholes, computed weights."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node
from tests.conformance.test_norm_c import f32
from tinydeploy.ir import Elem, Type
from tinydeploy.ops._recurrent import ACTIVATIONS
from tinydeploy.ops.gru import Gru
from tinydeploy.ops.lstm import Lstm
from tinydeploy.ops.rnn import Rnn

GATES = {Lstm: 4, Gru: 3, Rnn: 1}
FUNCTIONS = {Lstm: 3, Gru: 2, Rnn: 1}
SIZES = [(1, 1, 1, 1), (3, 1, 5, 4), (2, 3, 4, 5), (7, 2, 1, 6)]  # steps, batch, inputs, hidden


def weight(rng: np.random.Generator, *shape: int) -> tuple[Type, np.ndarray]:
    """A float32 constant of ordinary weights."""
    return Type(shape, Elem.F32), rng.normal(0, 0.5, shape).astype(np.float32)


def case(rng: np.random.Generator, op, size, *, bias=True, start="none", computed=False, peephole=False) -> Case:
    """One node; ``start``: initial states are "none", "computed" or "constant"."""
    steps, batch, inputs, hidden = size
    gates, states = GATES[type(op)], 2 if isinstance(op, Lstm) else 1
    shapes = ((gates * hidden, inputs), (gates * hidden, hidden))
    weights = [f32(*shape) if computed else weight(rng, *shape) for shape in shapes]
    state = {"none": None, "computed": f32(batch, hidden), "constant": weight(rng, batch, hidden)}[start]
    given = [f32(steps, batch, inputs), *weights, weight(rng, 2 * gates * hidden) if bias else None]
    given += [state] * states
    given += [weight(rng, 3 * hidden)] if peephole else []
    label = f"{op} {size} bias {bias} start {start} computed {computed} peephole {peephole}"
    made = one_node(label, op, given, [None] * (1 + states), rng)
    for name, data in made.feeds.items():
        data[1:] = rng.normal(0, 1, data[1:].shape)
        made.feeds[name] = data
    return made


def cases(rng: np.random.Generator, cls: type) -> list[Case]:
    """Every option of an operator, and every activation in every place."""
    made = [case(rng, cls(), size) for size in SIZES]
    made += [case(rng, cls(), SIZES[2], bias=False, start=start) for start in ("computed", "constant")]
    made += [case(rng, cls(clip=0.4), SIZES[2], start="computed", computed=True)]
    names = list(ACTIVATIONS)
    count = FUNCTIONS[cls]
    for number in range(len(names)):
        chosen = tuple(names[(number + 3 * place) % len(names)] for place in range(count))
        made.append(case(rng, cls(activations=chosen), SIZES[1]))
        made.append(case(rng, cls(activations=chosen, alphas=(0.7,) * count, betas=(0.3,) * count), SIZES[1]))
    if cls is Lstm:
        made += [case(rng, Lstm(clip=clip), SIZES[2], peephole=True) for clip in (0.0, 0.4)]
        made += [case(rng, Lstm(input_forget=True), SIZES[2])]
    if cls is Gru:
        made += [case(rng, Gru(linear_before_reset=True), size, bias=bias) for size in SIZES for bias in (False, True)]
    return made


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("cls", [Lstm, Gru, Rnn])
def test_equals_the_twin(tmp_path, cls, compiler):
    made = cases(np.random.default_rng(1), cls)
    assert check(made, tmp_path, compiler=compiler) >= len(made)
