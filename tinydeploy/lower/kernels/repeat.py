"""Tile and broadcast_to of any element type: copies that read the same elements again."""

from __future__ import annotations

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import OUTER_AXES, merged, nd_offer
from tinydeploy.lower._places import dense_steps
from tinydeploy.ops.broadcast_to import BroadcastTo
from tinydeploy.ops.tile import Tile

OPERATORS = ("tile", "broadcast_to")


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where nothing is repeated, else a copy; none where tile repeats too many axes (importers split such)."""
    op, shape = ctx.node.op, ctx.signature.input(0).shape
    steps = dense_steps(shape)
    axes: list[tuple[int, int]] = []
    if isinstance(op, Tile):
        for size, step, count in zip(shape, steps, op.repeats, strict=True):
            axes += [(count, 0), (size, step)]
    elif isinstance(op, BroadcastTo):
        fresh = len(op.shape) - len(shape)
        axes = [(size, 0) for size in op.shape[:fresh]]
        for size, step, wanted in zip(shape, steps, op.shape[fresh:], strict=True):
            axes.append((wanted, step if size == wanted else 0))
    else:
        return []
    return [nd_offer(ctx, axes, 0)] if len(merged(axes)) <= OUTER_AXES + 1 else []
