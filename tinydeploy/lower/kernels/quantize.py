"""float32 to int8, and 8-bit integers to other scales by table."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, elementwise
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._unary import table_offers

OPERATOR = "quantize"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer: from float32 to int8, or between 8-bit types."""
    sig = ctx.signature
    kind = sig.outputs[0]
    if sig.input(0).elem is Elem.F32 and ctx.node.op.half_even:
        return []
    if sig.input(0).elem is not Elem.F32 or not is_s8(kind):
        return table_offers(ctx)
    per_element = 30 if ctx.target.has_long_multiply else 700  # measured; small cores divide by call
    return [
        Offer(
            kernel="quantize_f32_s8",
            call=Call("td_quantize_f32_s8", (ParamsArg(), In(0), Out(0))),
            access=elementwise((4 * kind.size,), kind.size, kind.size),
            headers=("td_quantize.h",),
            sources=("td_quantize_f32_s8.c",),
            params=Params(
                "td_quantize_params", (("size", kind.size), ("zero_point", kind.zero_point), ("scale", kind.scale))
            ),
            cost=Cost(per_element * kind.size, per_element * kind.size * 3 // 2),
        )
    ]
