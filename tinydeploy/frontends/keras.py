"""Keras models: `.h5` (Keras 1 to 3) and `.keras` (Keras 2.12 and later), read from the file itself.

Source: the files' own JSON and the documentation of the layers; neither Keras nor TensorFlow is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tinydeploy.errors import InputError, Problem, TinydeployError
from tinydeploy.frontends._common import Builder, model_name, read_file, source
from tinydeploy.frontends.keras_custom import CustomLayers
from tinydeploy.frontends.keras_file import open_keras
from tinydeploy.frontends.keras_graph import LOST, Walker
from tinydeploy.frontends.keras_settings import Layer
from tinydeploy.ir import Graph

SUFFIXES = (".h5", ".hdf5", ".keras")


def load(path: Path, input_shapes: Mapping[str, tuple[int, ...]], custom_layers: CustomLayers | None = None) -> Graph:
    """Read a Keras file; the batch dimension becomes 1. ``custom_layers``: functions that translate layers by name.

    Raises: InputError if the file is damaged, UnsupportedError with every layer that is not supported.
    """
    data = read_file(path)
    file = open_keras(data, path)
    graph = Graph(model_name(path), source=source(path, data, path.suffix.lower().lstrip(".")))
    builder = Builder(graph)
    walker = Walker(builder, file, input_shapes, str(path), custom_layers or {})
    config = file.config.get("config")
    # The oldest Sequential models are a bare list of layers.
    settings = {"layers": config} if isinstance(config, list) else config
    if not isinstance(settings, dict):
        raise walker.damaged("it has no config")
    try:
        outputs = walker.model(Layer(str(file.config["class_name"]), "keras", settings, ()))
    except TinydeployError as error:
        builder.note(error, str(path))
        outputs = []
    graph.outputs = [name for name in outputs if name is not LOST]
    if len(graph.outputs) != len(outputs) and not builder.problems:
        raise walker.damaged("an output was not made")
    unknown = sorted(set(input_shapes) - walker.used_shapes)
    if unknown:
        rule = f"inputs are {', '.join(graph.inputs)}"
        builder.note(InputError([Problem(f"--input-shape {name}", "no such input", rule) for name in unknown]))
    return builder.finish()
