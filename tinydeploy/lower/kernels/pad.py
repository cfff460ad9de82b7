"""Padding of any element type whose value repeats one byte."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import pad_offer
from tinydeploy.ops.pad import Pad

OPERATOR = "pad"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer: a copy."""
    op, kind = ctx.node.op, ctx.signature.outputs[0]
    if not isinstance(op, Pad):
        return []
    value = op.value if kind.elem.is_float else op.pad_integer(kind)
    pattern = set(np.array([value], kind.elem.dtype).tobytes())
    return [pad_offer(ctx, op.padding, pattern.pop())] if len(pattern) == 1 else []
