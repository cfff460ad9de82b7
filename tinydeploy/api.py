"""The Python interface: load, quantize, compile, validate; the same stages as the command line."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tinydeploy import pipeline
from tinydeploy.errors import InputError, Problem
from tinydeploy.frontends.keras_custom import CustomLayer as CustomLayer
from tinydeploy.frontends.keras_custom import CustomLayers
from tinydeploy.ir import Array, Graph

if TYPE_CHECKING:
    from tinydeploy.emit import Project

Inputs = Array | Mapping[str, Array]


@dataclasses.dataclass(frozen=True)
class Model:
    """A model and, once quantised, its float reference. ``graph``: what will be compiled; ``reference``:
    the float graph; ``macs``: multiply-accumulates of the model as it was loaded.
    """

    graph: Graph
    reference: Graph
    path: Path | None = None
    macs: int | None = None

    def __repr__(self) -> str:
        kind = "quantised" if self.graph.is_quantised() else "float"
        return f"Model({self.graph.name!r}, {kind}, {len(self.graph.nodes)} nodes)"

    def _feeds(self, graph: Graph, inputs: Inputs) -> dict[str, Array]:
        from tinydeploy.quant import feeds

        return feeds.fit(graph, inputs if isinstance(inputs, Mapping) else {feeds.ALIAS: np.asarray(inputs)})

    def run_integer(self, inputs: Inputs) -> dict[str, Array]:
        """The integer twin. ``inputs``: an array (single input) or arrays by name, leading axis = samples; real numbers
        are quantised, integers of the input's own type are taken as they are. Returns the outputs in the model's own
        types.
        """
        from tinydeploy.ops import execute
        from tinydeploy.validation import check

        feeds = self._feeds(self.graph, inputs)
        return execute.run_integer(self.graph, check.prepare(self.graph, feeds, None).fed)

    def run_float(self, inputs: Inputs) -> dict[str, Array]:
        """The float reference, float32; ``inputs`` as for `run_integer`."""
        from tinydeploy.ops import execute
        from tinydeploy.validation import check

        return execute.run_float(self.reference, check.prepare(self.graph, self._feeds(self.graph, inputs), None).real)


def load(
    model: Any,
    *,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    states: Mapping[str, str] | None = None,
    custom_layers: CustomLayers | None = None,
    signature: str | None = None,
) -> Model:
    """Read and optimise a model: a file, a SavedModel folder, or a Keras model in memory.

    ``custom_layers``: for layers of a Keras model that are not Keras' own, by class or name, a function that says what
    they are in our operators (see `CustomLayer`). ``signature``: which one of a SavedModel (default: serving_default).
    Raises: InputError, UnsupportedError, UsageError; ToolError if TensorFlow is needed and not installed.
    """
    options: dict[str, Any] = {"custom_layers": custom_layers, "signature": signature}
    if isinstance(model, (str, Path)):
        path = Path(model)
        loaded = pipeline.load(path, input_shapes=input_shapes, states=states, **options)
        graph = pipeline.optimise(loaded)
        return Model(graph, graph, path, pipeline.count_macs(loaded))
    with tempfile.TemporaryDirectory(prefix="tinydeploy-") as scratch:
        path = _save_keras(model, Path(scratch))
        loaded = pipeline.load(path, input_shapes=input_shapes, states=states, **options)
    graph = pipeline.optimise(loaded)
    return Model(graph, graph, None, pipeline.count_macs(loaded))


def _save_keras(model: Any, folder: Path) -> Path:
    """Write a Keras model to a file of its name.

    Raises: InputError if it is none, or Keras cannot save it.
    """
    save, name = getattr(model, "save", None), str(getattr(model, "name", "model"))
    if save is None or not hasattr(model, "layers"):
        rule = "a model is a path, or a Keras model"
        raise InputError(Problem("load", f"{type(model).__name__} is no model", rule))
    path = folder / f"{re.sub(r'[^0-9A-Za-z_]+', '_', name)[:80] or 'model'}.keras"
    try:
        save(path)
    except Exception as error:  # code of the user's own layers may run here
        raise InputError(Problem(f"model {name!r}", f"Keras cannot save it: {str(error)[:200]}")) from error
    return path


def quantize(
    model: Model, level: str = "int8", *, calibration: Inputs | None = None, ranges: str | None = None
) -> Model:
    """Quantise a float model with representative inputs; an already quantised one is returned unchanged."""
    arrays = None if calibration is None else model._feeds(model.graph, calibration)
    return dataclasses.replace(model, graph=pipeline.quantise(model.graph, level, arrays, ranges))


def compile(  # the contract's own word
    model: Model,
    *,
    cpu: str = pipeline.DEFAULT_CPU,
    name: str | None = None,
    optimize: Literal["size", "balanced", "speed"] = "balanced",
    max_ram: int | None = None,
) -> Project:
    """Lower, plan and print the C: returns sizes, plan and text; ``project.write(path)`` writes the folder."""
    options = pipeline.ConvertOptions(cpu=cpu, name=name, optimize=optimize, max_ram=max_ram, check=False)
    return pipeline.compile_graph(model.graph, model.reference, options, None, model.macs)


def validate(
    project: Project, *, board: str, data: Inputs, labels: Array | None = None, metric: str | None = None
) -> dict[str, Any]:
    """Build and run a compiled project on a board (or ``"host"``) and compare; the document of `validate --json`."""
    from tinydeploy.validation import check

    with tempfile.TemporaryDirectory(prefix="tinydeploy-") as scratch:
        path = Path(scratch) / "project"
        project.write(path)
        folder = pipeline.open_folder(path)
        feeds = Model(folder.quantised, folder.reference)._feeds(folder.quantised, data)
        return pipeline.validate(folder, board, check.prepare(folder.quantised, feeds, labels), metric=metric)
