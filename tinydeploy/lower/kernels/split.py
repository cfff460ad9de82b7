"""Split of any element type."""

from __future__ import annotations

import itertools

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import Part, blocks_offer
from tinydeploy.ops.split import Split

OPERATOR = "split"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where there is one piece, else a copy a piece."""
    op = ctx.node.op
    if not isinstance(op, Split):
        return []
    starts = itertools.accumulate(op.sizes, initial=0)
    parts = [Part(0, i, start, 0, size) for i, (start, size) in enumerate(zip(starts, op.sizes, strict=False)) if size]
    return [blocks_offer(ctx, op.axis, parts)]
