"""Plain C matrix times vector for every core: four outputs at a time."""

from __future__ import annotations

from tinydeploy.lower._contract import (
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Tab,
    Table,
)
from tinydeploy.lower._linear import Linear, interleave, linear, vector_access
from tinydeploy.ops.fully_connected import FullyConnected

OPERATOR = "fully_connected"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights."""
    if not isinstance(ctx.node.op, FullyConnected):
        return []
    lin = linear(ctx, (0, 1), rounding="once")
    return [] if lin is None else [_offer(ctx, lin)]


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    outputs, inputs = lin.weights.shape
    vectors = ctx.signature.outputs[0].size // outputs
    per_output = 20 if ctx.target.has_long_multiply else 55
    instructions = int(vectors * outputs * (inputs * (2.6 if ctx.target.has_long_multiply else 4.5) + per_output))
    return Offer(
        kernel="fully_connected_w8a8",
        call=Call(
            "td_fully_connected_w8a8" if lin.requant.affine else "td_fully_connected_w8a8_wide",
            (ParamsArg(), In(0), Tab("weights"), Tab("requant"), Out(0)),
            calls=vectors,
            in_row_bytes=((0, inputs),),
            out_row_bytes=(outputs,),
        ),
        access=vector_access(ctx, outputs, inputs),
        headers=("td_fully_connected.h",),
        sources=("td_fully_connected_w8a8.c",),
        tables=(Table("weights", "int8_t", interleave(lin.weights, 1, 4)), lin.requant.table()),
        params=Params(
            "td_fully_connected_params", (("inputs", inputs), ("outputs", outputs), *lin.fields(zero_point=False))
        ),
        cost=Cost(instructions, int(instructions * 1.3)),
        note=lin.requant.note,
    )
