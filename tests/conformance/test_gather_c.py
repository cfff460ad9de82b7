"""Gather, scatter, tile, broadcast and one-hot in C equal the twin, indices of all kinds."""

import numpy as np

from tests.conformance.harness import check, one_node
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.broadcast_to import BroadcastTo
from tinydeploy.ops.dynamic_update_slice import DynamicUpdateSlice
from tinydeploy.ops.gather import Gather, GatherElements, GatherNd
from tinydeploy.ops.one_hot import OneHot
from tinydeploy.ops.scatter import REDUCTIONS, ScatterElements, ScatterNd
from tinydeploy.ops.tile import Tile

ELEMS = (Elem.F32, Elem.S8, Elem.U8, Elem.S16, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64)
Q = Quant.per_tensor(0.05, -7)


def indexed(rng, label, op, inputs, place, reach, elem=Elem.S32, outputs=(None,)):
    """Cases with the indices (``inputs[place]`` is their shape) computed and constant; some lie outside."""
    shape = inputs[place]
    data = rng.integers(-reach - 2, reach + 2, (2, *shape)).astype(elem.dtype)
    data.ravel()[0] = np.iinfo(elem.dtype).max
    data.ravel()[-1] = np.iinfo(elem.dtype).min
    kind = Type(shape, elem)
    made = []
    for constant in (False, True):
        given = [*inputs[:place], (kind, data[0]) if constant else kind, *inputs[place + 1 :]]
        case = one_node(f"{label} {elem.value} {constant}", op, given, outputs, rng)
        if not constant:
            case.feeds[f"x{place}"] = data
        made.append(case)
    return made


def gather_cases(rng):
    cases = []
    x = Type((2, 4, 3), Elem.F32)
    for elem in (Elem.S32, Elem.S64):
        for axis in range(3):
            cases += indexed(rng, f"gather {axis}", Gather(axis), [x, (2, 2)], 1, x.shape[axis], elem)
        cases += indexed(rng, "gather batch", Gather(2, 1), [x, (2, 2)], 1, 3, elem)
        cases += indexed(rng, "gather scalar", Gather(1), [x, ()], 1, 4, elem)
        cases += indexed(rng, "gather_nd", GatherNd(), [x, (3, 2)], 1, 3, elem)
        cases += indexed(rng, "gather_nd all", GatherNd(), [x, (3, 3)], 1, 3, elem)
        cases += indexed(rng, "gather_nd batch", GatherNd(1), [x, (2, 5, 1)], 1, 4, elem)
        for axis in range(3):
            cases += indexed(rng, "elements", GatherElements(axis), [x, (2, 3, 2)], 1, x.shape[axis], elem)
    for elem in (*ELEMS, Elem.BOOL):
        cases += indexed(rng, f"gather {elem.value}", Gather(1), [Type((3, 5, 2), elem), (4,)], 1, 5)
    for elem in (Elem.S8, Elem.S16, Elem.F32, Elem.S64):
        for width in (1, 15, 16, 37):
            cases += indexed(rng, f"gather {elem.value} of {width}", Gather(0), [Type((4, width), elem), (3,)], 1, 4)
    cases += indexed(rng, "gather s8", Gather(1), [Type((3, 5, 2), Elem.S8, Q), (4,)], 1, 5, outputs=(Q,))
    table = (Type((9, 3), Elem.S8), rng.integers(-9, 9, (9, 3)).astype(np.int8))
    cases += indexed(rng, "embedding", Gather(0), [table, (4,)], 1, 9)[:1]
    return cases


def scatter_cases(rng):
    cases = []
    for reduction in REDUCTIONS:
        for elem in ELEMS:
            x, updates = Type((3, 4), elem), Type((2, 4), elem)
            cases += indexed(rng, f"elements {reduction}", ScatterElements(0, reduction), [x, (2, 4), updates], 1, 3)
            updates = Type((5, 4), elem)
            cases += indexed(rng, f"nd {reduction}", ScatterNd(reduction), [x, (5, 1), updates], 1, 3, Elem.S64)
    x = Type((3, 4), Elem.S8, Q)
    cases += indexed(rng, "s8", ScatterNd(), [x, (2, 2), Type((2,), Elem.S8, Q)], 1, 3, outputs=(Q,))
    zeros = (Type((3, 4), Elem.F32), np.zeros((3, 4), np.float32))
    cases += indexed(rng, "zeros", ScatterNd("add"), [zeros, (2, 2), Type((2,), Elem.F32)], 1, 3)
    return cases


def repeat_cases(rng):
    cases = []
    for elem in (Elem.S8, Elem.S16, Elem.F32, Elem.S64):
        for repeats in ((1, 3, 2), (2, 1, 1), (1, 1, 1), (2, 2, 2), (1, 1, 4)):
            cases.append(one_node(f"tile {repeats}", Tile(repeats), [Type((2, 3, 2), elem)], [None], rng))
        for shape, wanted in [((3, 1), (2, 3, 4)), ((1,), (3, 4)), ((), (2, 2)), ((2, 1, 3, 1, 2), (2, 4, 3, 5, 2))]:
            cases.append(one_node(f"to {wanted}", BroadcastTo(wanted), [Type(shape, elem)], [None], rng))
    return [case for case in cases if case.label != "tile (1, 1, 1)"]


def update_cases(rng):
    cases = []
    for elem in (Elem.S8, Elem.S16, Elem.F32, Elem.S64):
        for wide in (Elem.S32, Elem.S64):
            inputs = [Type((3, 4, 5), elem), Type((2, 4, 3), elem), (3,)]
            cases += indexed(rng, f"update {elem.value}", DynamicUpdateSlice(), inputs, 2, 2, wide)
    return cases


def one_hot_cases(rng):
    cases = []
    for elem in (Elem.BOOL, Elem.S16, Elem.F32, Elem.S64):
        for axis in range(3):
            op = OneHot(4, axis, from_end=axis != 1)
            cases += indexed(rng, f"one_hot {elem.value}", op, [(2, 3), Type((2,), elem)], 0, 4, Elem.S64)
    return cases


def test_gather(tmp_path):
    check(gather_cases(np.random.default_rng(1)), tmp_path)


def test_scatter(tmp_path):
    check(scatter_cases(np.random.default_rng(2)), tmp_path)


def test_repeat_and_one_hot(tmp_path):
    rng = np.random.default_rng(3)
    check([*repeat_cases(rng), *one_hot_cases(rng), *update_cases(rng)], tmp_path)
