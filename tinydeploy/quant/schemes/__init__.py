"""Schemes: how a level stores weights and activations. One module a scheme, found by looking in this folder."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from tinydeploy.errors import Problem, UsageError
from tinydeploy.quant.schemes._scheme import Format, Scheme

__all__ = ["Format", "Scheme", "find", "registry"]


@functools.cache
def registry() -> dict[str, Scheme]:
    """Scheme by level, as users type it (``int8``)."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    schemes = (importlib.import_module(f"{__name__}.{name}").SCHEME for name in sorted(modules))
    return {scheme.level: scheme for scheme in schemes}


def find(level: str) -> Scheme:
    """The scheme of a level.

    Raises: UsageError if there is none of that name.
    """
    known = registry()
    if level not in known:
        raise UsageError(Problem(f"level {level!r}", "there is no such level", f"one of float32, {', '.join(known)}"))
    return known[level]
