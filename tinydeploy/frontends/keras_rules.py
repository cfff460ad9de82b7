"""Which layers of a Keras file can be translated at all: by their names, modules and type policies alone."""

from __future__ import annotations

from collections.abc import Container

from tinydeploy.errors import Problem
from tinydeploy.frontends.keras_file import is_own_module
from tinydeploy.frontends.keras_settings import Layer
from tinydeploy.ir import Elem

INPUT_TYPES = {elem.value: elem for elem in Elem if elem not in (Elem.F16, Elem.F64, Elem.S4)}
ROUNDED = ("float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16")
_EXECUTES = {"Lambda": "Python byte code", "TFSMLayer": "a TensorFlow program"}
_REPLACE = "replace it by built-in layers, map it with custom_layers= in Python, or export the model to ONNX or TFLite"


def is_operation(module: str) -> bool:
    """True for the modules of Keras 3's operations, which are called like functions."""
    return ".ops." in f"{module}."


def policy_name(policy: object) -> str | None:
    """The name of a type policy."""
    if isinstance(policy, dict):
        config = policy.get("config")
        policy = (config.get("name") if isinstance(config, dict) else None) or policy.get("class_name")
    return None if policy is None else str(policy)


def refusal(layer: Layer, known: Container[str]) -> Problem | None:
    """Why a layer cannot be translated, by its name alone; None if it can."""
    if layer.class_name in _EXECUTES:
        return Problem(layer.origin, f"holds {_EXECUTES[layer.class_name]}, which is never run", hint=_REPLACE)
    if not is_own_module(layer.module) or ">" in layer.class_name:
        place = f"module {layer.module[:80]!r}" if layer.module else f"the name {layer.registered[:80]!r}"
        return Problem(layer.origin, f"is a custom object of {place}", hint=_REPLACE)
    policy = policy_name(layer.config.get("dtype"))
    if policy is not None and policy not in (*INPUT_TYPES, *ROUNDED):
        return Problem(layer.origin, f"has the type policy {policy[:80]!r}", "layers compute in float32")
    if layer.class_name not in known:
        return Problem(layer.origin, "is not supported", hint="`tinydeploy ops` lists the layers; replace it by those")
    return None
