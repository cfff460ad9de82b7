"""Lines of "Keras import" in ../shared/PITFALLS.md; files are written by hand, or by Keras itself."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import REPO, need_module
from tests.pitfalls.whole import agreed, in_c, normal
from tests.unit.frontends import keras_build
from tinydeploy import pipeline
from tinydeploy.errors import InputError, ToolError, UnsupportedError
from tinydeploy.ops.execute import run_float


@pytest.fixture(scope="module")
def keras() -> Any:
    need_module("keras", "tensorflow")
    import keras

    return keras


def _modules_after_inspect(path: Path) -> set[str]:
    """What Python has imported once a model was inspected."""
    script = "import sys; from tinydeploy import pipeline; from pathlib import Path\n"
    script += "pipeline.inspect(pipeline.load(Path(sys.argv[1]))); print(' '.join(sys.modules))"
    command = [sys.executable, "-c", script, str(path)]
    return set(subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("form", ["h5", "keras"])
def test_tf_62989_files_are_read_without_any_framework(tmp_path, form) -> None:
    """Also nnom: no version of TensorFlow is asked for."""
    config, weights = keras_build.dense_model()
    if form == "h5":
        path = keras_build.save_h5(tmp_path, config, weights)
    else:
        path = keras_build.save_keras(tmp_path, config, keras_build.by_slot(config, weights))
    loaded = _modules_after_inspect(path)
    assert not loaded & {"tensorflow", "keras", "h5py", "onnx", "onnxruntime", "ai_edge_litert"}


@pytest.mark.parametrize("outer", ["layers", "_layer_checkpoint_dependencies"])
def test_keras_20081_what_keras_2_wrote(tmp_path, outer) -> None:
    config, weights = keras_build.dense_model()
    path = keras_build.save_keras(tmp_path, config, keras_build.by_slot(config, weights), outer=outer)
    x = normal(5, 1, 4)
    graph = pipeline.load(path)
    np.testing.assert_allclose(
        run_float(graph, {graph.inputs[0]: x})[graph.outputs[0]][:, 0],
        keras_build.dense_reference(x[:, 0], weights),
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("class_name", ["Functional", "Model"])
def test_onnx2keras_85_functional_under_every_name(tmp_path, class_name) -> None:
    layers = [
        keras_build.layer("InputLayer", "x", [], batch_input_shape=[None, 4], dtype="float32"),
        keras_build.layer("Dense", "d", ["x"], units=2, activation="linear", use_bias=False),
    ]
    config = {**keras_build.functional(layers, ["x"], ["d"]), "class_name": class_name}
    kernel = normal(4, 2)
    graph = pipeline.load(keras_build.save_h5(tmp_path, config, {"x": {}, "d": {"kernel": kernel}}))
    x = normal(3, 1, 4)
    np.testing.assert_allclose(run_float(graph, {"x": x})["d"][:, 0], x[:, 0] @ kernel, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_ewstools_438_saved_models_are_read_by_their_signature(tmp_path, keras) -> None:
    model = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Conv2D(2, 3, activation="relu")])
    model.export(str(tmp_path / "saved"), verbose=False)
    graph = pipeline.load(tmp_path / "saved")
    x = normal(2, 1, 6, 6, 1)
    ours = run_float(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    np.testing.assert_allclose(ours[:, 0], model.predict(x[:, 0], verbose=0), rtol=1e-4, atol=1e-5)


def test_ewstools_438_a_folder_that_is_no_saved_model_says_so(tmp_path) -> None:
    (tmp_path / "saved").mkdir()
    with pytest.raises((InputError, ToolError)):
        pipeline.load(tmp_path / "saved")
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"\xff" * 100)
    with pytest.raises((InputError, UnsupportedError, ToolError)):
        pipeline.load(tmp_path / "saved")


def test_tf_56820_open_sizes_are_fixed_by_an_option_and_leave_no_operators(tmp_path, keras) -> None:
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((None, None, 3), name="image"),
            layers.Conv2D(4, 3),
            layers.UpSampling2D(2, interpolation="bilinear"),
        ]
    )
    model.save(tmp_path / "m.keras")
    with pytest.raises((InputError, UnsupportedError), match="--input-shape"):
        pipeline.load(tmp_path / "m.keras")
    graph = agreed(tmp_path / "m.keras", input_shapes={"image": (1, 8, 6, 3)})
    assert {n.op.name for n in graph.nodes} <= {"conv2d", "resample", "resize_bilinear", "gather"}


@pytest.mark.parametrize("cell", ["GRU", "LSTM", "SimpleRNN"])
def test_tf_76672_recurrent_models_are_quantised_without_a_crash(tmp_path, keras, cell) -> None:
    model = keras.Sequential(
        [keras.Input((5, 3)), getattr(keras.layers, cell)(4, return_sequences=True), keras.layers.Dense(2)]
    )
    model.save(tmp_path / "m.keras")
    graph = agreed(tmp_path / "m.keras")
    manifest = in_c(graph, tmp_path, "int8", {graph.inputs[0]: normal(20, 1, 5, 3)})
    assert any("float32" in line for line in manifest["warnings"]), "what runs in float is said"


def test_stm32ai_modelzoo_8_u_net_with_skip_connections(tmp_path, keras) -> None:
    layers = keras.layers
    x = keras.Input((8, 8, 2))
    down = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    low = layers.Conv2D(6, 3, padding="same", activation="relu")(layers.MaxPooling2D()(down))
    up = layers.Conv2DTranspose(4, 2, strides=2)(low)
    merged = layers.Concatenate()([down, layers.UpSampling2D()(low), up])
    keras.Model(x, layers.Conv2D(1, 1, activation="sigmoid")(merged)).save(tmp_path / "m.keras")
    graph = agreed(tmp_path / "m.keras")
    in_c(graph, tmp_path)
    in_c(graph, tmp_path / "int8", "int8", {graph.inputs[0]: normal(10, 1, 8, 8, 2)})


def test_emlearn_convolutions_not_only_dense_layers(tmp_path, keras) -> None:
    layers = keras.layers
    model = keras.Sequential([keras.Input((12, 2)), layers.Conv1D(3, 3), layers.MaxPooling1D(2), layers.Flatten()])
    model.save(tmp_path / "m.keras")
    in_c(agreed(tmp_path / "m.keras"), tmp_path)


HOSTILE = [
    ("Lambda", "keras.layers", {"function": {"class_name": "__lambda__", "config": {"code": "gASV"}}}),
    ("TFSMLayer", "keras.layers", {"filepath": "/tmp/evil", "call_endpoint": "serve"}),
    ("Evil", "os", {"command": "touch /tmp/td-evil"}),
    ("Evil", "builtins", {"code": "exec"}),
    ("TorchModuleWrapper", "keras.layers", {"module": "gASV"}),
]


@pytest.mark.parametrize("form", ["h5", "keras"])
@pytest.mark.parametrize(("class_name", "module", "settings"), HOSTILE)
def test_cve_2024_3660_and_2026_1462_nothing_in_a_file_is_run(tmp_path, form, class_name, module, settings) -> None:
    layers = [
        keras_build.layer("InputLayer", "x", [], modern=form == "keras", batch_shape=[None, 4], dtype="float32"),
        keras_build.layer(class_name, "evil", ["x"], modern=form == "keras", **settings),
    ]
    layers[1]["module"] = module
    config = keras_build.functional(layers, ["x"], ["evil"])
    if form == "keras":
        path = keras_build.save_keras(tmp_path, config, {})
    else:
        path = keras_build.save_h5(tmp_path, config, {"x": {}, "evil": {}})
    with pytest.raises(UnsupportedError) as caught:
        pipeline.load(path)
    assert class_name in str(caught.value)
    assert "evil" in str(caught.value)


def test_cve_2024_3660_archives_with_more_in_them(tmp_path) -> None:
    """Parts named to be unpacked elsewhere or to be unpickled are not looked at, and a bomb is not inflated."""
    config, weights = keras_build.dense_model()
    path = keras_build.save_keras(tmp_path, config, keras_build.by_slot(config, weights))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.py", "raise SystemExit")
        archive.writestr("assets/layer/state.pkl", b"\x80\x04cos\nsystem\n")
    pipeline.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * (1 << 28))
    with pytest.raises((InputError, UnsupportedError)):
        pipeline.load(path)
