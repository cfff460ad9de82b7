"""How layers are called, as the file has it: arguments of Python with tensors among them, of Keras 2 and of Keras 3."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_settings import Layer

MAX_CALLS = 2000
MAX_DEPTH = 8
MAX_NUMBER = 1e30


@dataclasses.dataclass(frozen=True)
class History:
    """A tensor: result ``index`` of call ``node`` of a layer."""

    layer: str
    node: int
    index: int


@dataclasses.dataclass(frozen=True)
class LayerCall:
    """One call of a layer, by its number."""

    layer: Layer
    node: int
    args: list[Any]
    kwargs: dict[str, Any]


class Unreadable(ValueError):
    """A call that is written as Keras would not write it."""


def history(entry: object) -> History:
    """``["a", 0, 0]``, or longer.

    Raises: Unreadable.
    """
    if isinstance(entry, list) and len(entry) >= 3:
        name, node, index = entry[:3]
        if isinstance(name, str) and type(node) is int and type(index) is int:
            return History(name, node, index)
    raise Unreadable(f"{str(entry)[:80]} names no tensor")


def tensors(value: object, depth: int = 0) -> list[History]:
    """``["a", 0, 0]``, or lists or dicts of such, in order.

    Raises: Unreadable, also for none at all.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list) or not value or depth > MAX_DEPTH or len(value) > MAX_CALLS:
        raise Unreadable("it names no inputs or no outputs")
    if isinstance(value[0], str):
        return [history(value)]
    return [found for item in value for found in tensors(item, depth + 1)]


def calls(layer: Layer, nodes: object) -> list[LayerCall]:
    """All calls of a layer.

    Raises: Unreadable.
    """
    if not isinstance(nodes, list) or len(nodes) > MAX_CALLS:
        raise Unreadable(f"{layer.origin} does not say where its inputs come from")
    found = []
    for number, node in enumerate(nodes):
        try:
            if isinstance(node, dict):
                args = [_value(item) for item in _list(node.get("args"))]
                kwargs = {str(k): _value(item) for k, item in _dict(node.get("kwargs")).items()}
            elif isinstance(node, list):
                args, kwargs = _old(node)
            else:
                raise Unreadable(str(node)[:80])
        except Unreadable as error:
            raise Unreadable(f"{layer.origin} is called with {error}") from None
        found.append(LayerCall(layer, number, args, kwargs))
    return found


def histories(value: Any) -> Iterator[History]:
    """The tensors in an argument."""
    if isinstance(value, History):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from histories(item)


def replaced(value: Any, by: Callable[[History], Any]) -> Any:
    """An argument with its tensors replaced."""
    if isinstance(value, History):
        return by(value)
    if isinstance(value, list):
        return [replaced(item, by) for item in value]
    return {key: replaced(item, by) for key, item in value.items()} if isinstance(value, dict) else value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _value(item: object, depth: int = 0) -> Any:
    """An argument as Keras 3 writes it."""
    if depth > MAX_DEPTH:
        raise Unreadable("arguments nested too deeply")
    if item is None or isinstance(item, (bool, str)):
        return item
    if type(item) in (int, float):
        return _number(item)
    if isinstance(item, list):
        return [_value(part, depth + 1) for part in item]
    kind, config = _dict(item).get("class_name"), _dict(_dict(item).get("config"))
    if "keras_history" in config:
        return history(config["keras_history"])
    if kind == "__ellipsis__":
        return Ellipsis
    if kind == "__slice__":
        return slice(*(_bound(config.get(key)) for key in ("start", "stop", "step")))
    if kind == "__tuple__" and isinstance(config.get("value"), list):
        return [_value(part, depth + 1) for part in config["value"]]
    if kind in ("__numpy__", "__tensor__"):
        return _array(config)
    if isinstance(item, dict) and kind is None:
        return {str(key): _value(part, depth + 1) for key, part in item.items()}
    raise Unreadable(str(item)[:80])


def _number(item: Any) -> Any:
    if not abs(item) < MAX_NUMBER:
        raise Unreadable(str(item)[:80])
    return item


def _bound(item: object) -> int | None:
    if item is not None and type(item) is not int:
        raise Unreadable(f"a slice with the bound {str(item)[:80]}")
    return item


def _array(config: dict[str, Any]) -> np.ndarray[Any, Any]:
    name = str(config.get("dtype"))
    dtype = "float32" if name in ("bfloat16", "float16", "float64") else name
    if dtype not in ("float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool"):
        raise Unreadable(f"an array of {name[:80]}")
    try:
        with np.errstate(over="ignore"):
            array = np.array(config.get("value"), dtype)
    except (ValueError, TypeError, OverflowError):
        raise Unreadable("an array that is none") from None
    if not array.size or array.ndim > MAX_DEPTH:
        raise Unreadable("an array that is empty or has too many axes")
    return array


def _old(node: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """A call as Keras 2 writes it: a tensor, or a list of tensors, each with the same other arguments."""
    kwargs: dict[str, Any] = {}
    single = bool(node) and isinstance(node[0], str)
    args = [_old_tensor(item, kwargs) for item in ([node] if single else node)]
    return [args] if len(args) > 1 else args, kwargs


def _old_tensor(item: object, kwargs: dict[str, Any], depth: int = 0) -> Any:
    """A tensor, a number, or a list of them; other arguments are added to ``kwargs``."""
    if isinstance(item, list) and item and isinstance(item[0], list) and depth < MAX_DEPTH:
        return [_old_tensor(part, kwargs, depth + 1) for part in item]
    found = history(item) if not (isinstance(item, list) and item[:1] == ["_CONSTANT_VALUE"]) else None
    assert isinstance(item, list)
    extra = _dict(item[3] if len(item) > 3 else None)
    kwargs.update({str(key): _old_value(part) for key, part in extra.items()})
    if found is None and len(item) < 3:
        raise Unreadable(f"{str(item)[:80]} holds no number")
    return found or _value(item[2])


def _old_value(item: object, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise Unreadable("arguments nested too deeply")
    if isinstance(item, list) and len(item) == 3 and isinstance(item[0], str):
        return _value(item[2]) if item[0] == "_CONSTANT_VALUE" else history(item)
    if isinstance(item, list):
        return [_old_value(part, depth + 1) for part in item]
    if isinstance(item, dict) and item.get("class_name") is None:
        return {str(key): _old_value(part, depth + 1) for key, part in item.items()}
    return _value(item, depth)
