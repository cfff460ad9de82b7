"""Layers that move data, cut it, surround it or repeat it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.frontends.keras_ops._planes import back, channels_first, positions
from tinydeploy.frontends.keras_ops._resize import FILTERS, resize, take
from tinydeploy.frontends.keras_settings import MAX_SIZE


def _whole(call: Call) -> str:
    """The one input in its own type."""
    if len(call.operands) != 1:
        raise call.damaged(f"has {len(call.operands)} inputs, not 1")
    name = call.tensor(call.operands[0])
    if not call.type(name).rank:
        raise call.damaged("its input has no batch axis")
    return name


@layer("Flatten")
def _flatten(call: Call) -> str:
    x = _whole(call)
    kind = call.type(x)
    if channels_first(call) and kind.rank > 2:
        x = call.transpose(x, (0, *range(2, kind.rank), 1), "last")
    return call.reshape(x, (kind.shape[0], math.prod(kind.shape[1:])))


@layer("Reshape")
def _reshape(call: Call) -> str:
    x = _whole(call)
    kind, target = call.type(x), call.config.get("target_shape")
    return call.reshape(x, (kind.shape[0], *new_shape(call, kind.shape[1:], target)))


def new_shape(call: Call, shape: tuple[int, ...], target: object) -> tuple[int, ...]:
    """``target`` with its -1 replaced by what fits.

    Raises: InputError if it is none or does not hold as many elements.
    """
    items: list[Any] = target if isinstance(target, list) else [target]
    if any(type(d) is not int or d < -1 or d == 0 for d in items) or items.count(-1) > 1 or len(items) > 8:
        raise call.damaged(f"target_shape is {str(items)[:80]}")
    known, total = math.prod(d for d in items if d != -1), math.prod(shape)
    result = tuple(total // known if d == -1 else d for d in items)
    if math.prod(result) != total:
        raise call.damaged(f"makes {list(shape)} into {items}")
    return result


@layer("Permute")
def _permute(call: Call) -> str:
    x = _whole(call)
    dims = call.config.get("dims")
    if not isinstance(dims, list) or sorted(map(str, dims)) != sorted(map(str, range(1, call.type(x).rank))):
        raise call.damaged(f"permutes {call.type(x)} by {str(dims)[:80]}")
    return call.transpose(x, (0, *(int(d) for d in dims)))


@layer("RepeatVector")
def _repeat_vector(call: Call) -> str:
    x = _whole(call)
    kind = call.type(x)
    if kind.rank != 2:
        raise call.damaged(f"its input is {kind}, not of rank 2")
    wide = call.reshape(x, (kind.shape[0], 1, kind.shape[1]), "wide")
    return call.emit("tile", (wide,), repeats=(1, call.whole("n"), 1))


def _borders(call: Call, key: str, dims: int) -> list[tuple[int, int]]:
    """(before, after) an axis from 1, (1, 2) or ((1, 2), (3, 4))."""
    value = call.config.get(key)
    pairs: list[Any] = list(value) if isinstance(value, list) and dims > 1 else [value] * dims
    result = []
    for pair in pairs:
        ends: list[Any] = pair if isinstance(pair, list) else [pair, pair]
        if len(ends) != 2 or any(type(e) is not int or not 0 <= e <= MAX_SIZE for e in ends):
            raise call.damaged(f"{key} is {str(value)[:80]}")
        result.append((ends[0], ends[1]))
    if len(result) != dims:
        raise call.damaged(f"{key} is {str(value)[:80]}")
    return result


def _around(call: Call, dims: int, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs for every axis: none for the batch and the channels."""
    rank = call.type(call.tensor(call.operands[0])).rank if len(call.operands) == 1 else 0
    if rank != dims + 2:
        raise call.damaged(f"its input has rank {rank}, not {dims + 2}")
    return [(0, 0), (0, 0), *pairs] if channels_first(call) else [(0, 0), *pairs, (0, 0)]


def _zero_padding(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        pads = _around(call, dims, _borders(call, "padding", dims))
        return call.emit("pad", (_whole(call),), padding=tuple(pads), value=0.0)

    return translate


def _cropping(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        cuts = _around(call, dims, _borders(call, "cropping", dims))
        x = _whole(call)
        kind = call.type(x)
        end = tuple(size - after for size, (_, after) in zip(kind.shape, cuts, strict=True))
        begin = tuple(before for before, _ in cuts)
        if any(b >= e for b, e in zip(begin, end, strict=True)):
            raise call.damaged(f"cuts {cuts} off {kind}")
        return call.emit("strided_slice", (x,), begin=begin, end=end, stride=(1,) * kind.rank)

    return translate


def _up_sampling(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        method = str(call.config.get("interpolation", "nearest"))
        x, first = positions(call, dims)
        shape, factors = call.type(x).shape, call.integers("size", dims, 2)
        if method == "nearest":
            for axis, factor in enumerate(factors, 1):
                if factor > 1:
                    call.check_table(shape[axis], factor)
                    index = np.repeat(np.arange(shape[axis], dtype=np.int32), factor)
                    x = take(call, x, axis, index, f"axis{axis}")
        elif method in FILTERS and dims == 2:
            x = resize(call, x, (shape[1] * factors[0], shape[2] * factors[1]), method)
        else:
            raise call.refuse(f"interpolates by {method[:80]!r}", f"nearest, {', '.join(FILTERS)}")
        return back(call, x, first)

    return translate


for _dims in (1, 2, 3):
    layer(f"ZeroPadding{_dims}D")(_zero_padding(_dims))
    layer(f"Cropping{_dims}D")(_cropping(_dims))
    layer(f"UpSampling{_dims}D")(_up_sampling(_dims))
