"""The executor: samples stacked or looped, chunks, states over steps, feeds that do not fit."""

import dataclasses

import numpy as np
import pytest

from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.ir import Elem, Graph, Quant, State, Type, Value
from tinydeploy.ops import execute
from tinydeploy.ops.add import Add
from tinydeploy.ops.cast import Cast
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.ops.fully_connected import FullyConnected
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.mul import Mul
from tinydeploy.ops.quantize import Quantize
from tinydeploy.ops.reshape import Reshape
from tinydeploy.ops.softmax import Softmax
from tinydeploy.ops.split import Split
from tinydeploy.ops.strided_slice import StridedSlice
from tinydeploy.ops.transpose import Transpose


def start(*shape, elem=Elem.F32, quant=None):
    graph = Graph("g", inputs=["x"])
    graph.values["x"] = Value("x", Type(shape, elem, quant))
    return graph


def constant(graph, data, quant=None):
    elem = next(e for e in Elem if e.dtype == data.dtype and e is not Elem.S4)
    return graph.add_value("c", Type(data.shape, elem, quant), data)


def then(graph, op, *inputs, quant=None):
    node = graph.add_node(op.name, op, inputs)
    for name in node.outputs:
        graph.values[name].type = dataclasses.replace(graph.type(name), quant=quant)
    graph.outputs = list(node.outputs)
    return node.outputs[0]


def mixed_graph():
    """Operators that stack and operators that do not, constants that broadcast, several outputs, a scalar."""
    rng = np.random.default_rng(1)
    graph = start(1, 6, 5, 4)
    value = then(
        graph, Conv2d(padding=(1, 1, 1, 1)), "x", constant(graph, rng.normal(size=(3, 3, 3, 4)).astype("f4")), None
    )
    value = then(graph, Mul(), value, constant(graph, rng.normal(size=3).astype("f4")))
    value = then(graph, Add(), constant(graph, rng.normal(size=(1, 6, 5, 3)).astype("f4")), value)
    value = then(graph, Concat(3), value, constant(graph, rng.normal(size=(1, 6, 5, 2)).astype("f4")))
    value = then(graph, MaxPool2d((2, 2), (2, 2)), value)
    value = then(graph, Transpose((3, 0, 1, 2)), value)
    value = then(graph, StridedSlice((1, 0, 0, 0), (5, 1, 3, 2), (2, 1, 1, 1)), value)
    value = then(graph, Reshape((3, 4)), value)
    value = then(graph, Softmax(0), value)
    then(graph, Split(0, (1, 2)), value)
    first, second = graph.outputs
    total = then(graph, Mean((0, 1)), second)
    graph.outputs = [first, second, total]
    return graph


def test_many_samples_are_each_what_one_is():
    graph = mixed_graph()
    x = np.random.default_rng(2).normal(size=(7, 1, 6, 5, 4)).astype(np.float32)
    together = run_float(graph, {"x": x})
    for name in graph.outputs:
        assert together[name].shape == (7, *graph.type(name).shape)
        alone = np.concatenate([run_float(graph, {"x": x[i : i + 1]})[name] for i in range(7)])
        np.testing.assert_allclose(together[name], alone, rtol=1e-6)


def test_chunks_change_nothing(monkeypatch):
    graph = mixed_graph()
    x = np.random.default_rng(3).normal(size=(7, 1, 6, 5, 4)).astype(np.float32)
    want = run_float(graph, {"x": x})
    monkeypatch.setattr(execute, "CHUNK_ELEMENTS", 3000)
    got = run_float(graph, {"x": x})
    for name in graph.outputs:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-6)


def test_no_samples():
    graph = mixed_graph()
    got = run_float(graph, {"x": np.zeros((0, 1, 6, 5, 4), np.float32)})
    assert [got[name].shape for name in graph.outputs] == [(0, 1, 4), (0, 2, 4), (0,)]


