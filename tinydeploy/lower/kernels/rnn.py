"""Simple recurrent layers in float32."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._recurrent import recurrent_offer
from tinydeploy.ops.rnn import Rnn

OPERATOR = "rnn"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32 with a constant bias."""
    return recurrent_offer(ctx, "rnn_f32", 1, 1, {}) if isinstance(ctx.node.op, Rnn) else []
