"""LSTM in float32."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._recurrent import recurrent_offer
from tinydeploy.ops.lstm import Lstm

OPERATOR = "lstm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32 with constant bias and peepholes."""
    op = ctx.node.op
    if not isinstance(op, Lstm):
        return []
    return recurrent_offer(ctx, "lstm_f32", 2, 4, {"input_forget": int(op.input_forget)}, peephole=True)
