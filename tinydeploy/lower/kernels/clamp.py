"""`clamp` of 8-bit elements by table."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._unary import table_offers

OPERATOR = "clamp"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for 8-bit types."""
    return table_offers(ctx)
