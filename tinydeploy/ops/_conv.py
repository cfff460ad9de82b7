"""The rules both convolutions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinydeploy.ops._linear import ACTIVATIONS
from tinydeploy.ops._op import Rule, Types, count_rule, optional, present
from tinydeploy.ops._windows import geometry_holds, out_plane


def ranks(_: Any, inputs: Types) -> bool:
    """Input and weights are there and of rank 4."""
    return len(inputs) >= 2 and all(kind is not None and kind.rank == 4 for kind in inputs[:2])


def _geometry(op: Any, inputs: Types) -> bool:
    if not ranks(op, inputs):
        return False
    kernel = present(inputs, 1).shape[1:3]
    if not geometry_holds(kernel, op.stride, op.dilation, op.padding):
        return False
    return min(out_plane(present(inputs, 0).shape, kernel, op.stride, op.dilation, op.padding)) >= 1


def rules(layout: str, out_axis: int, channels: str, channels_hold: Callable[[Any, Types], bool]) -> tuple[Rule, ...]:
    """Rules of a convolution whose weights have ``layout`` and output channels on ``out_axis``.

    ``channels``: what must be true of the channel counts, which ``channels_hold`` checks for ranks of 4.
    """

    def bias(op: Any, inputs: Types) -> bool:
        kind = optional(inputs, 2)
        return kind is None or (ranks(op, inputs) and kind.shape == (present(inputs, 1).shape[out_axis],))

    return (
        count_rule(2, 3),
        Rule(f"input is NHWC and weights are {layout}, both of rank 4", ranks),
        Rule(channels, lambda op, inputs: ranks(op, inputs) and channels_hold(op, inputs)),
        Rule("bias has one value an output channel", bias),
        Rule("stride, dilation and kernel are at least 1, padding at least 0, and the kernel fits once", _geometry),
        ACTIVATIONS,
    )
