"""Foreign model files to `Graph`. A module with ``SUFFIXES`` and ``load(path, input_shapes)`` is a frontend."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Graph
from tinydeploy.ir.verify import verify

Shapes: TypeAlias = "Mapping[str, tuple[int, ...]]"
Loader: TypeAlias = "Callable[[Path, Shapes], Graph]"


@functools.cache
def frontends() -> dict[str, Loader]:
    """The loader of each suffix (lower case, with the dot)."""
    found: dict[str, Loader] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        loaded = importlib.import_module(f"{__name__}.{module}")
        for suffix in getattr(loaded, "SUFFIXES", ()):
            found[suffix] = loaded.load
    return found


def load(path: str | Path, *, input_shapes: Shapes | None = None) -> Graph:
    """Read a model file.

    ``input_shapes``: a shape by input name where the file leaves dimensions open (an open batch becomes 1 by itself).
    Raises: InputError if the file cannot be used, UnsupportedError with everything in it that is not supported.
    """
    path = Path(path)
    loader = frontends().get(path.suffix.lower())
    if path.is_dir() or loader is None:
        raise InputError(_not_a_model(path))
    graph = loader(path, input_shapes or {})
    verify(graph, "import")
    return graph


def _not_a_model(path: Path) -> Problem:
    rule = f"model files end in {' '.join(sorted(frontends()))}"
    if not path.exists():
        return Problem(str(path), "does not exist", rule)
    if not path.is_dir():
        return Problem(str(path), f"has the suffix {path.suffix!r}", rule)
    if (path / "saved_model.pb").exists():
        hint = "save the model as .keras, or convert the folder to .tflite (TFLiteConverter) or .onnx (tf2onnx)"
        return Problem(str(path), "is a SavedModel folder, which holds a program rather than layers", rule, hint)
    return Problem(str(path), "is a folder", rule, "give the file inside the folder")
