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
    if loader is None:
        known = " ".join(sorted(frontends()))
        what = "does not exist" if not path.exists() else f"has the suffix {path.suffix!r}"
        raise InputError(Problem(str(path), what, f"model files end in {known}"))
    graph = loader(path, input_shapes or {})
    verify(graph, "import")
    return graph
