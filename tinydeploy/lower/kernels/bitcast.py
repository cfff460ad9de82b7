"""The same bits as another element type: the same memory."""

from __future__ import annotations

from tinydeploy.lower._contract import VIEW, LowerContext, Offer

OPERATOR = "bitcast"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view."""
    return [VIEW]
