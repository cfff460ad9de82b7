"""Layers that merge several tensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.frontends.keras_call import Call, layer
from tinydeploy.frontends.keras_ops._einsum import einsum


def _same_rank(call: Call) -> list[str]:
    """All inputs as float32 with as many axes as the largest has, the new ones behind the batch."""
    names = [call.operand(i) for i in range(len(call.operands))]
    rank = max((call.type(name).rank for name in names), default=0)
    result = []
    for index, name in enumerate(names):
        shape = call.type(name).shape
        ones = (1,) * (rank - len(shape))
        result.append(call.reshape(name, (*shape[:1], *ones, *shape[1:]), f"wide{index}"))
    return result


def _chain(operator: str, most: int = 1 << 20) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        names = _same_rank(call)
        if not 2 <= len(names) <= most:
            raise call.damaged(f"has {len(names)} inputs")
        total = names[0]
        for index, name in enumerate(names[1:], 1):
            total = call.emit(operator, (total, name), stem="" if index == len(names) - 1 else f"part{index}")
        return total

    return translate


layer("Add", mask="passes")(_chain("add"))
layer("Subtract", mask="uses")(_chain("sub", 2))
layer("Multiply", mask="uses")(_chain("mul"))
layer("Maximum", mask="uses")(_chain("maximum"))
layer("Minimum", mask="uses")(_chain("minimum"))


@layer("Average", mask="uses")
def _average(call: Call) -> str:
    names = _same_rank(call)
    if not names:
        raise call.damaged("has no input")
    total = names[0]
    for index, name in enumerate(names[1:], 1):
        total = call.emit("add", (total, name), stem=f"sum{index}")
    return call.emit("mul", (total, call.constant("share", np.asarray(1 / len(names)))))


@layer("Concatenate", mask="passes")
def _concatenate(call: Call) -> str:
    names = [call.tensor(item) for item in call.operands]
    if not names:
        raise call.damaged("has no input")
    if len({call.type(name).elem for name in names}) > 1:
        names = [call.operand(i) for i in range(len(names))]
    axis = call.axis(call.config.get("axis", -1), call.type(names[0]).rank)
    return call.emit("concat", names, axis=axis) if len(names) > 1 else names[0]


@layer("Dot")
def _dot(call: Call) -> str:
    """Sums over one axis of each; the batch is common, and what is left of both follows it in order."""
    if len(call.operands) != 2:
        raise call.damaged(f"has {len(call.operands)} inputs, not 2")
    names = [call.operand(0), call.operand(1)]
    ranks = [call.type(name).rank for name in names]
    given = call.config.get("axes")
    axes = [call.axis(a, r) for a, r in zip(given if isinstance(given, list) else [given] * 2, ranks, strict=False)]
    if len(axes) != 2 or 0 in axes:
        raise call.damaged(f"sums over axes {str(given)[:80]} of tensors of rank {ranks}")
    if call.config.get("normalize"):
        names = [
            call.emit("l2_normalize", (name,), stem=f"unit{i}", axes=(axis,), epsilon=1e-12)
            for i, (name, axis) in enumerate(zip(names, axes, strict=True))
        ]
    letters = [["b", *(chr(ord(start) + i) for i in range(1, rank))] for start, rank in zip("di", ranks, strict=True)]
    for own, axis in zip(letters, axes, strict=True):
        own[axis] = "z"
    out = ["b", *(c for own in letters for c in own[1:] if c != "z")]
    y = einsum(call, f"{''.join(letters[0])},{''.join(letters[1])}->{''.join(out)}", names, "")
    return call.reshape(y, (*call.type(y).shape, 1), "number") if len(out) == 1 else y
