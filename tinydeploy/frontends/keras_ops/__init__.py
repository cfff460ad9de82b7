"""Translations of Keras layers and operations, by family. A module of this folder registers its own."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from tinydeploy.frontends.keras_call import LAYERS, OPERATIONS, Operation, Translation


@functools.cache
def tables() -> tuple[dict[str, Translation], dict[str, Operation]]:
    """Layers, and the operations of Keras 3, by their class names; imported at the first call."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return LAYERS, OPERATIONS
