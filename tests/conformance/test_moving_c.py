"""Operators that only move elements, pooling, mean and softmax equal the twin."""

import numpy as np

from tests.conformance.harness import check, one_node, random_data, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.pad import Pad
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.split import Split
from tinydeploy.ops.strided_slice import StridedSlice
from tinydeploy.ops.transpose import Transpose

Q = Quant.per_tensor(0.05, -7)
F32 = Elem.F32


def moving_cases(seed):
    rng = np.random.default_rng(seed)
    cases = []
    for shape, perm in [
        ((1, 4, 5, 3), (0, 3, 1, 2)),
        ((1, 4, 5, 3), (0, 2, 1, 3)),
        ((2, 3, 4, 5), (3, 2, 1, 0)),
        ((2, 3, 2, 3, 2, 2), (5, 0, 4, 1, 3, 2)),
        ((70, 80), (1, 0)),
    ]:
        cases.append(one_node(f"transpose {perm}", Transpose(perm=perm), [s8(shape, 0.05, -7)], [Q], rng))
    cases.append(one_node("transpose f32", Transpose(perm=(1, 0)), [Type((3, 5), F32)], [None], rng))
    for begin, end, stride in [
        ((0, 1, 0, 0), (1, 4, 6, 3), (1, 2, 1, 1)),
        ((0, 3, 5, 0), (1, -1, -1, 3), (1, -1, -2, 1)),
        ((0, 0, 2, 1), (1, 4, 3, 2), (1, 1, 1, 1)),
    ]:
        op = StridedSlice(begin=begin, end=end, stride=stride)
        cases.append(one_node(f"slice {stride}", op, [s8((1, 4, 6, 3), 0.05, -7)], [Q], rng))
    for padding in [
        ((0, 0), (1, 2), (2, 1), (0, 0)),
        ((0, 0), (0, 0), (0, 0), (1, 3)),
        ((1, 0), (0, 1), (2, 0), (0, 2)),
        ((0, 0), (0, 0), (0, 0), (0, 0)),
    ]:
        op = Pad(padding=padding, value=float(rng.choice([0.0, 1.0, -100.0])))
        cases.append(one_node(f"pad {padding}", op, [s8((1, 3, 4, 2), 0.05, -7)], [Q], rng))
    cases.append(one_node("pad f32", Pad(padding=((1, 0), (0, 2))), [Type((3, 4), F32)], [None], rng))
    for elem in (Elem.S16, Elem.S32, Elem.S64, Elem.U64, Elem.BOOL):
        for value in (0.0, 1.0, 77.0):
            op, kind = Pad(padding=((1, 0), (0, 0), (2, 3)), value=value), Type((2, 3, 4), elem)
            cases.append(one_node(f"pad {elem.value} {value}", op, [kind], [None], rng))
    for axis, sizes in [(3, (2, 3, 1)), (1, (4,)), (2, (1, 2)), (3, (0, 6))]:
        shape = [1, 4, 3, 6]
        cases.append(
            one_node(f"split {axis}", Split(axis=axis, sizes=sizes), [s8(shape, 0.05, -7)], [Q] * len(sizes), rng)
        )
    a, b, c = s8((1, 3, 4, 2), 0.05, -7), s8((1, 3, 4, 5), 0.05, -7), s8((1, 3, 4, 1), 0.09, 11)
    cases.append(one_node("concat", Concat(axis=3), [a, b], [Q], rng))
    cases.append(one_node("concat rescaled", Concat(axis=3), [a, c, b], [Q], rng))
    cases.append(one_node("concat constant", Concat(axis=3), [a, (c, random_data(rng, c, 1)[0])], [Q], rng))
    cases.append(one_node("concat rows", Concat(axis=1), [a, a], [Q], rng))
    return cases


def pool_cases(seed):
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(30):
        kernel = tuple(int(k) for k in rng.integers(1, 5, 2))
        stride = tuple(int(k) for k in rng.integers(1, 4, 2))
        padding = tuple(int(rng.integers(0, kernel[i // 2])) for i in range(4))
        plane = tuple(int(rng.integers(k, k + 6)) for k in kernel)
        zero = int(rng.integers(-128, 127))
        x = s8((1, *plane, int(rng.integers(1, 7))), 0.05, zero)
        quant = Quant.per_tensor(0.05, zero)
        clamp = [(float("-inf"), float("inf")), (0.0, 6.0), (-1.0, 1.0)][number % 3]
        average = AveragePool2d(kernel, stride, padding, bool(number % 2), clamp)
        cases.append(one_node(f"average {average}", average, [x], [quant], rng))
        largest = MaxPool2d(kernel, stride, (1, 1), padding, clamp)
        cases.append(one_node(f"max {largest}", largest, [x], [quant], rng))
    dilated = MaxPool2d((2, 3), (1, 1), (2, 2), (1, 1, 2, 2))
    cases.append(one_node("max dilated", dilated, [s8((1, 7, 8, 3), 0.05, -7)], [Q], rng))
    means = [((1, 5, 6, 4), (1, 2)), ((2, 3, 4), (2,)), ((1, 1, 9, 4), (1, 2)), ((7, 4), (0,))]
    means += [((1, 5, 6, 4), (1, 3)), ((2, 5, 6, 4), (0, 2)), ((2, 3, 2, 3, 2), (1, 3)), ((1, 1, 1, 4), (0, 1, 2))]
    for shape, axes in means:
        for out in (Q, Quant.per_tensor(0.02, -128), Quant.per_tensor(0.2, 3)):
            op = Mean(axes=axes, keep_dims=bool(rng.integers(2)))
            cases.append(one_node(f"mean {shape} {axes}", op, [s8(shape, 0.05, -7)], [out], rng, samples=6))
    for shape, axis in [((1, 10), 1), ((3, 7), 1), ((1, 2, 2, 5), 3), ((1, 1), 1), ((1, 3, 9), 2), ((1, 300), 1)]:
        for step in (0.05, 0.3, 0.002, 1.5):
            op = Softmax(axis=axis, beta=float(rng.choice([1.0, 0.5])))
            out = Quant.per_tensor(1 / 256, -128)
            cases.append(one_node(f"softmax {shape}", op, [s8(shape, step, 3)], [out], rng, samples=6))
    return cases


def test_moving(tmp_path):
    check(moving_cases(1), tmp_path)


def test_pooling(tmp_path):
    check(pool_cases(1), tmp_path)


def test_clang_and_short_multiply(tmp_path):
    check([*moving_cases(2), *pool_cases(2)], tmp_path, compiler="clang", defines=("TD_NO_LONG_MUL",))
