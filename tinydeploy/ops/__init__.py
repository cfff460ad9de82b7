"""The operators: their meaning in real numbers and in integers. A module of this folder is an operator of its name."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from tinydeploy.ops._op import Op


@functools.cache
def registry() -> dict[str, type[Op]]:
    """Every operator class by its name, found by looking in this folder; imported at the first call."""
    found: dict[str, type[Op]] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        if module.name.startswith("_"):
            continue
        contents = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        for item in contents:
            if isinstance(item, type) and issubclass(item, Op) and item.name == module.name:
                found[module.name] = item
    return found
