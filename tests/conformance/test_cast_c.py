"""Casts equal the twin between all integers, bool and float32, at the ends of every range and for every odd float."""

import numpy as np
import pytest

from tests.conformance.harness import Case, check, one_node
from tinydeploy.ir import Elem, Type
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext
from tinydeploy.ops.cast import Cast

INTEGERS = [Elem.S8, Elem.U8, Elem.S16, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64, Elem.BOOL]
KINDS = [*INTEGERS, Elem.F32]
SHAPE = (3, 50)


def numbers(rng: np.random.Generator, elem: Elem) -> np.ndarray:
    """[2, 3, 50] of all magnitudes, with the ends of all integer types and what lies next to them."""
    ends = [end + d for kind in INTEGERS for end in kind.limits for d in (-1, 0, 1)]
    halves = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -2.5]
    if elem is Elem.F32:
        odd = [np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3e38, *halves]
        bounds = np.array(ends, np.float32)
        near = np.concatenate([np.nextafter(bounds, np.float32(way)) for way in (-np.inf, np.inf)])
        data = rng.normal(0, 1, 300) * np.exp2(rng.integers(-10, 66, 300))
        data[: len(odd)] = odd
        data[len(odd) : len(odd) + 3 * len(bounds)] = np.concatenate([bounds, near])
        return data.astype(np.float32).reshape(2, *SHAPE)
    low, high = elem.limits
    values = (rng.integers(-(2**63), 2**63 - 1, 300) >> rng.integers(0, 63, 300)).tolist()
    values[: len(ends)] = ends
    limited = [x if low <= x <= high else low + x % (high - low + 1) for x in values]
    return np.array(limited, elem.dtype).reshape(2, *SHAPE)


def cases(seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    made = []
    for source in KINDS:
        for result in KINDS:
            if source is result or (source.bits == result.bits and Elem.BOOL not in (source, result)):
                continue
            case = one_node(f"{source} to {result}", Cast(result), [Type(SHAPE, Elem.S8)], [None], rng)
            case.graph.values["x0"].type = Type(SHAPE, source)
            case.feeds["x0"] = numbers(rng, source)
            made.append(case)
    return made


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equals_the_twin(tmp_path, compiler):
    every = cases(1)
    running = [case for case in every if not offers(case)[0].view]
    assert check(running, tmp_path, compiler=compiler) == 2 * len(running) > 120


def offers(case: Case):
    return offers_for(LowerContext(case.graph, case.graph.nodes[0], target_for("cortex-m0")))


@pytest.mark.parametrize(
    ("source", "result"), [(Elem.F32, Elem.F32), (Elem.S8, Elem.U8), (Elem.U32, Elem.S32), (Elem.BOOL, Elem.S8)]
)
def test_same_bits_are_a_view(source, result):
    case = one_node("view", Cast(result), [Type((4,), source)], [None], np.random.default_rng(0))
    assert [offer.view for offer in offers(case)] == [True]


@pytest.mark.parametrize(("source", "result"), [(Elem.F16, Elem.S8), (Elem.F32, Elem.F64), (Elem.S4, Elem.S8)])
def test_refused(source, result):
    case = one_node("refused", Cast(result), [Type((4,), source)], [None], np.random.default_rng(0))
    assert offers(case) == []
