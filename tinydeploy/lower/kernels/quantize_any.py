"""Between float32 and quantised integers of other types than int8."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._int16 import unary_access
from tinydeploy.lower._operand import suffix

OPERATORS = ("quantize", "dequantize")
_TAKEN = (Elem.U8, Elem.S16, Elem.U16, Elem.S32)


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for one scale a tensor; int32 without a zero point."""
    source, result = ctx.signature.input(0), ctx.signature.outputs[0]
    if source.elem is Elem.F32 and ctx.node.op.name == "quantize" and not ctx.node.op.half_even:
        kind, name = result, f"quantize_f32_{suffix(result.elem)}"
        per_element = 32 if ctx.target.has_long_multiply else 700
    elif result.elem is Elem.F32 and ctx.node.op.name == "dequantize":
        kind, name = source, f"dequantize_{suffix(source.elem)}_f32"
        per_element = 8 if ctx.target.has_long_multiply else 170
    else:
        return []
    if kind.elem not in _TAKEN or kind.quant is None or len(kind.quant.scale) != 1:
        return []
    if kind.elem is Elem.S32 and kind.zero_point != 0:
        return []
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), In(0), Out(0))),
            access=unary_access(ctx),
            headers=("td_quantize_any.h",),
            sources=("td_quantize_any.c",),
            params=Params(
                "td_quantize_params", (("size", kind.size), ("zero_point", kind.zero_point), ("scale", kind.scale))
            ),
            cost=Cost(per_element * kind.size, per_element * kind.size * 3 // 2),
        )
    ]
