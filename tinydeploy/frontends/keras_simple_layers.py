"""Keras layers without weights: activations, arithmetic, shapes, and those that only act in training."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call


def _nothing(call: Call) -> str:
    return call.input()


def _activation(call: Call) -> str:
    return call.activate(call.input(), call.activation(call.config.get("activation")), "")


def _relu(call: Call) -> str:
    return call.activate(call.input(), call.relu(call.config), "")


def _softmax(call: Call) -> str:
    x = call.input()
    axis = call.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    return call.emit("softmax", (x,), axis=call.axis(axis, call.type(x).rank), beta=1.0)


def _flatten(call: Call) -> str:
    x = call.input()
    kind = call.type(x)
    if call.config.get("data_format") == "channels_first" and kind.rank > 2:
        raise call.refuse("flattens channels-first data", "data_format is channels_last")
    return call.reshape(x, (kind.shape[0], math.prod(kind.shape[1:])))


def _reshape(call: Call) -> str:
    x = call.input()
    kind, target = call.type(x), call.config.get("target_shape")
    target = target if isinstance(target, list) else [target]
    if any(type(d) is not int or d < -1 or d == 0 for d in target) or target.count(-1) > 1 or len(target) > 8:
        raise call.damaged(f"target_shape is {str(target)[:80]}")
    known, total = math.prod(d for d in target if d != -1), math.prod(kind.shape[1:])
    shape = tuple(total // known if d == -1 else d for d in target)
    if math.prod(shape) != total:
        raise call.damaged(f"makes {kind} into {target}")
    return call.reshape(x, (kind.shape[0], *shape))


def _permute(call: Call) -> str:
    x = call.input()
    dims = call.config.get("dims")
    if not isinstance(dims, list) or sorted(map(str, dims)) != sorted(map(str, range(1, call.type(x).rank))):
        raise call.damaged(f"permutes {call.type(x)} by {str(dims)[:80]}")
    return call.emit("transpose", (x,), perm=(0, *(int(d) for d in dims)))


def _arithmetic(operator: str, *, many: bool) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        count = len(call.operands)
        if count < 2 or (count > 2 and not many):
            raise call.damaged(f"has {count} inputs")
        total = call.operand(0)
        for index in range(1, count):
            total = call.emit(operator, (total, call.operand(index)), stem="" if index == count - 1 else f"part{index}")
        return total

    return translate


def _concatenate(call: Call) -> str:
    names = tuple(call.operand(i) for i in range(len(call.operands)))
    if not names:
        raise call.damaged("has no input")
    axis = call.axis(call.config.get("axis", -1), call.type(names[0]).rank)
    return call.emit("concat", names, axis=axis)


def _borders(call: Call, key: str, dims: int) -> list[tuple[int, int]]:
    """(before, after) an axis from 1, (1, 2) or ((1, 2), (3, 4))."""
    value = call.config.get(key)
    pairs: list[Any] = list(value) if isinstance(value, list) and dims > 1 else [value] * dims
    result = []
    for pair in pairs:
        ends: list[Any] = pair if isinstance(pair, list) else [pair, pair]
        if len(ends) != 2 or any(type(e) is not int or not 0 <= e <= 1 << 20 for e in ends):
            raise call.damaged(f"{key} is {str(value)[:80]}")
        result.append((ends[0], ends[1]))
    if len(result) != dims:
        raise call.damaged(f"{key} is {str(value)[:80]}")
    return result


def _zero_padding(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, _ = call.image(dims + 2)
        return call.emit("pad", (x,), padding=((0, 0), *_borders(call, "padding", dims), (0, 0)), value=0.0)

    return translate


def _cropping(dims: int) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x, kind = call.image(dims + 2)
        cuts = [(0, 0), *_borders(call, "cropping", dims), (0, 0)]
        end = tuple(size - after for size, (_, after) in zip(kind.shape, cuts, strict=True))
        begin = tuple(before for before, _ in cuts)
        if any(b >= e for b, e in zip(begin, end, strict=True)):
            raise call.damaged(f"cuts {cuts} off {kind}")
        return call.emit("strided_slice", (x,), begin=begin, end=end, stride=(1,) * kind.rank)

    return translate


def _rescaling(call: Call) -> str:
    x = call.input()
    scale, offset = call.number("scale"), call.number("offset", 0.0)
    y = call.emit("mul", (x, call.constant("scale", np.asarray(scale))), stem="scale" if offset else "")
    return call.emit("add", (y, call.constant("offset", np.asarray(offset)))) if offset else y


LAYERS: dict[str, Callable[[Call], str]] = {
    "Activation": _activation,
    "ReLU": _relu,
    "Softmax": _softmax,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Permute": _permute,
    "Add": _arithmetic("add", many=True),
    "Subtract": _arithmetic("sub", many=False),
    "Multiply": _arithmetic("mul", many=True),
    "Concatenate": _concatenate,
    "ZeroPadding1D": _zero_padding(1),
    "ZeroPadding2D": _zero_padding(2),
    "Cropping1D": _cropping(1),
    "Cropping2D": _cropping(2),
    "Rescaling": _rescaling,
    "Dropout": _nothing,
    "SpatialDropout1D": _nothing,
    "SpatialDropout2D": _nothing,
    "GaussianNoise": _nothing,
    "GaussianDropout": _nothing,
    "AlphaDropout": _nothing,
    "ActivityRegularization": _nothing,
    "Identity": _nothing,
}
# Operations of Keras 3 between layers (`x * 2`): they take tensors and numbers.
OPERATIONS: dict[str, Callable[[Call], str]] = {
    "Add": _arithmetic("add", many=False),
    "Subtract": _arithmetic("sub", many=False),
    "Multiply": _arithmetic("mul", many=False),
}
