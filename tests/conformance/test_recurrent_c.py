"""Recurrent layers equal their twins in every bit: all activations, clips, states, peepholes, computed weights."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node, s8
from tests.conformance.test_norm_c import f32
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops._op import NO_CLAMP
from tinydeploy.ops._recurrent import ACTIVATIONS
from tinydeploy.ops.gru import Gru
from tinydeploy.ops.lstm import Lstm
from tinydeploy.ops.rnn import Rnn
from tinydeploy.ops.svdf import Svdf
from tinydeploy.ops.unidirectional_sequence_lstm import UnidirectionalSequenceLstm

GATES = {Lstm: 4, Gru: 3, Rnn: 1}
FUNCTIONS = {Lstm: 3, Gru: 2, Rnn: 1}
SIZES = [(1, 1, 1, 1), (3, 1, 5, 4), (2, 3, 4, 5), (7, 2, 1, 6)]  # steps, batch, inputs, hidden


def weight(rng: np.random.Generator, *shape: int) -> tuple[Type, np.ndarray]:
    """A float32 constant of ordinary weights."""
    return Type(shape, Elem.F32), rng.normal(0, 0.5, shape).astype(np.float32)


def small(rng: np.random.Generator, *shape: int, per_row: bool) -> tuple[Type, np.ndarray]:
    """A constant of int8 weights."""
    scales = rng.uniform(0.002, 0.02, shape[0] if per_row else 1).astype(np.float32)
    quant = Quant(tuple(map(float, scales)), (0,) * len(scales), 0 if per_row else None)
    return Type(shape, Elem.S8, quant), rng.integers(-128, 128, shape).astype(np.int8)


def case(rng: np.random.Generator, op, size, *, bias=True, start="none", computed=False, peephole=False, w8="") -> Case:
    """One node; ``start``: initial states are "none", "computed" or "constant"; ``w8``: what has a scale, if int8."""
    steps, batch, inputs, hidden = size
    gates, states = GATES[type(op)], 2 if isinstance(op, Lstm) else 1
    shapes = ((gates * hidden, inputs), (gates * hidden, hidden))
    weights = [f32(*shape) if computed else weight(rng, *shape) for shape in shapes]
    weights = [small(rng, *shape, per_row=w8 == "row") for shape in shapes] if w8 else weights
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
    made += [case(rng, cls(every_step=False), size) for size in SIZES[2:]]
    made += [case(rng, cls(clip=0.4), SIZES[2], start="computed", computed=True)]
    made += [case(rng, cls(), SIZES[2], w8=w8) for w8 in ("row", "tensor")]
    names = list(ACTIVATIONS)
    count = FUNCTIONS[cls]
    for number in range(len(names)):
        chosen = tuple(names[(number + 3 * place) % len(names)] for place in range(count))
        made.append(case(rng, cls(activations=chosen), SIZES[1]))
        made.append(case(rng, cls(activations=chosen, alphas=(0.7,) * count, betas=(0.3,) * count), SIZES[1]))
    if cls is Lstm:
        made += [case(rng, Lstm(clip=clip), SIZES[2], peephole=True) for clip in (0.0, 0.4)]
        made += [case(rng, Lstm(input_forget=True), SIZES[2]), case(rng, Lstm(cell_clip=0.2), SIZES[2])]
    if cls is Gru:
        made += [case(rng, Gru(linear_before_reset=True), size, bias=bias) for size in SIZES for bias in (False, True)]
    return made


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("cls", [Lstm, Gru, Rnn])
def test_equals_the_twin(tmp_path, cls, compiler):
    made = cases(np.random.default_rng(1), cls)
    assert check(made, tmp_path, compiler=compiler) >= len(made)


def integer_lstm(rng: np.random.Generator, size, *, cell_bits: int, clip: float, scale: float, zeros=(-3, 5)) -> Case:
    """One node of unidirectional_sequence_lstm."""
    steps, batch, inputs, hidden = size
    gate_scales = np.repeat(scale * rng.uniform(0.3, 2, 4), hidden)
    per_gate = Quant(tuple(float(np.float32(s)) for s in gate_scales), (0,) * (4 * hidden), 0)

    def weights(*shape: int) -> tuple[Type, np.ndarray]:
        return Type(shape, Elem.S8, per_gate), rng.integers(-127, 128, shape).astype(np.int8)

    bias = (Type((4 * hidden,), Elem.S32), rng.integers(-3000, 3000, 4 * hidden).astype(np.int32))
    x, h = s8((steps, batch, inputs), 0.03, zeros[0]), s8((batch, hidden), 1 / 127, zeros[1])
    c = Type((batch, hidden), Elem.S16, Quant.per_tensor(2.0**-cell_bits, 0))
    op = UnidirectionalSequenceLstm(clip, 1 / 127, zeros[1], every_step=cell_bits != 15)
    given = [x, weights(4 * hidden, inputs), weights(4 * hidden, hidden), bias, h, c]
    return one_node(f"{op} {size} {cell_bits}", op, given, [h.quant, h.quant, c.quant], rng, samples=3)


def svdf(
    rng: np.random.Generator, *, integer: bool, bias: bool, rank: int, memory: int, computed: bool = False
) -> Case:
    """One node of svdf: 2 samples, 6 features, 4 units."""
    filters = 4 * rank
    shapes = ((2, 6), (filters, 6), (filters, memory), (4,), (2, filters * memory))
    op = Svdf(rank, (0.0, 3.0) if rank == 2 else NO_CLAMP)
    label = f"svdf {integer} {bias} {rank} {memory} {computed}"
    if not integer:
        given = [f32(*shapes[0]), weight(rng, *shapes[1]), weight(rng, *shapes[2]), weight(rng, 4), f32(*shapes[4])]
        given = [f32(*shape) for shape in shapes] if computed else given
        given[3] = given[3] if bias else None
        return one_node(label, op, given, [None, None], rng)
    quant = Quant.per_tensor
    state = Type(shapes[4], Elem.S16, quant(0.001, 0))
    features = (s8(shapes[1], 0.01), rng.integers(-128, 128, shapes[1]).astype(np.int8))
    times = (Type(shapes[2], Elem.S16, quant(0.0003, 0)), rng.integers(-32768, 32768, shapes[2]).astype(np.int16))
    of_bias = (Type((4,), Elem.S32), rng.integers(-40000, 40000, 4).astype(np.int32))
    given = [s8(shapes[0], 0.05, 7), features, times, of_bias if bias else None, state]
    return one_node(label, op, given, [quant(0.05, -9), state.quant], rng, samples=4)


def integer_cases(rng: np.random.Generator) -> list[Case]:
    """LSTM and SVDF of int8."""
    made = []
    for size in (*SIZES, (9, 1, 20, 10)):
        made += [
            integer_lstm(rng, size, cell_bits=bits, clip=clip, scale=scale)
            for bits, clip, scale in ((11, 0.0, 0.02), (15, 0.4, 0.003), (9, 0.0, 0.2), (12, 10.0, 0.0005))
        ]
    for zeros in ((127, -128), (0, 0)):
        made.append(integer_lstm(rng, SIZES[2], cell_bits=9, clip=0.0, scale=0.02, zeros=zeros))
    made += [
        svdf(rng, integer=True, bias=bias, rank=rank, memory=memory)
        for bias in (False, True)
        for rank in (1, 2)
        for memory in (1, 5)
    ]
    return made


def float_svdf_cases(rng: np.random.Generator) -> list[Case]:
    """SVDF in float32."""
    return [
        svdf(rng, integer=False, bias=bias, rank=rank, memory=memory, computed=computed)
        for bias in (False, True)
        for rank, memory in ((1, 1), (2, 5), (3, 4))
        for computed in (False, True)
    ]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("cases_of", [integer_cases, float_svdf_cases])
def test_streaming_equals_the_twin(tmp_path, cases_of, compiler):
    made = cases_of(np.random.default_rng(3))
    assert check(made, tmp_path, compiler=compiler) >= len(made)


def test_integers_without_a_long_multiply(tmp_path):
    check(integer_cases(np.random.default_rng(4)), tmp_path, cpu="cortex-m0", defines=("TD_NO_LONG_MUL",))
