"""Functions of one 8-bit element: a table of all 256 results, taken from the integer twin."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.ir import Array, Elem, Type
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Tab, Table, elementwise
from tinydeploy.ops._op import Op, Signature


def is_byte(kind: Type) -> bool:
    """True for 8-bit integers."""
    return kind.elem in (Elem.S8, Elem.U8)


def byte_table(op: Op, source: Type, result: Type) -> Array:
    """``op`` of every input, uint8, in the order of the input's bytes as unsigned numbers."""
    every = np.arange(256, dtype=np.uint8)
    kinds = tuple(dataclasses.replace(kind, shape=(256,)) for kind in (source, result))
    values = op.integer(Signature((kinds[0],), (kinds[1],)), every.view(source.elem.dtype))[0]
    return np.asarray(values).astype(result.elem.dtype).view(np.uint8)


def table_offers(ctx: LowerContext) -> list[Offer]:
    """The offer of a unary operator between 8-bit types."""
    sig = ctx.signature
    source, result = sig.input(0), sig.outputs[0]
    if not (is_byte(source) and is_byte(result)):
        return []
    size = result.size
    return [
        Offer(
            kernel="lut_8",
            call=Call("td_lut_8", (Tab("table"), In(0), size, Out(0))),
            access=elementwise((size,), size, min(size, 4096)),
            headers=("td_lut.h",),
            sources=("td_lut_8.c",),
            tables=(Table("table", "uint8_t", byte_table(ctx.node.op, source, result)),),
            cost=Cost(4 * size + 10, 7 * size + 20),
        )
    ]
