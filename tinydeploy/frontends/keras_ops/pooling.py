"""Pooling: windows, the whole of the positions, and windows that adapt to a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call, Mask, layer
from tinydeploy.frontends.keras_ops._planes import back, from_plane, plane, positions


def _pool(word: str, dims: int) -> Callable[[Call], str]:
    operator = f"{word}_pool{3 if dims == 3 else 2}d"

    def translate(call: Call) -> str:
        image = plane(call, dims)
        kernel = call.integers("pool_size", dims, 2)
        stride = kernel if call.config.get("strides") is None else call.integers("strides", dims)
        pads = call.padding(image.sizes, kernel, stride, (1,) * dims)
        extra: dict[str, Any] = {"count_include_pad": False} if word == "average" else {}
        y = call.emit(
            operator,
            (image.x,),
            kernel=image.spread(kernel, 1),
            stride=image.spread(stride, 1),
            padding=image.borders(pads),
            **extra,
        )
        return from_plane(call, image, y)

    return translate


def _global(operator: str, dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, first = positions(call, dims)
        keep = bool(call.config.get("keepdims"))
        y = call.emit(operator, (x,), axes=tuple(range(1, dims + 1)), keep_dims=keep)
        return back(call, y, first) if keep else y

    return translate


def _global_max(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, first = positions(call, dims)
        shape = call.type(x).shape
        sides = (1, *shape[1:-1]) if dims == 1 else (shape[1], int(np.prod(shape[2:-1])))
        image = call.reshape(x, (shape[0], *sides, shape[-1]), "image")
        y = call.emit("max_pool2d", (image,), kernel=sides, stride=(1, 1), padding=(0, 0, 0, 0))
        keep = bool(call.config.get("keepdims"))
        y = call.reshape(y, (shape[0], *((1,) * dims if keep else ()), shape[-1]), "squeeze")
        return back(call, y, first) if keep else y

    return translate


def _adaptive(reducer: str, dims: int) -> Callable[[Call], str]:
    """Window i of an axis of n in m parts is from floor(i n / m) to ceil((i + 1) n / m)."""

    def translate(call: Call) -> str:
        x, first = positions(call, dims)
        for axis, count in enumerate(call.integers("output_size", dims), 1):
            size = call.type(x).shape[axis]
            call.check_parts(count)
            windows = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
            if all(end - begin == 1 for begin, end in windows) and count == size:
                continue
            parts = []
            for number, (begin, end) in enumerate(windows):
                part = call.slice(x, axis, begin, end, stem=f"slice{axis}_{number}")
                stem = f"part{axis}_{number}"
                parts.append(call.emit(reducer, (part,), stem=stem, axes=(axis,), keep_dims=True))
            x = call.emit("concat", parts, stem=f"axis{axis}", axis=axis) if len(parts) > 1 else parts[0]
        return back(call, x, first)

    return translate


for _dims in (1, 2, 3):
    _average_mask: Mask = "uses" if _dims == 1 else "drops"
    layer(f"MaxPooling{_dims}D", f"MaxPool{_dims}D")(_pool("max", _dims))
    layer(f"AveragePooling{_dims}D", f"AvgPool{_dims}D")(_pool("average", _dims))
    layer(f"GlobalMaxPooling{_dims}D", f"GlobalMaxPool{_dims}D")(_global_max(_dims))
    layer(f"GlobalAveragePooling{_dims}D", f"GlobalAvgPool{_dims}D", mask=_average_mask)(_global("mean", _dims))
    layer(f"AdaptiveAveragePooling{_dims}D")(_adaptive("mean", _dims))
    layer(f"AdaptiveMaxPooling{_dims}D")(_adaptive("reduce_max", _dims))
