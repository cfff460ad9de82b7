"""tinydeploy: a trained network becomes verified C99 firmware for a Cortex-M microcontroller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinydeploy.version import __version__

_INTERFACE = ("CustomLayer", "Model", "compile", "load", "quantize", "validate")
__all__ = ["CustomLayer", "Model", "__version__", "compile", "load", "quantize", "validate"]

if TYPE_CHECKING:
    from tinydeploy.api import CustomLayer, Model, compile, load, quantize, validate


def __getattr__(name: str) -> Any:
    """Import the Python interface when it is first used: `tinydeploy --help` must not pay for NumPy."""
    if name in _INTERFACE:
        from tinydeploy import api

        return getattr(api, name)
    raise AttributeError(f"module 'tinydeploy' has no attribute {name!r}")
