"""The operators: their meaning in real numbers and in integers. A module holds one operator or a family of them."""

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
        full_name = f"{__name__}.{module.name}"
        for item in vars(importlib.import_module(full_name)).values():
            if isinstance(item, type) and issubclass(item, Op) and item.name and item.__module__ == full_name:
                assert item.name not in found, f"two operators are called {item.name}"
                found[item.name] = item
    return found
