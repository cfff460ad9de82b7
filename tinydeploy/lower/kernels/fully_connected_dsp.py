"""Matrix times vector on cores with the 32-bit SIMD."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._linear import linear
from tinydeploy.lower.kernels._dsp_dense import dense_offers
from tinydeploy.ops.fully_connected import FullyConnected

OPERATOR = "fully_connected"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights."""
    if ctx.target.cpu_class not in ("dsp", "mve") or not isinstance(ctx.node.op, FullyConnected):
        return []
    lin = linear(ctx, (0, 1), rounding="once")
    return [] if lin is None else dense_offers(ctx, lin, ctx.signature.outputs[0].size // len(lin.weights))
