"""Concatenation of any element type; int8 inputs of another scale go through a table."""

from __future__ import annotations

import itertools

from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import Part, blocks_offer
from tinydeploy.lower._unary import byte_table, is_byte
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.quantize import Quantize

OPERATOR = "concat"


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where there is one input, else a copy or a translation an input."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Concat):
        return []
    kind = sig.outputs[0]
    sizes = [sig.input(i).shape[op.axis] for i in range(len(sig.inputs))]
    parts = []
    for i, start in zip(range(len(sizes)), itertools.accumulate(sizes, initial=0), strict=False):
        table = None
        if sig.input(i).quant != kind.quant:
            if not (is_byte(sig.input(i)) and is_byte(kind)):
                return []
            table = byte_table(Quantize(kind.elem), sig.input(i), kind)
        if sizes[i]:
            parts.append(Part(i, 0, 0, start, sizes[i], table))
    return [blocks_offer(ctx, op.axis, parts)]