def test_keep_returns_inner_values_inputs_and_constants():
    graph = start(1, 2)
    weights = constant(graph, np.eye(2, dtype=np.float32))
    inner = then(graph, FullyConnected(), "x", weights, None)
    then(graph, Add(), inner, inner)
    x = np.array([[[1, 2]], [[3, 4]]], np.float32)
    got = run_float(graph, {"x": x}, keep=[inner, "x", weights])
    np.testing.assert_array_equal(got[inner], x)
    np.testing.assert_array_equal(got["x"], x)
    assert got[weights].shape == (2, 2, 2)
    np.testing.assert_array_equal(got[graph.outputs[0]], 2 * x)


def quantised_graph():
    graph = start(1, 3, elem=Elem.S8, quant=Quant.per_tensor(0.5, 1))
    weights = constant(graph, np.array([[2, 0, -4], [1, 1, 1]], np.int8), Quant.per_channel([0.25, 0.5], 0))
    bias = constant(graph, np.array([8, -4], np.int32))
    then(graph, FullyConnected(), "x", weights, bias, quant=Quant.per_tensor(0.5, -2))
    return graph


def test_real_numbers_on_a_quantised_graph():
    """Constants are dequantised (a bias by input times weight scale), inputs are real, nothing is rounded."""
    graph = quantised_graph()
    x = np.array([[[0.3, 7.0, 100.0]]], np.float32)
    want = [[[0.5 * 0.3 - 1.0 * 100 + 8 * 0.125, 0.5 * 107.3 - 4 * 0.25]]]
    np.testing.assert_allclose(run_float(graph, {"x": x})[graph.outputs[0]], want, rtol=1e-6)


def test_integers_on_a_quantised_graph():
    graph = quantised_graph()
    got = run_integer(graph, {"x": np.array([[[3, 1, -5]]], np.int8)})[graph.outputs[0]]
    assert got.dtype == np.int8
    np.testing.assert_array_equal(got, [[[7, -6]]])  # real: 4.5 and -2


def test_float_islands_between_quantize_and_dequantize():
    graph = start(1, 4)
    q = then(graph, Quantize(), "x", quant=Quant.per_tensor(0.5, 0))
    real = then(graph, Dequantize(), q)
    then(graph, Softmax(1), real)
    x = np.array([[[0.3, 1.1, -0.2, 0.0]]], np.float32)
    rounded = np.array([[[0.5, 1.0, 0.0, 0.0]]])
    got = run_integer(graph, {"x": x}, keep=[q, real])
    np.testing.assert_array_equal(got[q], [[[1, 2, 0, 0]]])
    np.testing.assert_array_equal(got[real], rounded)
    np.testing.assert_allclose(got[graph.outputs[0]], np.exp(rounded) / np.exp(rounded).sum(), rtol=1e-6)
    np.testing.assert_allclose(run_float(graph, {"x": x})[graph.outputs[0]], np.exp(x) / np.exp(x).sum(), rtol=1e-6)


def test_small_weights_of_a_float_layer_are_real_numbers():
    """Weights kept as int8 only to save flash."""
    graph = start(1, 2)
    weights = constant(graph, np.array([[2, -4]], np.int8), Quant.per_channel([0.25], 0))
    then(graph, FullyConnected(), "x", weights, None)
    got = run_integer(graph, {"x": np.array([[[1.0, 0.5]]], np.float32)})[graph.outputs[0]]
    np.testing.assert_array_equal(got, [[[0.0]]])


def counter(elem, quant, initial):
    """Output and next state are state + x."""
    graph = start(1, 2, elem=elem, quant=quant)
    graph.values["s"] = Value("s", Type((1, 2), elem, quant))
    total = then(graph, Add(), "s", "x", quant=quant)
    graph.states = [State("sum", "s", total, np.array(initial, elem.dtype))]
    return graph, total


def test_states_pass_from_step_to_step_and_begin_anew_for_each_sample():
    graph, total = counter(Elem.F32, None, [[10, 20]])
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 1, 2)
    got = run_float(graph, {"x": x}, steps=True)[total]
    np.testing.assert_array_equal(got, np.cumsum(x, axis=1) + np.array([[10, 20]]))
    np.testing.assert_array_equal(run_float(graph, {"x": x[:, 0]})[total], x[:, 0] + np.array([[10, 20]]))


