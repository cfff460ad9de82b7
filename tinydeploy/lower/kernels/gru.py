"""GRU in float32."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._recurrent import recurrent_offer
from tinydeploy.ops.gru import Gru

OPERATOR = "gru"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32 with a constant bias."""
    op = ctx.node.op
    if not isinstance(op, Gru):
        return []
    return recurrent_offer(ctx, "gru_f32", 1, 3, {"linear_before_reset": int(op.linear_before_reset)})
