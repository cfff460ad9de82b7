"""Matrix times vector without SIMD: three multiplications for four outputs, eight outputs together."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._linear import Linear, interleave, linear, vector_access
from tinydeploy.lower.requantise import Ints
from tinydeploy.ops.fully_connected import FullyConnected

OPERATOR = "fully_connected"
_FIELD = 2**23  # bound of a sum


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with constant weights where the affine form is proved and sums stay in their field."""
    if not isinstance(ctx.node.op, FullyConnected):
        return []
    lin = linear(ctx, (0, 1), rounding="once")
    if lin is None or not lin.requant.affine or not lin.scaling.sums_below(_FIELD):
        return []
    return [_offer(ctx, lin)]


def octet_words(weights: Ints) -> Array:
    """[outputs, inputs] to words [ceil(outputs / 8)][inputs][2]: four outputs as bytes w + 128, the first lowest."""
    biased = (interleave(weights, 1, 8).astype(np.int64) + 128).astype(np.uint8)
    return biased.view("<u4")


def _offer(ctx: LowerContext, lin: Linear) -> Offer:
    outputs, inputs = lin.weights.shape
    vectors = ctx.signature.outputs[0].size // outputs
    blocks = vectors * -(-outputs // 8)
    if ctx.target.has_long_multiply:
        cost = Cost(int(blocks * (12.3 * inputs + 240)), int(blocks * (22 * inputs + 350)))
    else:
        cost = Cost(int(blocks * (21.5 * inputs + 500)), int(blocks * (25 * inputs + 600)))
    return Offer(
        kernel="fully_connected_octets_w8a8",
        call=Call(
            "td_fully_connected_octets_w8a8",
            (ParamsArg(), In(0), Tab("weights"), Tab("requant"), Out(0)),
            calls=vectors,
            in_row_bytes=((0, inputs),),
            out_row_bytes=(outputs,),
        ),
        access=vector_access(ctx, outputs, inputs),
        headers=("td_fully_connected_octets.h",),
        sources=("td_fully_connected_octets_w8a8.c", "td_octets.c"),
        tables=(Table("weights", "uint32_t", octet_words(lin.weights)), lin.requant.table()),
        params=Params(
            "td_fully_connected_octets_params",
            (("inputs", inputs), ("outputs", outputs), *lin.fields(zero_point=False)),
        ),
        cost=cost,
        note=lin.requant.note,
    )
