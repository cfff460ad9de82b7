"""Element-wise difference of int8."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._sum import sum_offers

OPERATOR = "sub"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8."""
    return sum_offers(ctx, -1)
