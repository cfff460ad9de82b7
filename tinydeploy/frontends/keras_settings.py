"""A Keras layer as the file has it, and its configuration read with every value checked."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import same_padding
from tinydeploy.frontends.keras_file import Ref

MAX_SIZE = 1 << 20
MAX_TABLE = 1 << 24  # elements of a constant that we make
MAX_PARTS = 1024


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of the file. ``path`` leads to its weights; its last name is the layer's own."""

    class_name: str
    module: str
    config: dict[str, Any]
    path: tuple[Ref, ...]
    registered: str = ""

    @property
    def name(self) -> str:
        """What the user calls it; layers of nested models are told apart by the models' names."""
        return "/".join(ref.name for ref in self.path)

    @property
    def origin(self) -> str:
        """For messages."""
        return f"layer '{self.name}' ({self.class_name})"


class Settings:
    """The configuration of a layer."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.config = layer.config

    def refuse(self, what: str, rule: str = "", hint: str = "") -> UnsupportedError:
        """An error for something the file may ask for but we do not do."""
        return UnsupportedError(Problem(self.layer.origin, what, rule, hint))

    def damaged(self, what: str) -> InputError:
        """An error for something no valid file asks for."""
        return InputError(Problem(self.layer.origin, what))

    def check_table(self, *sizes: int) -> None:
        """Raise UnsupportedError if a constant of these sizes would be too large; asked before it is made."""
        if math.prod(sizes) > MAX_TABLE:
            raise self.refuse(f"would need a table of shape {list(sizes)}", f"{MAX_TABLE} elements at most")

    def check_parts(self, count: int) -> None:
        """Raise UnsupportedError if a layer would become too many operators or values."""
        if count > MAX_PARTS:
            raise self.refuse(f"is made of {count} parts", f"{MAX_PARTS} at most")

    def number(self, key: str, default: float | None = None, *, config: dict[str, Any] | None = None) -> float:
        """A finite number of the configuration."""
        value = (self.config if config is None else config).get(key)
        if isinstance(value, dict):  # a NumPy scalar: as Keras 2 wrote it, or as Keras 3 does
            value = value.get("value", value.get("config"))
            value = value.get("value") if isinstance(value, dict) else value
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.damaged(f"{key} is {str(value)[:80]!r}, not a number")
        return float(value)

    def whole(self, key: str, default: int | None = None, least: int = 1) -> int:
        """A whole number of the configuration."""
        value = self.config.get(key)
        value = default if value is None else value
        if type(value) is not int or not least <= value <= MAX_SIZE:
            raise self.damaged(f"{key} is {str(value)[:80]!r}, not a whole number from {least} to {MAX_SIZE}")
        return value

    def integers(self, key: str, count: int, default: int | None = None) -> tuple[int, ...]:
        """``count`` integers from 1; one number stands for all."""
        value = self.config.get(key)
        value = default if value is None else value
        items = value if isinstance(value, list) else [value] * count
        whole = [item for item in items if type(item) is int and 1 <= item <= MAX_SIZE]
        if len(items) != count or len(whole) != count:
            raise self.damaged(f"{key} is {str(value)[:80]!r}; {count} whole numbers from 1 to {MAX_SIZE} are needed")
        return tuple(whole)

    def axis(self, value: object, rank: int) -> int:
        """An axis that may count from the end."""
        if type(value) is not int or not -rank <= value < rank:
            raise self.damaged(f"axis {str(value)[:80]} does not exist in {rank} dimensions")
        return value % rank

    def axes(self, value: object, rank: int) -> tuple[int, ...]:
        """One axis or a list of them, in ascending order; None means all."""
        if value is None:
            return tuple(range(rank))
        items = value if isinstance(value, (list, tuple)) else [value]
        found = sorted({self.axis(item, rank) for item in items})
        if len(found) != len(items):
            raise self.damaged(f"names an axis twice: {str(value)[:80]}")
        return tuple(found)

    def padding(
        self, sizes: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        """(before, after) an axis for "valid", "same" or, in one dimension, "causal"."""
        word = self.config.get("padding", "valid")
        if word == "valid":
            return [(0, 0)] * len(sizes)
        if word == "same":
            return [same_padding(*args) for args in zip(sizes, kernel, stride, dilation, strict=True)]
        if word == "causal" and len(sizes) == 1:
            return [((kernel[0] - 1) * dilation[0], 0)]
        raise self.damaged(f"padding is {str(word)[:80]!r}")
