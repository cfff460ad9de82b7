"""Arrays from users: what fits, what is brought into shape, and what is said about the rest."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.quant.quant_graphs import Maker
from tinydeploy.errors import InputError
from tinydeploy.ir import Elem, Graph, Quant, Type
from tinydeploy.quant.feeds import fit


def graph_of(*shapes: tuple[int, ...], elem: Elem = Elem.F32, quant: Quant | None = None) -> Graph:
    graph = Graph("g")
    for i, shape in enumerate(shapes):
        graph.inputs.append(graph.add_value(f"in{i}", Type(shape, elem, quant)))
    graph.outputs = list(graph.inputs)
    return graph


IMAGE = graph_of((1, 8, 6, 3))


@pytest.mark.parametrize("shape", [(5, 8, 6, 3), (5, 1, 8, 6, 3), (5, 8, 6, 3, 1), (5, 8, 1, 6, 3)])
def test_axes_of_length_one_do_not_matter(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    fed = fit(IMAGE, {"x": x})["in0"]
    assert fed.shape == (5, 1, 8, 6, 3)
    assert fed.dtype == np.float32
    np.testing.assert_array_equal(fed.ravel(), x.ravel())


def test_channels_first_of_one_channel_is_channels_last() -> None:
    assert fit(graph_of((1, 1, 8, 8)), {"x": np.ones((4, 8, 8, 1))})["in0"].shape == (4, 1, 1, 8, 8)


def test_scalar_and_one_element_inputs() -> None:
    assert fit(graph_of(()), {"x": np.ones(4)})["in0"].shape == (4,)
    assert fit(graph_of((1, 1)), {"x": np.ones((4, 1))})["in0"].shape == (4, 1, 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float64, np.bool_])
def test_numbers_become_float32(dtype: type) -> None:
    assert fit(IMAGE, {"in0": np.ones((2, 8, 6, 3), dtype)})["in0"].dtype == np.float32


def test_quantised_input_takes_its_own_integers_as_they_are_and_others_as_real() -> None:
    graph = graph_of((1, 4), elem=Elem.S8, quant=Quant.per_tensor(0.5, 3))
    assert fit(graph, {"x": np.ones((2, 4), np.int8)})["in0"].dtype == np.int8
    for dtype in (np.uint8, np.int16, np.float64):
        assert fit(graph, {"x": np.ones((2, 4), dtype)})["in0"].dtype == np.float32


def test_plain_integer_input() -> None:
    graph = graph_of((1, 4), elem=Elem.S32)
    assert fit(graph, {"x": np.full((2, 4), 7.0)})["in0"].dtype == np.int32
    assert "fractions" in problem(graph, np.full((2, 4), 0.5))
    assert "int8" in problem(graph_of((1, 4), elem=Elem.S8), np.full((2, 4), 300))


def problem(graph: Graph, array: object, key: str = "x") -> str:
    with pytest.raises(InputError) as caught:
        fit(graph, {key: array}, "calib.npz")  # type: ignore[dict-item]
    assert "calib.npz" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("shape", "texts"),
    [
        ((5, 3, 8, 6), ["(samples, 8, 6, 3)", "numpy.transpose(x, (0, 2, 3, 1))", "channels last", "scramble"]),
        ((5, 6, 8, 3), ["numpy.transpose(x, (0, 2, 1, 3))"]),
        ((8, 6, 3), ["x[numpy.newaxis]"]),
        ((5, 144), ["x.reshape((-1, 8, 6, 3))"]),
        ((5, 8, 6, 4), ["(5, 8, 6, 4)", "(samples, 8, 6, 3)", "tinydeploy inspect"]),
        ((5, 1440), ["10 inputs", "load()"]),
    ],
)
def test_a_wrong_shape_is_said_with_the_right_one_and_a_way(shape: tuple[int, ...], texts: list[str]) -> None:
    said = problem(IMAGE, np.zeros(shape))
    for text in texts:
        assert text in said


def test_channels_first_model_with_channels_last_data() -> None:
    said = problem(graph_of((1, 3, 8, 6)), np.zeros((5, 8, 6, 3)))
    assert "numpy.transpose(x, (0, 3, 1, 2))" in said
    assert "channels first" in said


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([[1.0, np.nan, 2.0, np.inf]]), "2 values are NaN or infinite, the first at [0, 1]"),
        (np.zeros((0, 4)), "no samples"),
        (np.array(3.0), "no samples"),
        (np.array([{"a": 1}], dtype=object), "dtype object"),
        (np.array([["a", "b", "c", "d"]]), "dtype <U1"),
        (np.ones((1, 4), np.complex64), "dtype complex64"),
        (np.full((1, 4), 1e300), "beyond float32"),
    ],
)
def test_values_that_cannot_be_used(array: np.ndarray, text: str) -> None:
    assert text in problem(graph_of((1, 4)), array)


def test_everything_wrong_is_said_at_once() -> None:
    graph = graph_of((1, 4), (1, 3), (2,))
    with pytest.raises(InputError) as caught:
        fit(graph, {"in0": np.zeros((5, 5)), "in1": np.full((4, 3), np.nan), "other": np.zeros(3)})
    said = str(caught.value)
    assert len(caught.value.problems) == 3
    assert "no array for input 'in2'" in said
    assert "'other' (3,)" in said


def test_different_numbers_of_samples() -> None:
    with pytest.raises(InputError, match="'in0' 5, 'in1' 4"):
        fit(graph_of((1, 4), (1, 3)), {"in0": np.zeros((5, 4)), "in1": np.zeros((4, 3))})


def test_the_alias_is_for_single_inputs_only() -> None:
    with pytest.raises(InputError, match="no array for input 'in0'"):
        fit(graph_of((1, 4), (1, 3)), {"x": np.zeros((5, 4)), "in1": np.zeros((5, 3))})


def stateful() -> Graph:
    make = Maker()
    x = make.input(1, 4)
    h = make.graph.add_value("h", make.graph.type(x))
    new = make.node("add", x, h)
    make.state(h, new)
    return make.done(new)


def test_sequences_are_for_models_with_state() -> None:
    assert fit(stateful(), {"x": np.zeros((5, 9, 4))})["in"].shape == (5, 9, 1, 4)
    assert fit(stateful(), {"x": np.zeros((5, 4))})["in"].shape == (5, 1, 4)
    assert "(samples, steps, 4)" in problem(stateful(), np.zeros((5, 9, 3)))
    assert "(samples, 4)" in problem(graph_of((1, 4)), np.zeros((5, 9, 4)))
