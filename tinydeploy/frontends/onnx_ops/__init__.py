"""Translations of ONNX operators, by family. A module of this folder registers its own; nothing else lists them."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from tinydeploy.frontends.onnx_call import FOLDS, TRANSLATIONS, Translate


@functools.cache
def tables() -> tuple[dict[tuple[str, str], Translate], dict[tuple[str, str], Translate]]:
    """Translations and constant folds by (domain, operator type); imported at the first call."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return TRANSLATIONS, FOLDS
