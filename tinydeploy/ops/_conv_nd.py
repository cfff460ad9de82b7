"""What convolutions over volumes and transposed convolutions share: rules, geometry and arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _linear
from tinydeploy.ops._op import Arrays, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._windows_nd import window_sums


def _ranks(inputs: Types, rank: int) -> bool:
    return len(inputs) >= 2 and all(kind is not None and kind.rank == rank + 2 for kind in inputs[:2])


def _channels(op: Any, inputs: Types, rank: int) -> bool:
    if not _ranks(inputs, rank) or op.groups < 1:
        return False
    x, weights = present(inputs, 0), present(inputs, 1)
    return bool(weights.shape[-1] * op.groups == x.shape[-1] and weights.shape[0] % op.groups == 0)


def rules(rank: int, layout: str, geometry: Callable[[Any, int], bool]) -> tuple[Rule, ...]:
    """Rules of a convolution over ``rank`` axes; ``geometry``: whether the attributes are in order."""

    def bias(op: Any, inputs: Types) -> bool:
        kind = optional(inputs, 2)
        return kind is None or (_ranks(inputs, rank) and kind.shape == present(inputs, 1).shape[:1])

    def fits(op: Any, inputs: Types) -> bool:
        if not _ranks(inputs, rank) or not geometry(op, rank):
            return False
        x, weights = present(inputs, 0).shape, present(inputs, 1).shape
        return bool(min(weights) >= 1 and min(axis.out for axis in op.axes(x, weights)) >= 1)

    return (
        count_rule(2, 3),
        Rule(f"input and weights are {layout}, both of rank {rank + 2}", lambda _, inputs: _ranks(inputs, rank)),
        Rule(
            "groups divides both channel counts, weights have C / groups input channels",
            lambda op, inputs: _channels(op, inputs, rank),
        ),
        Rule("bias has one value an output channel", bias),
        Rule("stride, dilation and kernel are at least 1, padding at least 0, and the result is not empty", fits),
        _linear.ACTIVATIONS,
    )


def infer(op: Any, inputs: Types) -> tuple[Type, ...]:
    """[N, outs ..., O] with the input's element type."""
    op.require(inputs)
    x, weights = present(inputs, 0), present(inputs, 1)
    outs = (axis.out for axis in op.axes(x.shape, weights.shape))
    return (Type((x.shape[0], *outs, weights.shape[0]), x.elem),)


def reference(op: Any, inputs: tuple[Array | None, ...]) -> Arrays:
    """Float32 or plain integers."""
    x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
    sums = window_sums(x, weights, op.axes(x.shape, weights.shape), op.groups)
    return (_linear.real_clamp(sums if bias is None else sums + bias, op.clamp),)


def float32(op: Any, sig: Signature, inputs: tuple[Array | None, ...]) -> Arrays:
    """The kernel's order of sums; weights as they are stored."""
    x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
    axes = op.axes(x.shape, weights.shape)
    return (_linear.float_sums(sig, (x, weights, bias), axes, op.groups, op.clamp),)


def integer(op: Any, sig: Signature, inputs: tuple[Array | None, ...]) -> Arrays:
    """Quantised: as `conv2d`; or int32 without scales."""
    if sig.outputs[0].quant is None:
        return reference(op, inputs)
    x, bias = present(inputs, 0), optional(inputs, 2)
    weights = _linear.centred_weights(present(inputs, 1), sig.input(1))
    centred = x.astype(np.int64) - sig.input(0).zero_point
    sums = window_sums(centred, weights, op.axes(x.shape, weights.shape), op.groups)
    if bias is not None:
        sums = sums + bias
    return (_linear.finish_layer(op, sig, _linear.held(sums, sig.input(0))),)
