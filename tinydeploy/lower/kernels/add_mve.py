"""Element-wise sum of int8 on cores with the vector extension."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower.kernels._wide_sum import wide_sum_offers

OPERATOR = "add"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for two dense operands."""
    return wide_sum_offers(ctx, 1, "mve") if ctx.target.cpu_class == "mve" else []
