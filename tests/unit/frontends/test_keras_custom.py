"""Keras models that need more than the file: custom layers mapped by the user, models in memory, states, versions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tinydeploy as td
from tests.conftest import need_module, need_shared
from tests.unit.frontends import keras_build as kb
from tinydeploy.errors import InputError, UnsupportedError, UsageError
from tinydeploy.frontends import load
from tinydeploy.ops.execute import run_float

RNG = np.random.default_rng(2)
LINE = kb.layer("InputLayer", "x", [], modern=True, batch_shape=[None, 3])


def own(name: str, inputs, **config):
    """A layer of the user's own, as Keras 3 writes it."""
    entry = kb.layer("Scale", name, inputs, modern=True, **config)
    return {**entry, "module": None, "registered_name": "mine>Scale"}


def scale_model(tmp_path):
    config = kb.functional([LINE, own("s", ["x"], power=2)], ["x"], ["s"])
    return kb.save_keras(tmp_path, config, {"scale": [np.array([1, 2, 3], "f4")]})


def scale(layer):
    """x * w * power"""
    factor = layer.weights()[0] * layer.config["power"]
    return layer.add("mul", layer.inputs[0], layer.constant(factor))


def test_a_custom_layer_is_refused_by_name(tmp_path) -> None:
    with pytest.raises(UnsupportedError, match=r"layer 's' \(Scale\): is a custom object of the name 'mine>Scale'"):
        load(scale_model(tmp_path))


@pytest.mark.parametrize("key", ["Scale", "mine>Scale", "s"])
def test_a_function_says_what_a_custom_layer_is(tmp_path, key) -> None:
    model = td.load(scale_model(tmp_path), custom_layers={key: scale})
    x = RNG.normal(size=(4, 1, 3)).astype("f4")
    (y,) = model.run_float(x).values()
    np.testing.assert_allclose(y, x * [2, 4, 6], rtol=1e-6)


def test_a_function_that_returns_no_value(tmp_path) -> None:
    with pytest.raises(InputError, match="which is no value"):
        load(scale_model(tmp_path), custom_layers={"Scale": lambda layer: "nothing"})


def test_a_function_for_a_lambda_is_the_users_own_and_its_code_is_not_run(tmp_path) -> None:
    code = kb.layer("Lambda", "double", ["x"], modern=True, function={"class_name": "__lambda__", "config": "evil"})
    path = kb.save_keras(tmp_path, kb.functional([LINE, code], ["x"], ["double"]), {"vars": []})
    with pytest.raises(UnsupportedError, match="holds Python byte code, which is never run"):
        load(path)
    graph = load(path, custom_layers={"double": lambda layer: layer.add("add", layer.inputs[0], layer.inputs[0])})
    x = RNG.normal(size=(1, 1, 3)).astype("f4")
    np.testing.assert_array_equal(run_float(graph, {"x": x})[graph.outputs[0]], x + x)


def test_custom_layers_of_another_format(tmp_path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"x")
    with pytest.raises(UsageError, match="custom_layers"):
        load(tmp_path / "m.onnx", custom_layers={"Scale": scale})


def test_a_model_in_memory() -> None:
    need_module("keras", "tensorflow")
    import keras

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu")], name="tiny")
    x = RNG.normal(size=(3, 1, 4)).astype("f4")
    loaded = td.load(model)
    (y,) = loaded.run_float(x).values()
    assert loaded.graph.name == "tiny"
    np.testing.assert_allclose(y[:, 0], np.asarray(model(x[:, 0])), rtol=1e-5, atol=1e-6)


def test_the_example_of_the_documentation(repo) -> None:
    need_module("keras", "tensorflow")
    text = (repo / "docs" / "keras.md").read_text("utf-8")
    exec(text.split("```python\n")[1].split("```")[0], {"__name__": "example"})


def test_what_is_no_model() -> None:
    with pytest.raises(InputError, match="int is no model"):
        td.load(3)


@pytest.mark.parametrize(("version", "middle"), [("2.15.0", 0.2), ("3.1.0", 1 / 6)])
def test_hard_sigmoid_is_that_of_the_version_that_wrote_the_file(tmp_path, version, middle) -> None:
    import h5py

    layers = [kb.layer("InputLayer", "x", [], batch_input_shape=[None, 3]), kb.layer("Activation", "a", ["x"])]
    layers[1]["config"]["activation"] = "hard_sigmoid"
    path = kb.save_h5(tmp_path, kb.functional(layers, ["x"], ["a"]), {})
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = version
    graph = load(path)
    (y,) = run_float(graph, {"x": np.array([[[-9, 1, 9]]], "f4")}).values()
    np.testing.assert_allclose(y, [[[0, 0.5 + middle, 1]]], rtol=1e-6)


