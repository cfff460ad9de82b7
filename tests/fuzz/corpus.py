"""Files that fuzzing starts from: small whole models of every format, made by our own builders."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from tests.unit.frontends import keras_build, tflite_models


def h5_seeds() -> list[bytes]:
    """A dense network, plain and packed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        plain = keras_build.save_h5(folder, *keras_build.dense_model()).read_bytes()
        packed = keras_build.save_h5(folder, *keras_build.dense_model(), compression="gzip", shuffle=True).read_bytes()
    return [plain, packed]


def keras_seeds() -> list[bytes]:
    """A dense network and a convolutional one, as Keras 3 writes them."""
    rng = np.random.default_rng(0)
    names = ["x", "c", "b", "p", "f", "d"]
    kinds = ["InputLayer", "Conv2D", "BatchNormalization", "MaxPooling2D", "Flatten", "Dense"]
    settings: list[dict[str, object]] = [
        {"batch_shape": [None, 6, 6, 2], "dtype": "float32"},
        {"kernel_size": [3, 3], "strides": [1, 1], "padding": "same", "activation": "relu"},
        {"axis": [3], "epsilon": 0.001, "scale": True, "center": True},
        {"pool_size": [2, 2], "strides": None, "padding": "valid"},
        {},
        {"units": 3, "activation": "softmax"},
    ]
    layers = [
        keras_build.layer(kind, name, names[i - 1 : i] if i else [], modern=True, **settings[i])
        for i, (kind, name) in enumerate(zip(kinds, names, strict=True))
    ]
    shapes = {"c": [(3, 3, 2, 4), (4,)], "b": [(4,)] * 4, "d": [(36, 3), (3,)]}
    weights = {n: {str(i): rng.normal(size=s).astype("f4") for i, s in enumerate(v)} for n, v in shapes.items()}
    config = keras_build.functional(layers, ["x"], ["d"])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        dense, dense_weights = keras_build.dense_model()
        first = keras_build.save_keras(folder, dense, keras_build.by_slot(dense, dense_weights)).read_bytes()
        second = keras_build.save_keras(folder, config, keras_build.by_slot(config, weights)).read_bytes()
    return [first, second]


def onnx_seeds() -> list[bytes]:
    """The node tests of the onnx package, one model an operator and form, those of the documentation's expansions left
    out.
    """
    import warnings

    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    models = [case.model for case in cases if case.model is not None and "_expanded" not in case.name]
    return sorted({model.SerializeToString() for model in models if model.ByteSize() < 1 << 16})


SEEDS = {".tflite": tflite_models.seeds, ".h5": h5_seeds, ".keras": keras_seeds, ".onnx": onnx_seeds}
