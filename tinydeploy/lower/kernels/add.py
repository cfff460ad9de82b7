"""Element-wise sum of int8."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._sum import sum_offers

OPERATOR = "add"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8."""
    return sum_offers(ctx, 1)
