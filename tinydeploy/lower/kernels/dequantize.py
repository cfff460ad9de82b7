"""int8 to float32."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, elementwise
from tinydeploy.lower._linear import is_s8

OPERATOR = "dequantize"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with one scale."""
    kind = ctx.signature.input(0)
    if not is_s8(kind) or ctx.signature.outputs[0].elem is not Elem.F32:
        return []
    per_element = 8 if ctx.target.has_long_multiply else 170  # measured
    return [
        Offer(
            kernel="dequantize_s8_f32",
            call=Call("td_dequantize_s8_f32", (ParamsArg(), In(0), Out(0))),
            access=elementwise((kind.size,), 4 * kind.size, kind.size),
            headers=("td_quantize.h",),
            sources=("td_dequantize_s8_f32.c",),
            params=Params(
                "td_quantize_params", (("size", kind.size), ("zero_point", kind.zero_point), ("scale", kind.scale))
            ),
            cost=Cost(per_element * kind.size, per_element * kind.size * 3 // 2),
        )
    ]
