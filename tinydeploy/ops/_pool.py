"""What both poolings share."""

from __future__ import annotations

from typing import Any

from tinydeploy.ir.types import Type
from tinydeploy.ops._op import Rule, Types, count_rule, optional, present
from tinydeploy.ops._windows import Padding, Pair, geometry_holds, out_plane


def _rank(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and bool(x.rank == 4)


def _geometry(op: Any, inputs: Types) -> bool:
    dilation = getattr(op, "dilation", (1, 1))
    if not _rank(op, inputs) or not geometry_holds(op.kernel, op.stride, dilation, op.padding):
        return False
    return min(out_plane(present(inputs, 0).shape, op.kernel, op.stride, dilation, op.padding)) >= 1


def _not_only_padding(op: Any, inputs: Types) -> bool:
    """Every window touches the input: padding is smaller than the (dilated) kernel on each side."""
    dilation = getattr(op, "dilation", (1, 1))
    spans = [(k - 1) * d + 1 for k, d in zip(op.kernel, dilation, strict=True)]
    top, bottom, left, right = op.padding
    return bool(max(top, bottom) < spans[0] and max(left, right) < spans[1])


RULES: tuple[Rule, ...] = (
    count_rule(1),
    Rule("input is NHWC, of rank 4", _rank),
    Rule("stride, dilation and kernel are at least 1, padding at least 0, and the kernel fits once", _geometry),
    Rule("padding is smaller than the kernel", _not_only_padding),
)


def infer(inputs: Types, kernel: Pair, stride: Pair, dilation: Pair, padding: Padding) -> tuple[Type, ...]:
    """[N, OH, OW, C] with the input's element type."""
    x = present(inputs, 0)
    return (Type((x.shape[0], *out_plane(x.shape, kernel, stride, dilation, padding), x.shape[3]), x.elem),)
