"""`clamp` of 8-bit quantised elements by table, of float32 and integers in plain C."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, elementwise
from tinydeploy.lower._operand import bytes_of, is_simple, suffix
from tinydeploy.lower._unary import table_offers
from tinydeploy.ops.clamp import Clamp

OPERATOR = "clamp"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, none for wider quantised types."""
    op, source, result = ctx.node.op, ctx.signature.input(0), ctx.signature.outputs[0]
    assert isinstance(op, Clamp)
    if source.quant is not None or result.quant is not None:
        return table_offers(ctx) if source.quant is not None and result.quant is not None else []
    if not is_simple(source.elem) or source.elem is Elem.BOOL:
        return []
    sources: tuple[str, ...]
    if source.elem is Elem.F32:
        params = Params("td_unary_params", (("size", source.size), ("a", float(op.low)), ("b", float(op.high))))
        function, sources = "td_clip_f32", ("td_unary_f32.c", "td_math.c")
    else:
        # The C struct holds the bounds modulo 2**64.
        low, high = ((bound + 2**63) % 2**64 - 2**63 for bound in op.integer_bounds(source.elem))
        params = Params("td_clamp_int_params", (("size", source.size), ("low", low), ("high", high)))
        function, sources = f"td_clamp_{suffix(source.elem)}", ("td_unary_int.c",)
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), In(0), Out(0))),
            access=elementwise((bytes_of(source),), bytes_of(result), source.size),
            headers=("td_unary.h",),
            sources=sources,
            params=params,
            cost=Cost(20 * source.size, 30 * source.size),
        )
    ]