def test_states_of_integers():
    graph, total = counter(Elem.S8, Quant.per_tensor(0.5, 1), [[1, 3]])
    x = np.array([[[[3, 1]], [[3, 1]]]], np.int8)
    got = run_integer(graph, {"x": x}, steps=True)[total]
    np.testing.assert_array_equal(got, [[[[3, 3]], [[5, 3]]]])
    real = run_float(graph, {"x": np.ones((1, 2, 1, 2), np.float32)}, steps=True)[total]
    np.testing.assert_array_equal(real, [[[[1, 2]], [[2, 3]]]])


def test_every_wrong_feed_is_named():
    graph = start(1, 2)
    graph.inputs.append("y")
    graph.values["y"] = Value("y", Type((2,), Elem.F32))
    then(graph, Add(), "x", "y")
    with pytest.raises(InputError) as caught:
        run_float(graph, {"x": np.zeros((3, 2)), "z": np.zeros(1)}, keep=["w"])
    assert [problem.where for problem in caught.value.problems] == ["input 'x'", "input 'y'", "feed 'z'", "value 'w'"]


def test_samples_must_be_as_many_for_every_input():
    graph = start(1, 2)
    graph.inputs.append("y")
    graph.values["y"] = Value("y", Type((1, 2), Elem.F32))
    then(graph, Add(), "x", "y")
    with pytest.raises(InputError, match="different numbers"):
        run_float(graph, {"x": np.zeros((3, 1, 2)), "y": np.zeros((2, 1, 2))})


@pytest.mark.parametrize("data", [np.array([[128]]), np.array([[0.5]]), np.array([[-129]])])
def test_integers_out_of_range_are_refused(data):
    graph = start(1, elem=Elem.S8, quant=Quant.per_tensor(1.0))
    then(graph, Reshape((1, 1)), "x", quant=Quant.per_tensor(1.0))
    with pytest.raises(InputError, match="int8"):
        run_integer(graph, {"x": data})


def test_integers_of_another_width_are_taken_if_they_fit():
    graph = start(1, elem=Elem.S8, quant=Quant.per_tensor(1.0))
    then(graph, Reshape((1, 1)), "x", quant=Quant.per_tensor(1.0))
    got = run_integer(graph, {"x": np.array([[5], [-128]])})[graph.outputs[0]]
    assert got.dtype == np.int8


def test_cast_inside_a_graph():
    graph = start(3)
    then(graph, Cast(Elem.S32), "x")
    x = np.array([[-1.5, 2.9, np.nan]], np.float32)
    for result in (run_float(graph, {"x": x}), run_integer(graph, {"x": x})):
        np.testing.assert_array_equal(result[graph.outputs[0]], [[-1, 2, 0]])


def test_a_million_multiplications_stay_fast():
    """A layer of KWS size on 50 samples: stacked, through BLAS."""
    import time

    graph = start(1, 25, 5, 64, elem=Elem.S8, quant=Quant.per_tensor(0.1, 3))
    rng = np.random.default_rng(4)
    weights = constant(
        graph, rng.integers(-127, 128, (64, 3, 3, 64)).astype(np.int8), Quant.per_channel([0.01] * 64, 0)
    )
    then(graph, Conv2d(padding=(1, 1, 1, 1)), "x", weights, None, quant=Quant.per_tensor(5.0))
    x = rng.integers(-128, 128, (50, 1, 25, 5, 64)).astype(np.int8)
    begin = time.process_time()
    run_integer(graph, {"x": x})
    assert time.process_time() - begin < 10


def test_moving_integers_to_another_scale_is_refused():
    graph = start(1, 2, elem=Elem.S8, quant=Quant.per_tensor(1.0))
    then(graph, Reshape((2, 1)), "x", quant=Quant.per_tensor(0.5))
    with pytest.raises(UnsupportedError, match="share scale"):
        run_integer(graph, {"x": np.zeros((1, 1, 2), np.int8)})
