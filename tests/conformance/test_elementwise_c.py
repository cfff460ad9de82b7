"""add, sub, mul and the functions of one element equal the twin, broadcast or not."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node, random_data, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.lower._broadcast import all_pairs
from tinydeploy.lower._sum import solve_at
from tinydeploy.ops._op import Signature
from tinydeploy.ops.add import Add
from tinydeploy.ops.clamp import Clamp
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.logistic import Logistic
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.quantize import Quantize
from tinydeploy.ops.sub import Sub
from tinydeploy.ops.tanh import Tanh

SHAPES = [
    ((1, 4, 4, 8), (1, 4, 4, 8)),
    ((1, 4, 4, 8), (1, 1, 1, 8)),
    ((1, 1, 1, 8), (1, 4, 4, 8)),
    ((1, 3, 5, 2), (1, 3, 1, 2)),
    ((3, 1, 5), (4, 1)),
    ((6,), ()),
    ((2, 1, 3, 1, 2, 1), (1, 2, 1, 3, 1, 2)),
    ((1, 1), (1, 1)),
    ((4099,), (4099,)),
    ((2, 1, 4100), (1, 2, 4100)),
]
CLAMPS = [(float("-inf"), float("inf")), (0.0, 6.0), (0.0, float("inf")), (-1.0, 1.0)]


def scale(rng, edge):
    return float(np.exp(rng.uniform(-14 if edge else -5, 6 if edge else -2)))


def binary_cases(seed):
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(60):
        op = (Add, Sub, Mul)[number % 3]
        shape_a, shape_b = SHAPES[(number // 3) % len(SHAPES)]
        edge = number > 45
        a = s8(shape_a, scale(rng, edge), int(rng.integers(-128, 128)))
        b = s8(shape_b, scale(rng, edge), int(rng.integers(-128, 128)))
        largest = a.scale * b.scale * 8e3 if op is Mul else max(a.scale, b.scale) * 128
        out = Quant.per_tensor(
            largest / rng.uniform(60, 200), -128 if rng.random() < 0.4 else int(rng.integers(-50, 50))
        )
        operands = [a, b]
        if number % 5 == 4:
            which = int(rng.integers(2))
            operands[which] = (operands[which], random_data(rng, operands[which], 1)[0])
        node = op(clamp=CLAMPS[int(rng.integers(4))])
        cases.append(one_node(f"{op.name} {number} {shape_a} {shape_b}", node, operands, [out], rng, samples=4))
    return cases


def unary_cases(seed) -> list[Case]:
    rng = np.random.default_rng(seed)
    every = s8((1, 7, 300), 0.04, -3)
    cases = []
    for op, out in [
        (Clamp(low=0.0), Quant.per_tensor(0.02, -128)),
        (Clamp(low=-1.0, high=2.0), Quant.per_tensor(0.04, -3)),
        (Logistic(), Quant.per_tensor(1 / 256, -128)),
        (Tanh(), Quant.per_tensor(1 / 128, 0)),
        (Quantize(Elem.S8), Quant.per_tensor(0.1, 7)),
        (Quantize(Elem.U8), Quant.per_tensor(0.04, 125)),
    ]:
        cases.append(one_node(op.name, op, [every], [out], rng))
    u8 = Type((1, 300), Elem.U8, Quant.per_tensor(0.1, 100))
    cases.append(one_node("u8 to s8", Quantize(Elem.S8), [u8], [Quant.per_tensor(0.1, -28)], rng))
    for step, zero in [(0.05, 3), (1e-6, -128), (1e5, 127)]:
        cases.append(
            one_node("f32", Quantize(Elem.S8), [Type((1, 999), Elem.F32)], [Quant.per_tensor(step, zero)], rng)
        )
        cases.append(one_node("to f32", Dequantize(), [s8((1, 300), step, zero)], [None], rng))
    special = cases[-2].feeds["x0"]
    special[1, 0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    return cases


def far_cases() -> list[Case]:
    """Scales so far apart that the result never changes, or that every bit is shifted out."""
    rng = np.random.default_rng(3)
    shape, cases = (1, 6, 20), []
    for op, a, b, out in [
        (Add(clamp=CLAMPS[2]), (8.0, -128), (2.5, -127), (1e30, -128)),
        (Add(clamp=CLAMPS[2]), (0.04, 127), (0.04, 127), (0.0078125, -128)),
        (Sub(), (8.0, 3), (2.5, -127), (1e30, 127)),
        (Mul(), (4e9, 53), (5e10, 1), (9.7, 0)),
        (Mul(), (1e30, 0), (1e30, 1), (1.0, 0)),
        (Mul(clamp=CLAMPS[1]), (0.01, -128), (0.01, 1), (1e-12, -128)),
        (Mul(), (1e-20, -128), (1e-15, 1), (1.0, 7)),
    ]:
        operands = [s8(shape, *a), s8(shape, *b)]
        cases.append(one_node(f"far {op.name} {a} {b}", op, operands, [Quant.per_tensor(*out)], rng))
    return cases


def test_sums_far_beyond_the_result_are_refused_in_words():
    """No int32 form exists, and looking for one ends in no exception."""
    sig = Signature((s8((4,), 5e5), s8((4,), 2e5)), (s8((4,), 1e-30),))
    assert solve_at(all_pairs(Add(), sig), (5e35, 2e35), -128, 127, 22) is None


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
def test_far_apart(tmp_path, cpu):
    check(far_cases(), tmp_path, cpu)


@pytest.mark.parametrize("defines", [(), ("TD_NO_LONG_MUL",)], ids=["long", "short"])
def test_binary(tmp_path, defines):
    check(binary_cases(1), tmp_path, defines=defines)


def test_unary(tmp_path):
    check(unary_cases(1), tmp_path)


def test_clang(tmp_path):
    check([*binary_cases(2)[:20], *unary_cases(2)], tmp_path, compiler="clang")
