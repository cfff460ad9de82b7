"""Concatenation of any element type; 8-bit inputs of another scale go through a table, int16 ones are rescaled."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from tinydeploy.ir import Array, Type
from tinydeploy.lower._contract import LowerContext, Offer
from tinydeploy.lower._copy import Part, blocks_offer
from tinydeploy.lower._int16 import short
from tinydeploy.lower._unary import byte_table, is_byte
from tinydeploy.numerics.requantise import quantise_multiplier
from tinydeploy.ops.concat import Concat
from tinydeploy.ops.quantize import Quantize

OPERATOR = "concat"
_RESCALE = ("size", "in_zero_point", "multiplier", "shift", "zero_point", "act_min", "act_max")


def offers(ctx: LowerContext) -> list[Offer]:
    """A view where there is one input, else a copy or a translation an input."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, Concat):
        return []
    kind = sig.outputs[0]
    sizes = [sig.input(i).shape[op.axis] for i in range(len(sig.inputs))]
    parts = []
    for i, start in zip(range(len(sizes)), itertools.accumulate(sizes, initial=0), strict=False):
        part = Part(i, 0, 0, start, sizes[i])
        if sig.input(i).quant != kind.quant:
            if is_byte(sig.input(i)) and is_byte(kind):
                part = dataclasses.replace(part, table=byte_table(Quantize(kind.elem), sig.input(i), kind))
            elif short(sig.input(i)) == short(kind) == "s16":
                part = dataclasses.replace(part, rescale=_rescale(sig.input(i), kind))
            else:
                return []
        if sizes[i]:
            parts.append(part)
    return [blocks_offer(ctx, op.axis, parts)]


def _rescale(source: Type, kind: Type) -> Array:
    """A record of td_rescale_params, but for its size."""
    multiplier, shift = quantise_multiplier(source.scale / kind.scale)
    values = (0, source.zero_point, multiplier, shift, kind.zero_point, *kind.elem.limits)
    return np.array([values], np.dtype([(name, "<i4") for name in _RESCALE]))
