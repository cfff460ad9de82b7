"""Keras import: every layout of file, what layers become, and what is refused."""

from __future__ import annotations

import json
import zipfile

import h5py
import numpy as np
import pytest

from tests.conftest import need_module, need_shared
from tests.unit.frontends import keras_build as kb
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load
from tinydeploy.frontends.keras_file import slot_stem
from tinydeploy.ir import Elem
from tinydeploy.ops.execute import run_float

RNG = np.random.default_rng(1)


def run(graph, *arrays):
    return list(run_float(graph, dict(zip(graph.inputs, arrays, strict=True))).values())


def model(tmp_path, layers, weights, inputs=("x",), outputs=None, **more):
    """A Functional model of Keras 2 from layers that follow each other unless they say otherwise."""
    config = kb.functional(layers, list(inputs), list(outputs or [layers[-1]["name"]]))
    return kb.save_h5(tmp_path, config, weights, **more)


def image(name="x", shape=(None, 6, 6, 3), **more):
    return kb.layer("InputLayer", name, [], batch_input_shape=list(shape), dtype="float32", **more)


def refused(path, error=UnsupportedError):
    with pytest.raises(error) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"libver": "latest"},
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"chunks": True},
        {"dtype": "f8"},
        {"dtype": ">f4"},
    ],
    ids=str,
)
def test_h5_layouts(tmp_path, options) -> None:
    config, weights = kb.dense_model()
    if options.get("libver") == "latest":  # new groups; short lists of links and attributes stay in the header
        weights = {name: arrays for name, arrays in weights.items() if arrays}
    path = kb.save_h5(tmp_path, config, weights, **options)
    x = RNG.normal(size=(5, 1, 4)).astype("f4")
    np.testing.assert_allclose(run(load(path), x)[0], kb.dense_reference(x, weights), rtol=1e-5)


@pytest.mark.parametrize("outer", ["layers", "_layer_checkpoint_dependencies", "layers\\"])
def test_keras_archive_layouts(tmp_path, outer) -> None:
    config, weights = kb.dense_model()
    slots = kb.by_slot(config, weights)
    if outer.endswith("\\"):  # as written on Windows
        slots, outer = {f"layers\\{slot}": arrays for slot, arrays in slots.items()}, "."
    path = kb.save_keras(tmp_path, config, slots, outer=outer)
    x = RNG.normal(size=(5, 1, 4)).astype("f4")
    np.testing.assert_allclose(run(load(path), x)[0], kb.dense_reference(x, weights), rtol=1e-5)


def test_weight_names_spread_over_several_attributes(tmp_path) -> None:
    config, weights = kb.dense_model()
    path = kb.save_h5(tmp_path, config, weights)
    with h5py.File(path, "r+") as file:
        attributes = file["model_weights/bn"].attrs
        names = list(attributes["weight_names"])
        del attributes["weight_names"]
        attributes["weight_names0"], attributes["weight_names1"] = names[:3], names[3:]
    x = RNG.normal(size=(1, 1, 4)).astype("f4")
    np.testing.assert_allclose(run(load(path), x)[0], kb.dense_reference(x, weights), rtol=1e-5)


def test_fixed_length_strings(tmp_path) -> None:
    config, weights = kb.dense_model()
    path = kb.save_h5(tmp_path, config, weights)
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = np.bytes_(json.dumps(config))
        for name in ("dense", "bn"):
            group = file[f"model_weights/{name}"]
            group.attrs["weight_names"] = np.array(list(group.attrs["weight_names"]), dtype="S")
    assert len(load(path).nodes) == 4


@pytest.mark.parametrize("modern", [False, True])
def test_functional_with_two_inputs_and_two_outputs(tmp_path, modern) -> None:
    shape = {"batch_shape" if modern else "batch_input_shape": [None, 3]}
    layers = [
        kb.layer("InputLayer", "a", [], modern=modern, **shape),
        kb.layer("InputLayer", "b", [], modern=modern, **shape),
        kb.layer("Add", "sum", ["b", "a"], modern=modern),
        kb.layer("Concatenate", "both", ["sum", "b"], modern=modern, axis=-1),
        kb.layer("Activation", "act", ["both"], modern=modern, activation="tanh"),
    ]
    config = kb.functional(layers, ["b", "a"], ["act", "sum"])
    path = kb.save_keras(tmp_path, config, {"vars": []}) if modern else kb.save_h5(tmp_path, config, {})
    graph = load(path)
    assert graph.inputs == ["b", "a"]
    b, a = RNG.normal(size=(2, 4, 1, 3)).astype("f4")
    act, total = run(graph, b, a)
    np.testing.assert_allclose(total, a + b, rtol=1e-6)
    np.testing.assert_allclose(act, np.tanh(np.concatenate([a + b, b], axis=-1)), rtol=1e-5)


