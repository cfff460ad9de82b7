"""Every Keras layer, in every configuration of `keras_cases`: our float graph gives what Keras gives.

Each model is saved as `.keras` and as `.h5`; the slow tests also export it to TFLite.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance import keras_cases
from tests.conftest import need_module
from tinydeploy import passes
from tinydeploy.frontends import load
from tinydeploy.ops.execute import run_float

CASES = keras_cases.everything(3)
QUICK = 6  # `make test` runs every sixth case


def _marks(index: int) -> tuple[pytest.MarkDecorator, ...]:
    return () if index % QUICK == 0 else (pytest.mark.slow,)


def _agrees(graph, arrays: list[np.ndarray], expected: list[np.ndarray]) -> None:
    feeds = {name: array[:, np.newaxis] for name, array in zip(graph.inputs, arrays, strict=True)}
    results = run_float(graph, feeds)
    assert len(graph.outputs) == len(expected)
    for name, theirs in zip(graph.outputs, expected, strict=True):
        ours = results[name].reshape(2, -1).astype(np.float32)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        pytest.param(text, shapes, id=f"{family}-{text}", marks=_marks(index))
        for index, (family, text, shapes) in enumerate(CASES)
    ],
)
def test_saved_files_compute_what_keras_computes(tmp_path, text, shapes) -> None:
    need_module("keras", "tensorflow")
    import keras

    model, arrays = keras_cases.build(keras, text, shapes), keras_cases.feeds(shapes)
    expected = keras_cases.outputs(model, arrays)
    for suffix in (".keras", ".h5"):
        path = tmp_path / f"model{suffix}"
        model.save(path)
        graph = load(path)
        _agrees(graph, arrays, expected)
        _agrees(passes.optimise(graph), arrays, expected)


FAMILIES = sorted({family for family, _, _ in CASES})
# What TensorFlow's converter turns into no operator of TFLite's own, or into one that no microcontroller has
NOT_IN_TFLITE = (
    "Pooling3D(2)",
    "Pooling3D(3",
    "Conv2DTranspose(4, 3, dilation_rate=2)",
    "Conv2DTranspose(4, 3, dilation_rate=2, padding='same')",
    "Conv2DTranspose(4, 3, strides=2, padding='same', data_format='channels_first')",
    "bicubic",
    "lanczos3",
    "Discretization",
    "multi_hot",
    "count",
    "Conv1D(4, 3, padding='same', data_format='channels_first')",
    "Conv3D(2, 2, data_format='channels_first')",
    "ops.arg",
    "ops.roll",
    "ops.erf",
    "y // 2",
)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_exported_to_tflite_they_compute_the_same(tmp_path, family) -> None:
    """The converter orders inputs by their names and outputs as it likes."""
    need_module("keras", "tensorflow")
    import keras
    import tensorflow as tf

    faults, refused, path = [], [], tmp_path / "model.tflite"
    for _, text, shapes in (case for case in CASES if case[0] == family):
        model, arrays = keras_cases.build(keras, text, shapes, batch=1), keras_cases.feeds(shapes)
        try:
            path.write_bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())
            graph = load(path)
        except Exception:  # the converter raises errors of any kind
            refused.append(text)
            continue
        feeds = {x.name: array[:, np.newaxis] for x, array in zip(model.inputs, arrays, strict=True)}
        ours = [y.reshape(2, -1).astype(np.float32) for y in run_float(graph, feeds).values()]
        for theirs in keras_cases.outputs(model, arrays):
            if not any(y.shape == theirs.shape and np.allclose(y, theirs, rtol=1e-4, atol=1e-5) for y in ours):
                faults.append(text)
    assert not faults
    assert not [text for text in refused if not any(word in text for word in NOT_IN_TFLITE)]
