"""TFLite models of several subgraphs, and variables, against LiteRT."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.tflite_build import TfliteModel
from tests.unit.frontends.tflite_models import binary, branching, counting, streaming
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load
from tinydeploy.ops.execute import run_float
from tinydeploy.validation.oracle import check_against


def agrees(path):
    need_module("ai_edge_litert")
    graph = load(path)
    assert check_against(path, graph), graph.warnings
    return graph


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_loop_with_a_counter_is_written_out(tmp_path, trips) -> None:
    graph = agrees(counting(trips).save(tmp_path, [0], [2, 3]))
    assert sum(node.op.name == "mul" for node in graph.nodes) == trips


def test_loop_that_never_ends(tmp_path) -> None:
    with pytest.raises(UnsupportedError, match=r"repeats too often|too many operators"):
        load(counting(1 << 30).save(tmp_path, [0], [3]))


def test_loop_whose_end_the_data_decide(tmp_path) -> None:
    model = counting(3)
    x = model.tensor([], "int32")
    model.operators[0]["inputs"][0] = x
    with pytest.raises(UnsupportedError, match="as often as the data say"):
        load(model.save(tmp_path, [0, x], [3]))


@pytest.mark.parametrize("truth", [False, True])
def test_known_condition_takes_one_branch(tmp_path, truth) -> None:
    model, inputs = branching(np.array([truth]))
    graph = agrees(model.save(tmp_path, inputs, [2]))
    assert [node.op.name for node in graph.nodes] == ["add" if truth else "mul"]


def test_computed_condition_takes_both(tmp_path) -> None:
    model, inputs = branching(None)
    path = model.save(tmp_path, inputs, [2])
    graph = agrees(path)
    assert "both branches are computed" in graph.warnings[0]
    x = np.array([[[1.0, -2.0, 0.0]]] * 2, "f4")
    result = run_float(graph, dict(zip(graph.inputs, (x, np.array([[True], [False]])), strict=True)))
    np.testing.assert_allclose(result[graph.outputs[0]], [x[0] + 2, x[1] * 3])


def test_call_and_recursion(tmp_path) -> None:
    model = TfliteModel()
    model.op(
        "CALL", [model.tensor([1, 3])], [model.tensor([1, 3])], subgraph=model.subgraph(binary("ADD", 1), [0], [2])
    )
    assert [node.op.name for node in load(model.save(tmp_path, [0], [1])).nodes] == ["add"]
    model.operators[0]["options"]["subgraph"] = 0
    with pytest.raises(UnsupportedError, match="without end"):
        load(model.save(tmp_path, [0], [1]))
    model.operators[0]["options"]["subgraph"] = 7
    with pytest.raises(InputError, match="2 subgraphs and uses number 7"):
        load(model.save(tmp_path, [0], [1]))


@pytest.mark.parametrize("initial", [False, True])
def test_variable_is_a_state(tmp_path, initial) -> None:
    model, inputs, outputs = streaming(initial=initial)
    path = model.save(tmp_path, inputs, outputs)
    graph = agrees(path) if initial else load(path)
    (state,) = graph.states
    assert state.initial.tolist() == ([[1.0, 2.0, 3.0]] if initial else [[0.0] * 3])
    x = np.ones((1, 4, 1, 3), "f4")
    steps = run_float(graph, {graph.inputs[0]: x}, steps=True)[graph.outputs[0]]
    np.testing.assert_array_equal(steps[0, :, 0], state.initial[0] + np.arange(1, 5)[:, None])


def test_variable_that_nothing_gives_a_value_is_refused(tmp_path) -> None:
    """Weights that are variables and are not in the file would all be zero."""
    model, inputs, outputs = streaming(initial=False)
    model.operators = [entry for entry in model.operators if entry["kind"] != "ASSIGN_VARIABLE"]
    with pytest.raises(UnsupportedError, match="never given a value"):
        load(model.save(tmp_path, inputs, outputs))


def test_variable_of_another_type_is_refused(tmp_path) -> None:
    model, inputs, outputs = streaming(initial=True)
    other = model.tensor([1, 2])
    model.op("ASSIGN_VARIABLE", [1, other], [])
    with pytest.raises(UnsupportedError, match="puts float32"):
        load(model.save(tmp_path, [*inputs, other], outputs))
