"""Padding of any element type."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import VIEW, LowerContext, Offer
from tinydeploy.lower._copy import pad_offer
from tinydeploy.ops.pad import Pad

OPERATOR = "pad"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where nothing is padded, else a copy."""
    op, kind = ctx.node.op, ctx.signature.outputs[0]
    if not isinstance(op, Pad):
        return []
    if all(pair == (0, 0) for pair in op.padding):
        return [VIEW]
    value = op.value if kind.elem.is_float else op.pad_integer(kind)
    return [pad_offer(ctx, op.padding, np.array([value], kind.elem.dtype).tobytes())]