def test_shared_layer_has_its_weights_once(tmp_path) -> None:
    dense = kb.layer("Dense", "d", None, units=3)
    dense["inbound_nodes"] = [[["x", 0, 0, {}]], [["d", 0, 0, {}]]]
    config = kb.functional([image(shape=(None, 3)), dense], ["x"], ["d"])
    config["config"]["output_layers"] = [["d", 1, 0]]
    kernel = RNG.normal(size=(3, 3)).astype("f4")
    graph = load(kb.save_h5(tmp_path, config, {"d": {"kernel": kernel, "bias": np.zeros(3, "f4")}}))
    assert len(graph.nodes) == 2
    assert sum(value.data is not None for value in graph.values.values()) == 2
    x = RNG.normal(size=(2, 1, 3)).astype("f4")
    np.testing.assert_allclose(run(graph, x)[0], x @ kernel @ kernel, rtol=1e-4, atol=1e-5)


def test_convolutions_and_names(tmp_path) -> None:
    layers = [
        image(),
        kb.layer(
            "Conv2D", "conv", ["x"], padding="same", strides=[2, 2], activation="relu6", data_format="channels_last"
        ),
        kb.layer("DepthwiseConv2D", "dw", ["conv"], padding="valid", groups=1, depth_multiplier=2, use_bias=False),
        kb.layer("ReLU", "relu", ["dw"], max_value=4.0, negative_slope=0.0, threshold=0.0),
        kb.layer("GlobalAveragePooling2D", "gap", ["relu"], keepdims=False),
    ]
    kernel, depth = RNG.normal(size=(3, 3, 3, 4)).astype("f4"), RNG.normal(size=(2, 2, 4, 2)).astype("f4")
    weights = {"conv": {"kernel": kernel, "bias": np.ones(4, "f4")}, "dw": {"depthwise_kernel": depth}}
    graph = load(model(tmp_path, layers, weights))
    conv, dw, clamp, mean = graph.nodes
    assert (conv.name, conv.op.padding, conv.op.clamp) == ("conv", (0, 1, 0, 1), (0.0, 6.0))
    assert graph.constant(conv.inputs[1]).tolist() == kernel.transpose(3, 0, 1, 2).tolist()
    assert (dw.op.multiplier, dw.inputs[2]) == (2, None)
    assert graph.constant(dw.inputs[1])[0, 1, 0].tolist() == depth[1, 0].reshape(-1).tolist()
    assert (clamp.op.low, clamp.op.high) == (0.0, 4.0)
    assert mean.op.axes == (1, 2)
    assert conv.origin == "layer 'conv' (Conv2D)"
    assert graph.type("gap").shape == (1, 8)


def test_causal_conv1d(tmp_path) -> None:
    layers = [
        image(shape=(None, 5, 2)),
        kb.layer("Conv1D", "c", ["x"], padding="causal", strides=[1], dilation_rate=[2], kernel_size=[2]),
    ]
    kernel = RNG.normal(size=(2, 2, 3)).astype("f4")
    graph = load(model(tmp_path, layers, {"c": {"kernel": kernel, "bias": np.zeros(3, "f4")}}))
    x = RNG.normal(size=(1, 1, 5, 2)).astype("f4")
    padded = np.pad(x[0, 0], ((2, 0), (0, 0)))
    expected = np.stack([padded[t] @ kernel[0] + padded[t + 2] @ kernel[1] for t in range(5)])
    np.testing.assert_allclose(run(graph, x)[0][0, 0], expected, rtol=1e-4, atol=1e-5)


def test_integer_input_is_converted(tmp_path) -> None:
    x = kb.layer("InputLayer", "x", [], batch_input_shape=[None, 2], dtype="uint8")
    graph = load(model(tmp_path, [x, kb.layer("Rescaling", "r", ["x"], scale=0.5, offset=-1.0)], {}))
    assert graph.type("x").elem is Elem.U8
    assert run(graph, np.array([[[4, 255]]], "u1"))[0].tolist() == [[[1.0, 126.5]]]


def test_sequential_without_input_layer(tmp_path) -> None:
    first = kb.layer("Dense", "d", units=2, batch_input_shape=[None, 3])
    weights = {"d": {"kernel": np.ones((3, 2), "f4"), "bias": np.zeros(2, "f4")}}
    graph = load(kb.save_h5(tmp_path, kb.sequential([first]), weights))
    assert graph.inputs == ["d_input"]


