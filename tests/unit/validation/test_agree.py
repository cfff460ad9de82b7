"""When an imported graph and its runtime count as the same: each case let a wrong model through once."""

from __future__ import annotations

import numpy as np
import pytest

from tinydeploy.ir import Elem, Graph, Quant, Type
from tinydeploy.ops.cast import Cast
from tinydeploy.ops.gather import Gather
from tinydeploy.validation import agree
from tinydeploy.validation.check import random_samples

F32 = Type((3,), Elem.F32)


def rows(*values: list[float]) -> np.ndarray:
    return np.asarray(values, np.float32)


def test_equal_results_agree() -> None:
    right = rows([1, np.inf, np.nan], [1e-9, 0, -np.inf])
    assert agree.differs(right, right.copy(), F32) == ""
    assert agree.differs(rows([100, 200, 300.01]), rows([100, 200, 300]), F32) == ""


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([1, 2, 3], [np.inf, 9, 9]),
        ([np.inf, 2, 3], [np.inf, 9, 3]),
        ([np.inf, 2, 3], [-np.inf, 2, 3]),
        ([np.nan, 2, 3], [1, 2, 3]),
        ([1e-3, 0, 0], [1.1e-3, 0, 0]),
    ],
)
def test_wrong_floats_do_not(ours, theirs) -> None:
    assert agree.differs(rows(ours), rows(theirs), F32)


def test_every_sample_has_its_own_limit() -> None:
    assert agree.differs(rows([0.1, 0.2, 0.3], [1e6, 0, 0]), rows([0.1, 0.2, 0.31], [1e6, 0, 0]), F32)


@pytest.mark.parametrize("compare", [agree.differs, agree.differs_in_steps])
def test_shape_and_element_type_count(compare) -> None:
    assert compare(np.zeros((1, 2, 3), np.float32), np.zeros((1, 3, 2), np.float32), Type((2, 3), Elem.F32))
    assert compare(np.zeros((1, 3), np.float32), np.zeros((1, 3), np.int32), F32)
    assert compare(np.zeros((1, 3), np.int32), np.zeros((1, 3), np.float32), Type((3,), Elem.S32))


@pytest.mark.parametrize("elem", [Elem.S64, Elem.S32, Elem.BOOL])
def test_places_in_quantised_models_are_not_judged_in_steps(elem) -> None:
    ours, theirs = np.zeros((3, 1), elem.dtype), np.ones((3, 1), elem.dtype)
    assert agree.differs_in_steps(ours, theirs, Type((1,), elem))
    theirs[:2] = 0  # one flip between two values a step apart
    assert agree.differs_in_steps(ours, theirs, Type((1,), elem)) == ""


@pytest.mark.parametrize(("elem", "off", "right"), [(Elem.S8, 1, True), (Elem.S8, 40, False), (Elem.S4, 3, True)])
def test_quantised_values_are(elem, off, right) -> None:
    kind = Type((100,), elem, Quant.per_tensor(0.1))
    ours, theirs = np.zeros((1, 100), elem.dtype), np.zeros((1, 100), elem.dtype)
    theirs[0, 0] = off
    assert (agree.differs_in_steps(ours, theirs, kind) == "") == right


def test_indices_reach_every_row_and_no_other() -> None:
    graph = Graph("g")
    name = graph.add_value("i", Type((20,), Elem.S64))
    graph.inputs = [name]
    table = graph.add_value("t", Type((50, 2), Elem.F32), np.zeros((50, 2), np.float32))
    made = graph.add_node("c", Cast(elem=Elem.S32), (name,)).outputs[0]
    graph.outputs = [graph.add_node("g", Gather(axis=0), (table, made)).outputs[0]]
    assert agree.index_limit(graph, name) == 50
    drawn = np.concatenate([random_samples(graph, 40)["i"].ravel(), agree.random_feeds(graph, 0)["i"].ravel()])
    assert set(drawn.tolist()) == set(range(50))


def test_names_do_not_steer_the_tolerance() -> None:
    graph = Graph("g", warnings=["input 'pixels_float16' has an open batch, which becomes 1"])
    assert not agree.has_halves(graph)
    graph.warnings.append("weights 'w' are float16; they are computed in float32")
    assert agree.has_halves(graph)
