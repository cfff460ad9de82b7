"""Operators that only move elements equal the twin for random shapes of rank 0 to 6 and all element types."""

import dataclasses

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node, random_data
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.pad import Pad
from tinydeploy.ops.split import Split
from tinydeploy.ops.strided_slice import StridedSlice
from tinydeploy.ops.transpose import Transpose

Q = Quant.per_tensor(0.05, -7)
ELEMENTS = [Elem.S8, Elem.S16, Elem.S32, Elem.F32, Elem.U8, Elem.S64]


class Maker:
    """Random cases; about a third of the axes has length 1."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def kind(self, least_rank: int = 0, elements: list[Elem] = ELEMENTS) -> Type:
        rank = int(self.rng.integers(least_rank, 7))
        shape = tuple(int(n) for n in self.rng.choice([1, 1, 2, 3, 4, 5, 8], rank))
        elem = elements[int(self.rng.integers(len(elements)))]
        return Type(shape, elem, Q if elem is Elem.S8 else None)

    def transpose(self) -> Case:
        kind = self.kind()
        perm = tuple(int(axis) for axis in self.rng.permutation(kind.rank))
        return one_node(f"transpose {kind} {perm}", Transpose(perm), [kind], [kind.quant], self.rng)

    def slice(self) -> Case:
        kind = self.kind()
        bounds = [self.bound(size) for size in kind.shape]
        op = StridedSlice(*(tuple(b[i] for b in bounds) for i in range(3)))
        return one_node(f"{kind} {op}", op, [kind], [kind.quant], self.rng)

    def bound(self, size: int) -> tuple[int, int, int]:
        begin, stride = int(self.rng.integers(size)), int(self.rng.choice([1, 1, 1, 2, 3, -1, -2]))
        low, high = (begin + 1, size + 1) if stride > 0 else (-1, begin)
        return begin, int(self.rng.integers(low, high)), stride

    def split(self) -> Case:
        kind = self.kind(least_rank=1)
        axis = int(self.rng.integers(kind.rank))
        cuts = np.sort(self.rng.integers(0, kind.shape[axis] + 1, int(self.rng.integers(0, 4))))
        sizes = tuple(int(n) for n in np.diff(np.concatenate([[0], cuts, [kind.shape[axis]]])) if n)
        return one_node(f"split {kind} {axis} {sizes}", Split(axis, sizes), [kind], [kind.quant] * len(sizes), self.rng)

    def concat(self) -> Case:
        kind = self.kind(least_rank=1)
        axis = int(self.rng.integers(kind.rank))
        inputs = []
        for number in range(int(self.rng.integers(1, 5))):
            length = int(self.rng.integers(1, 6))
            one = kind.with_shape((*kind.shape[:axis], length, *kind.shape[axis + 1 :]))
            if kind.quant is not None and self.rng.random() < 0.3:
                scale, zero = float(np.exp(self.rng.uniform(-6, 1))), int(self.rng.integers(-128, 128))
                one = dataclasses.replace(one, quant=Quant.per_tensor(scale, zero))
            constant = number > 0 and self.rng.random() < 0.2
            inputs.append((one, random_data(self.rng, one, 1)[0]) if constant else one)
        return one_node(f"concat {kind} {axis}", Concat(axis), inputs, [kind.quant], self.rng)

    def pad(self) -> Case:
        kind = self.kind(elements=[elem for elem in ELEMENTS if elem.bits <= 32])
        padding = tuple(tuple(int(n) for n in self.rng.choice([0, 0, 0, 1, 2], 2)) for _ in kind.shape)
        op = Pad(padding, float(self.rng.choice([0.0, 1.0, -3.0, 1e9])))
        return one_node(f"{kind} {op}", op, [kind], [kind.quant], self.rng)


def offers(case: Case) -> list[Offer]:
    return offers_for(LowerContext(case.graph, case.graph.nodes[0], target_for("host")))


@pytest.mark.parametrize("operator", ["transpose", "slice", "split", "concat", "pad"])
def test_equals_the_twin(tmp_path, operator):
    maker = Maker(len(operator))
    assert check([getattr(maker, operator)() for _ in range(60)], tmp_path) > 40


def test_clang(tmp_path):
    maker = Maker(9)
    made = [make() for _ in range(8) for make in (maker.transpose, maker.slice, maker.split, maker.concat, maker.pad)]
    check(made, tmp_path, compiler="clang")


KIND = Type((2, 3, 1, 4), Elem.S8, Q)


@pytest.mark.parametrize(
    ("op", "view"),
    [
        (Transpose((0, 2, 1, 3)), True),
        (Transpose((0, 1, 3, 2)), True),
        (Transpose((1, 0, 2, 3)), False),
        (StridedSlice((0, 0, 0, 0), (2, 3, 1, 4), (1, 1, 1, 1)), True),
        (StridedSlice((0, 0, 0, 0), (2, 3, 1, 4), (1, 1, 5, 1)), True),
        (StridedSlice((0, 0, 0, 0), (2, 2, 1, 4), (1, 1, 1, 1)), False),
        (StridedSlice((0, 0, 0, 3), (2, 3, 1, -1), (1, 1, 1, -1)), False),
        (Split(1, (3,)), True),
        (Split(1, (1, 2)), False),
        (Concat(1), True),
        (Pad(((0, 0),) * 4), True),
        (Pad(((0, 0), (0, 1), (0, 0), (0, 0))), False),
    ],
)
def test_what_changes_nothing_is_a_view(op, view):
    count = len(op.sizes) if isinstance(op, Split) else 1
    case = one_node("view", op, [KIND], [Q] * count, np.random.default_rng(0))
    assert [offer.view for offer in offers(case)] == [view]


@pytest.mark.parametrize(("op", "inputs"), [(Concat(0), 2), (StridedSlice((1, 0), (2, 64), (1, 1)), 1)])
def test_whole_rows_may_stay_where_they_are(op, inputs):
    """A copy along the slowest axis may lie over its own input: the planner then needs no second buffer."""
    kind = Type((2, 64), Elem.S8, Q)
    case = one_node("rows", op, [kind] * inputs, [Q], np.random.default_rng(0))
    access = offers(case)[0].access
    starts = [0, 128] if inputs == 2 else [-64]
    assert [access.distance(i, 0) for i in range(inputs)] == starts
