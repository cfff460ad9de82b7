"""float32 to quantised integers with halves to even, as ONNX rounds."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._int16 import unary_access
from tinydeploy.lower._operand import suffix

OPERATOR = "quantize"
_TAKEN = (Elem.S8, Elem.U8, Elem.S16, Elem.U16)


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for one scale a tensor."""
    kind = ctx.signature.outputs[0]
    if ctx.signature.input(0).elem is not Elem.F32 or not ctx.node.op.half_even:
        return []
    if kind.elem not in _TAKEN or kind.quant is None or len(kind.quant.scale) != 1:
        return []
    name = f"quantize_even_{suffix(kind.elem)}"
    per_element = 34 if ctx.target.has_long_multiply else 700
    return [
        Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), In(0), Out(0))),
            access=unary_access(ctx),
            headers=("td_quantize_even.h",),
            sources=("td_quantize_even.c",),
            params=Params(
                "td_quantize_params", (("size", kind.size), ("zero_point", kind.zero_point), ("scale", kind.scale))
            ),
            cost=Cost(per_element * kind.size, per_element * kind.size * 3 // 2),
        )
    ]
