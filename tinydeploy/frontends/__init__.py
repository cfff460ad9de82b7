"""Foreign model files to `Graph`. A module with ``SUFFIXES`` and ``load(path, input_shapes)`` is a frontend."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tinydeploy.errors import InputError, Problem, UsageError
from tinydeploy.ir import Graph
from tinydeploy.ir.verify import verify

if TYPE_CHECKING:
    from tinydeploy.frontends.keras_custom import CustomLayers

Shapes: TypeAlias = "Mapping[str, tuple[int, ...]]"
Loader: TypeAlias = "Callable[..., Graph]"  # path, input shapes, and the options it names
SAVED_MODEL = "saved_model.pb"


@functools.cache
def frontends() -> dict[str, Loader]:
    """The loader of each suffix (lower case, with the dot)."""
    found: dict[str, Loader] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        loaded = importlib.import_module(f"{__name__}.{module}")
        for suffix in getattr(loaded, "SUFFIXES", ()):
            found[suffix] = loaded.load
    return found


def load(
    path: str | Path,
    *,
    input_shapes: Shapes | None = None,
    custom_layers: CustomLayers | None = None,
    signature: str | None = None,
) -> Graph:
    """Read a model file, or a SavedModel folder.

    ``input_shapes``: a shape by input name where the file leaves dimensions open (an open batch becomes 1 by itself).
    ``custom_layers``: functions that translate layers of a Keras file by their class or name (`keras_custom`).
    ``signature``: which of a SavedModel's (default: serving_default).
    Raises: InputError if the file cannot be used, UnsupportedError with everything in it that is not supported,
    UsageError for an option that the format does not have.
    """
    path = Path(path)
    options: dict[str, Any] = {"custom_layers": custom_layers, "signature": signature}
    given = {key: value for key, value in options.items() if value}
    loader = _loader(path)
    other = sorted(set(given) - set(inspect.signature(loader).parameters))
    if other:
        raise UsageError(Problem(str(path), f"{', '.join(other)} mean nothing for a model of this kind"))
    graph = loader(path, input_shapes or {}, **given)
    verify(graph, "import")
    return graph


def _loader(path: Path) -> Loader:
    """What reads ``path``. Raises: InputError if nothing does."""
    if path.is_dir() and (path / SAVED_MODEL).is_file():
        loader: Loader = importlib.import_module(f"{__name__}.saved_model").load
        return loader
    found = frontends().get(path.suffix.lower())
    if path.is_dir() or found is None:
        raise InputError(_not_a_model(path))
    return found


def _not_a_model(path: Path) -> Problem:
    rule = f"model files end in {' '.join(sorted(frontends()))}"
    if not path.exists():
        return Problem(str(path), "does not exist", rule)
    if not path.is_dir():
        return Problem(str(path), f"has the suffix {path.suffix!r}", rule)
    return Problem(
        str(path), "is a folder", rule, f"give the file inside it; a SavedModel's folder has a {SAVED_MODEL}"
    )
