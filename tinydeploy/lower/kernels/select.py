"""One of two values for each element, in any element type."""

from __future__ import annotations

from tinydeploy.ir import Elem
from tinydeploy.lower._broadcast import Walk
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._operand import is_simple, operand

OPERATOR = "select"


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, none for element types that C has not, or where quantisations differ."""
    kinds = [ctx.signature.input(i) for i in range(3)]
    result = ctx.signature.outputs[0]
    if not is_simple(result.elem) or len({(k.elem, k.quant) for k in (*kinds[1:], result)}) != 1:
        return []
    operands = [operand(ctx, i, name) for i, name in enumerate(("condition", "a", "b"))]
    walk = Walk.of(*(kind.shape for kind in kinds), result.shape)
    width = result.elem.dtype.itemsize
    assert kinds[0].elem is Elem.BOOL
    return [
        Offer(
            kernel=f"select_{8 * width}",
            call=Call(
                f"td_select_{8 * width}",
                (ParamsArg(), *(o.argument for o in operands), Out(0)),
                out_row_bytes=(0,),
            ),
            access=walk.access(tuple(o.span is None for o in operands), (1, width, width, width)),
            headers=("td_select.h",),
            sources=("td_select.c",),
            tables=tuple(table for o in operands for table in o.tables),
            params=Params("td_select_params", (*walk.fields(), *walk.third())),
            cost=Cost(14 * result.size, 20 * result.size),
        )
    ]