def test_a_stateful_layer_keeps_its_state_between_runs(tmp_path) -> None:
    x = kb.layer("InputLayer", "x", [], modern=True, batch_shape=[1, 2, 3])
    gru = kb.layer("GRU", "g", ["x"], modern=True, units=4, reset_after=True, activation="tanh", stateful=True)
    config = kb.functional([x, gru], ["x"], ["g"])
    weights = [RNG.normal(size=shape).astype("f4") for shape in ((3, 12), (4, 12), (2, 12))]
    graph = load(kb.save_keras(tmp_path, config, {"gru/cell": weights}))
    assert [state.initial.shape for state in graph.states] == [(1, 4)]
    data = RNG.normal(size=(1, 3, 1, 2, 3)).astype("f4")
    in_steps = run_float(graph, {"x": data}, steps=True)[graph.outputs[0]]
    gru["config"]["stateful"] = False
    x["config"]["batch_shape"] = [1, 6, 3]
    whole = load(kb.save_keras(tmp_path, config, {"gru/cell": weights}))
    at_once = run_float(whole, {"x": data.reshape(1, 1, 6, 3)})[whole.outputs[0]]
    np.testing.assert_allclose(in_steps[:, -1], at_once, rtol=1e-5, atol=1e-6)


def test_a_stateful_model_is_compared_with_keras_step_by_step(tmp_path) -> None:
    need_module("keras", "tensorflow")
    import keras

    from tinydeploy.validation.oracle import check_against

    x = keras.Input((2, 3), batch_size=1)
    y = keras.layers.Bidirectional(keras.layers.LSTM(4, stateful=True))(x)
    path = tmp_path / "model.keras"
    keras.Model(x, keras.layers.Dense(2)(y)).save(path)
    graph = load(path)
    assert check_against(path, graph), graph.warnings
    with pytest.raises(InputError, match="computes something else"):
        check_against(path, load_without_state(path))


def load_without_state(path):
    """The graph with its states read as constants of zero."""
    graph = load(path)
    for state in graph.states:
        graph.values[state.read].data = state.initial
    graph.states = []
    return graph


def test_a_stateful_layer_is_called_once(tmp_path) -> None:
    x = kb.layer("InputLayer", "x", [], modern=True, batch_shape=[1, 2, 4])
    rnn = kb.layer("SimpleRNN", "r", ["x"], modern=True, units=4, stateful=True, return_sequences=True)
    rnn["inbound_nodes"] += kb.layer("", "", ["r"], modern=True)["inbound_nodes"]
    config = kb.functional([x, rnn], ["x"], ["r"])
    config["config"]["output_layers"] = [["r", 1, 0]]
    weights = [np.ones(shape, "f4") for shape in ((4, 4), (4, 4), (4,))]
    with pytest.raises(UnsupportedError, match="is called once"):
        load(kb.save_keras(tmp_path, config, {"simple_rnn/cell": weights}))


def test_rounded_policies_are_told(tmp_path) -> None:
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "mixed_float16"}}
    layers = [LINE, kb.layer("ReLU", "r", ["x"], modern=True, dtype=policy)]
    graph = load(kb.save_keras(tmp_path, kb.functional(layers, ["x"], ["r"]), {"vars": []}))
    assert "layers with the type policy mixed_float16 compute in float32" in graph.warnings


def test_arguments_that_would_change_the_result_are_refused(tmp_path) -> None:
    layers = [kb.layer("InputLayer", "x", [], batch_input_shape=[None, 3, 3])]
    op = kb.layer("TFOpLambda", "m", None, function="linalg.matmul")
    op["inbound_nodes"] = [["x", 0, 0, {"b": ["x", 0, 0], "transpose_b": True}]]
    path = kb.save_h5(tmp_path, kb.functional([*layers, op], ["x"], ["m"]), {})
    with pytest.raises(UnsupportedError, match=r"linalg\.matmul with transpose_b"):
        load(path)


@pytest.mark.parametrize("name", ["mlperf_tiny/kws.keras", "mlperf_tiny/vww.h5"])
def test_inspect_imports_no_framework(name) -> None:
    path = need_shared("models", name)
    code = (
        "import sys; from tinydeploy.cli import cli\n"
        f"try: cli(['inspect', {str(path)!r}, '--json', '-'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('tensorflow', 'keras', 'h5py', 'torch', 'onnx') if m in sys.modules], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.stderr.strip().endswith("[]"), run.stderr[-2000:]
    assert '"macs"' in run.stdout
