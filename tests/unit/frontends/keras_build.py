"""Writes tiny Keras files by hand, in the layouts of Keras 2 and 3, without Keras."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tinydeploy.frontends.keras_file import slot_stem


def layer(class_name: str, name: str, inputs: list[str] | None = None, *, modern: bool = False, **config: Any) -> Any:
    """A layer's entry; ``inputs`` are layer names."""
    entry: dict[str, Any] = {"class_name": class_name, "config": {"name": name, **config}, "name": name}
    if inputs is not None:
        entry["inbound_nodes"] = _inbound(inputs, modern)
    if modern:
        entry["module"], entry["registered_name"] = "keras.layers", None
    return entry


def _inbound(inputs: list[str], modern: bool) -> list[Any]:
    if not inputs:
        return []
    if not modern:
        return [[[name, 0, 0, {}] for name in inputs]]
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}} for name in inputs]
    return [{"args": [tensors[0] if len(tensors) == 1 else tensors], "kwargs": {}}]


def functional(layers: list[Any], inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    """A Functional model."""
    ends = {"input_layers": [[n, 0, 0] for n in inputs], "output_layers": [[n, 0, 0] for n in outputs]}
    return {"class_name": "Functional", "config": {"name": "model", "layers": layers, **ends}}


def sequential(layers: list[Any], **config: Any) -> dict[str, Any]:
    """A Sequential model."""
    return {"class_name": "Sequential", "config": {"name": "model", "layers": layers, **config}}


def write_h5(target: Any, config: dict[str, Any], weights: dict[str, dict[str, Any]], **options: Any) -> None:
    """The layout of model.save("x.h5"). ``options`` of h5py's create_dataset, and of File: libver."""
    with h5py.File(target, "w", libver=options.pop("libver", None)) as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.15.0"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = list(weights)
        for name, arrays in weights.items():
            inner = group.create_group(name)
            inner.attrs["weight_names"] = [f"{name}/{key}:0" for key in arrays]
            for key, array in arrays.items():
                inner.create_dataset(f"{name}/{key}:0", data=array, **options)


def save_h5(folder: Path, config: dict[str, Any], weights: dict[str, dict[str, Any]], **options: Any) -> Path:
    """Write "model.h5" into ``folder``."""
    path = folder / "model.h5"
    write_h5(path, config, weights, **options)
    return path


def save_keras(folder: Path, config: dict[str, Any], weights: dict[str, list[Any]], *, outer: str = "layers") -> Path:
    """Write "model.keras" into ``folder``; ``weights``: arrays by slot, like "conv2d_1"."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for slot, arrays in weights.items():
            group = file.create_group(f"{outer}/{slot}/vars")
            for number, array in enumerate(arrays):
                group.create_dataset(str(number), data=array)
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.0"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", content.getvalue())
    return path


def dense_model(seed: int = 0) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Dense 4 -> 3 with relu, batch normalisation, Dense 3 -> 2 with softmax; Sequential, as Keras 2 writes it."""
    rng = np.random.default_rng(seed)
    config = sequential(
        [
            layer("InputLayer", "x", batch_input_shape=[None, 4], dtype="float32"),
            layer("Dense", "dense", units=3, activation="relu", use_bias=True),
            layer("BatchNormalization", "bn", axis=[1], epsilon=0.01, scale=True, center=True),
            layer("Dropout", "drop", rate=0.5),
            layer("Dense", "dense_1", units=2, activation="softmax", use_bias=False),
        ]
    )
    weights = {
        "dense": {"kernel": rng.normal(size=(4, 3)), "bias": rng.normal(size=3)},
        "bn": {"gamma": rng.normal(size=3), "beta": rng.normal(size=3), "mean": rng.normal(size=3)},
        "drop": {},
        "dense_1": {"kernel": rng.normal(size=(3, 2))},
    }
    weights["bn"]["variance"] = rng.uniform(0.5, 2, 3)
    return config, {name: {k: a.astype("f4") for k, a in arrays.items()} for name, arrays in weights.items()}


def dense_reference(x: np.ndarray, weights: dict[str, dict[str, Any]]) -> np.ndarray:
    """What `dense_model` computes."""
    bn = weights["bn"]
    y = np.maximum(x @ weights["dense"]["kernel"] + weights["dense"]["bias"], 0)
    y = (y - bn["mean"]) / np.sqrt(bn["variance"] + 0.01) * bn["gamma"] + bn["beta"]
    e = np.exp(y @ weights["dense_1"]["kernel"])
    return e / e.sum(axis=-1, keepdims=True)


def by_slot(config: dict[str, Any], weights: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """Weights by slot instead of by layer name."""
    counts: dict[str, int] = {}
    result = {}
    for entry in config["config"]["layers"]:
        stem = slot_stem(entry["class_name"])
        counts[stem] = counts.get(stem, -1) + 1
        slot = f"{stem}_{counts[stem]}" if counts[stem] else stem
        result[slot] = list(weights.get(entry["config"]["name"], {}).values())
    return result