def test_nested_model(tmp_path) -> None:
    inner = kb.functional([image("i", (None, 3)), kb.layer("Dense", "d", ["i"], units=2)], ["i"], ["d"])
    inner["name"] = inner["config"]["name"] = "inner"
    inner["inbound_nodes"] = [[["x", 0, 0, {}]]]
    config = kb.functional([image(shape=(None, 3)), inner, kb.layer("Flatten", "f", ["inner"])], ["x"], ["f"])
    config["config"]["layers"][2]["inbound_nodes"] = [[["inner", 1, 0, {}]]]
    path = kb.save_h5(tmp_path, config, {})
    kernel = RNG.normal(size=(3, 2)).astype("f4")
    with h5py.File(path, "r+") as file:
        group = file.create_group("model_weights/inner")
        group.attrs["weight_names"] = ["d/kernel:0", "d/bias:0"]
        group["d/kernel:0"], group["d/bias:0"] = kernel, np.zeros(2, "f4")
    graph = load(path)
    assert [node.name for node in graph.nodes] == ["inner/d"]
    x = RNG.normal(size=(2, 1, 3)).astype("f4")
    np.testing.assert_allclose(run(graph, x)[0], x @ kernel, rtol=1e-5)


def test_open_dimension_needs_a_shape(tmp_path) -> None:
    path = model(tmp_path, [image(shape=(None, None, 3)), kb.layer("Activation", "a", ["x"], activation="tanh")], {})
    assert "--input-shape 'x=1,1,3'" in refused(path, InputError)
    assert load(path, input_shapes={"x": (1, 7, 3)}).type("a").shape == (1, 7, 3)
    with pytest.raises(InputError, match="does not fit"):
        load(path, input_shapes={"x": (1, 7, 4)})
    with pytest.raises(InputError, match="no such input"):
        load(path, input_shapes={"x": (1, 7, 3), "y": (1,)})


def test_all_unsupported_layers_are_listed(tmp_path) -> None:
    layers = [
        image(),
        kb.layer("Lambda", "code", ["x"], function="cookie"),
        kb.layer("TFSMLayer", "program", ["code"]),
        kb.layer("Hashing", "hash", ["program"]),
        kb.layer("Activation", "after", ["hash"], activation="relu"),
        kb.layer("Activation", "strange", ["x"], activation="snake"),
        kb.layer("Embedding", "table", ["x"], mask_zero=True),
        kb.layer("GRU", "first", ["table"]),
    ]
    weights = {"table": {"embeddings": np.ones((4, 2), "f4")}}
    text = refused(model(tmp_path, layers, weights, outputs=["after", "strange", "first"]))
    assert "layer 'code' (Lambda): holds Python byte code, which is never run" in text
    assert "layer 'program' (TFSMLayer): holds a TensorFlow program" in text
    assert "layer 'hash' (Hashing): is not supported" in text
    assert "has the activation 'snake'" in text
    assert "layer 'first' (GRU): would leave out what a mask covers" in text
    assert "'after'" not in text


@pytest.mark.parametrize("module", ["__main__", "keras_of_mine", "os.keras"])
def test_custom_objects_are_refused_even_under_a_known_name(tmp_path, module) -> None:
    evil = kb.layer("Dense", "evil", ["x"], modern=True)
    evil["module"] = module
    config = kb.functional([kb.layer("InputLayer", "x", [], modern=True, batch_shape=[None, 3]), evil], ["x"], ["evil"])
    text = refused(kb.save_keras(tmp_path, config, {"dense": [np.ones((3, 2), "f4"), np.ones(2, "f4")]}))
    assert f"custom object of module {module!r}" in text


def test_subclassed_model_is_explained(tmp_path) -> None:
    path = kb.save_keras(tmp_path, {"class_name": "MyModel", "config": {}}, {})
    assert "subclassed model" in refused(path)


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([kb.layer("Activation", "a", ["nowhere"], activation="relu")], "waits for something"),
        ([kb.layer("Activation", "a", ["a"], activation="relu")], "waits for something"),
        ([kb.layer("Dense", "a", ["x"])], "has weights of shapes []"),
        ([kb.layer("MaxPooling2D", "a", ["x"], pool_size=[2, 0])], "pool_size is"),
        ([kb.layer("MaxPooling2D", "a", ["x"], pool_size=[9, 9])], "kernel fits once"),
        ([kb.layer("Reshape", "a", ["x"], target_shape=[5, -1])], "makes"),
        ([kb.layer("Permute", "a", ["x"], dims=[1, 1, 2])], "permutes"),
        ([kb.layer("Softmax", "a", ["x"], axis=4)], "axis 4"),
        ([kb.layer("ZeroPadding2D", "a", ["x"], padding=[[1, -1], [0, 0]])], "padding is"),
        ([kb.layer("Rescaling", "a", ["x"], scale="two")], "not numbers"),
    ],
)
def test_damaged_configurations(tmp_path, layers, words) -> None:
    path = model(tmp_path, [image(), *layers], {})
    assert words in refused(path, (InputError, UnsupportedError))


