"""Layer normalisation of float32 over any axes."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import (
    Argument,
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Span,
    Tab,
    Table,
)
from tinydeploy.lower._lines import Lines
from tinydeploy.ops.layer_norm import LayerNorm

OPERATOR = "layer_norm"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer; gamma and beta that are computed have the full lengths of the normalised axes."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, LayerNorm) or any(k is not None and k.elem is not Elem.F32 for k in sig.inputs):
        return []
    shape = op.shape_of(sig.input(0).shape)
    arguments: list[Argument] = []
    tables = []
    for index, name in ((1, "gamma"), (2, "beta")):
        kind, data = (sig.inputs[index] if index < len(sig.inputs) else None), ctx.constant(index)
        if kind is None:
            arguments.append(0)
        elif data is not None:
            full = np.broadcast_to(data, shape).astype(np.float32)
            tables.append(Table(name, "float", np.ascontiguousarray(full).ravel()))
            arguments.append(Tab(name))
        elif kind.size == math.prod(shape):
            arguments.append(In(index))
        else:
            return []
    lines = Lines.of(sig.input(0).shape, op.axes)
    access = lines.access(4)
    reads: list[Span | None] = [*access.reads]
    steps = len(access.writes[0].low)
    for index, kind in enumerate(sig.inputs[1:], start=1):
        computed = kind is not None and ctx.constant(index) is None
        reads.append(Span(np.zeros(steps, np.int64), np.full(steps, 4 * math.prod(shape))) if computed else None)
    size = sig.input(0).size
    function = "td_rms_norm_f32" if op.rms else "td_layer_norm_f32"
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), In(0), *arguments, Out(0))),
            access=type(access)(tuple(reads), access.writes, access.reads_first),
            headers=("td_layer_norm.h",),
            sources=("td_layer_norm_f32.c", "td_math.c"),
            tables=tuple(tables),
            params=Params("td_layer_norm_params", (*lines.fields(), ("epsilon", float(np.float32(op.epsilon))))),
            cost=Cost(30 * size + 100 * lines.rows, 45 * size + 150 * lines.rows),
        )
    ]
