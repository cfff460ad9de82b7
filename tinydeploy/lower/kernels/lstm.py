"""LSTM in float32."""

from __future__ import annotations

import numpy as np

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._recurrent import recurrent_offer
from tinydeploy.ops.lstm import Lstm

OPERATOR = "lstm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32 with constant bias and peepholes."""
    op = ctx.node.op
    if not isinstance(op, Lstm):
        return []
    extra = {"input_forget": int(op.input_forget), "cell_clip": float(np.float32(op.cell_clip))}
    return recurrent_offer(ctx, "lstm_f32", 2, 4, extra, peephole=True)