def test_files_that_are_something_else(tmp_path) -> None:
    path = tmp_path / "m.h5"
    path.write_text("no model")
    assert "is not an HDF5 file" in refused(path, InputError)
    path = tmp_path / "m.keras"
    path.write_text("no model")
    assert "is not a Keras archive" in refused(path, InputError)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    assert "without config.json" in refused(path, InputError)
    with h5py.File(tmp_path / "n.h5", "w") as file:
        file["data"] = np.zeros(3)
    assert "no Keras model" in refused(tmp_path / "n.h5", InputError)
    with h5py.File(tmp_path / "n.h5", "w") as file:
        file.create_group("layers/dense/vars")
    assert "weights only" in refused(tmp_path / "n.h5", InputError)


def test_archive_that_inflates_without_end(tmp_path) -> None:
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", b" " * (65 << 20))
    assert "claims" in refused(path, InputError)


def test_links_out_of_the_file_are_not_followed(tmp_path) -> None:
    config, weights = kb.dense_model()
    path = kb.save_h5(tmp_path, config, weights)
    with h5py.File(path, "r+") as file:
        group = file["model_weights/dense/dense"]
        del group["kernel:0"]
        group["kernel:0"] = h5py.ExternalLink("other.h5", "/kernel")
    assert "are missing" in refused(path, InputError)
    with h5py.File(path, "r+") as file:
        group = file["model_weights/dense/dense"]
        del group["kernel:0"]
        group.create_dataset("kernel:0", (4, 3), "f4", external=[("/etc/hostname", 0, 48)])
    assert "another file" in refused(path)


def test_array_that_claims_too_much(tmp_path) -> None:
    config, weights = kb.dense_model()
    path = kb.save_h5(tmp_path, config, weights)
    with h5py.File(path, "r+") as file:
        group = file["model_weights/dense/dense"]
        del group["kernel:0"]
        group.create_dataset("kernel:0", (1 << 20, 1 << 20), "f4", chunks=(64, 64))
    assert "claims arrays" in refused(path, InputError)


@pytest.mark.parametrize(
    ("class_name", "slot"),
    [("Conv2D", "conv2d"), ("DepthwiseConv2D", "depthwise_conv2d"), ("ReLU", "re_lu"), ("PReLU", "p_re_lu")],
)
def test_slot_names(class_name, slot) -> None:
    assert slot_stem(class_name) == slot


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("ic_resnet8.h5", "ic_resnet8"),
        ("kws_keras.h5", "kws"),
        ("kws.keras", "kws"),
        ("sww.h5", "sww"),
        ("vww.h5", "vww"),
    ],
)
def test_mlperf_tiny_equals_its_tflite_twin(name, twin) -> None:
    """The float .tflite of the same training run; ad is left out, its .tflite has lost nine biases."""
    keras = load(need_shared("models", "mlperf_tiny", name))
    tflite = load(need_shared("models", "mlperf_tiny", f"{twin}_float.tflite"))
    x = np.random.default_rng(0).uniform(0, 2, (3, *keras.type(keras.inputs[0]).shape)).astype("f4")
    np.testing.assert_allclose(run(keras, x)[0], run(tflite, x)[0], atol=1e-4)


def test_ad_h5_loads() -> None:
    graph = load(need_shared("models", "mlperf_tiny", "ad.h5"))
    assert graph.type(graph.outputs[0]).shape == (1, 640)
    assert sum(node.op.name == "batch_norm" for node in graph.nodes) == 9


@pytest.mark.slow
def test_equals_keras_on_its_own_files(tmp_path) -> None:
    need_module("keras", "tensorflow")
    from tests.unit.frontends.keras_models import save_models
    from tinydeploy.validation.oracle import check_against

    for path in save_models(tmp_path):
        graph = load(path)
        assert check_against(path, graph), graph.warnings


REAL_FILES = (
    "mlperf_tiny/ad.h5",
    "mlperf_tiny/ic_resnet8.h5",
    "mlperf_tiny/kws_keras.h5",
    "mlperf_tiny/sww.h5",
    "mlperf_tiny/vww.h5",
    "tinymaix/cifar10.h5",
    "tinymaix/mnist_dw.h5",
    "tinymaix/mnist_valid.h5",
)


@pytest.mark.parametrize("name", REAL_FILES)
def test_real_files_equal_keras(name) -> None:
    """Where Keras 3 refuses an old file, it is given a layer that takes the old configuration."""
    need_module("keras", "tensorflow")
    from tinydeploy.validation.oracle import check_against

    path = need_shared("models", name)
    graph = load(path)
    assert check_against(path, graph), graph.warnings
