"""Data with positions and channels as what our operators take: images of rank 4 (or 5), channels last."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.frontends.keras_call import Call
from tinydeploy.ir import Array


@dataclasses.dataclass(frozen=True)
class Plane:
    """``x``: the value as an image; a line is an image of height 1. ``sizes``: its positions, ``first``: whether the
    layer's own data has the channels ahead of them.
    """

    x: str
    sizes: tuple[int, ...]
    first: bool

    @property
    def is_line(self) -> bool:
        """True if a height of 1 was added."""
        return len(self.sizes) == 1

    def spread(self, numbers: tuple[int, ...], missing: int) -> tuple[int, ...]:
        """A number for each axis of the image."""
        return (missing, *numbers) if self.is_line else tuple(numbers)

    def borders(self, pads: list[tuple[int, int]]) -> tuple[int, ...]:
        """Padding in the operators' order: top, bottom, left, right; in 3-D front, back before them."""
        both = [(0, 0), *pads] if self.is_line else pads
        return tuple(end for pair in both for end in pair)

    def window(self, kernel: Array) -> Array:
        """A kernel with the positions of the image."""
        return kernel[np.newaxis] if self.is_line else kernel


def channels_first(call: Call) -> bool:
    """True if the layer says so.

    Raises: InputError for any other word than the two.
    """
    word = call.config.get("data_format")
    if word not in (None, "channels_last", "channels_first"):
        raise call.damaged(f"data_format is {str(word)[:80]!r}")
    return word == "channels_first"


def positions(call: Call, dims: int) -> tuple[str, bool]:
    """The one input, of rank ``dims`` + 2, with the channels last, and whether it had them first."""
    x = call.input()
    kind = call.type(x)
    if kind.rank != dims + 2:
        raise call.damaged(f"its input is {kind}, not of rank {dims + 2}")
    first = channels_first(call)
    return (call.transpose(x, (0, *range(2, dims + 2), 1), "last") if first else x), first


def back(call: Call, y: str, first: bool) -> str:
    """Channels where the layer has them."""
    rank = call.type(y).rank
    return call.transpose(y, (0, rank - 1, *range(1, rank - 1)), "first") if first else y


def plane(call: Call, dims: int) -> Plane:
    """The one input as an image; made once, however often it is asked for."""
    key = f"{call.layer.name}/plane/{','.join(map(str, call.operands))}"
    done = call.context.cache
    x, first = "", channels_first(call)
    if key not in done:
        x, first = positions(call, dims)
        shape = call.type(x).shape
        done[key] = call.reshape(x, (shape[0], 1, *shape[1:]), "image") if dims == 1 else x
    x = done[key]
    return Plane(x, call.type(x).shape[-1 - dims : -1], first)


def from_plane(call: Call, image: Plane, y: str) -> str:
    """The layer's own form of a result."""
    shape = call.type(y).shape
    return back(call, call.reshape(y, (shape[0], *shape[2:]), "line") if image.is_line else y, image.first)
