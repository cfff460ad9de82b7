"""Operators that work along one axis: running sums, places of extremes, the best k elements."""

from __future__ import annotations

import math

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._operand import apart, is_simple, operand, suffix
from tinydeploy.ops.arg_reduce import ArgReduction
from tinydeploy.ops.cumsum import Cumsum
from tinydeploy.ops.top_k import TopK

OPERATORS = ("cumsum", "arg_max", "arg_min", "top_k")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer in every plain element type; orders of quantised integers too."""
    op, x = ctx.node.op, ctx.signature.input(0)
    if not is_simple(x.elem):
        return []
    fields: tuple[tuple[str, int], ...]
    outputs: tuple[Out, ...] = (Out(0),)
    if isinstance(op, Cumsum):
        word = "cumprod" if op.product else "cumsum"
        function = f"td_{word}_{'f32' if x.elem is Elem.F32 else x.elem.bits}"
        fields, header, instructions = (("exclusive", int(op.exclusive)), ("reverse", int(op.reverse))), "cumsum", 12
        struct = "td_cumsum_params"
    elif isinstance(op, ArgReduction):
        function, header, instructions, struct = f"td_{op.name}_{suffix(x.elem)}", "arg", 9, "td_arg_params"
        fields = (("last", int(op.last)), ("wide", int(op.elem is Elem.S64)))
    elif isinstance(op, TopK):
        function = f"td_top_{'largest' if op.largest else 'smallest'}_{suffix(x.elem)}"
        fields, header, instructions = (("k", op.k), ("wide", int(op.elem is Elem.S64))), "top_k", 10 + 8 * op.k
        struct, outputs = "td_top_k_params", (Out(0), Out(1))
    else:
        return []
    shape, axis = x.shape, op.axis
    sizes = (("outer", math.prod(shape[:axis])), ("count", shape[axis]), ("inner", math.prod(shape[axis + 1 :])))
    data = operand(ctx, 0, "data")
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), data.argument, *outputs)),
            access=apart(ctx, data),
            headers=(f"td_{header}.h",),
            sources=(f"td_{header}.c",),
            tables=data.tables,
            params=Params(struct, (*sizes, *fields)),
            cost=Cost(instructions * x.size, int(1.5 * instructions * x.size)),
        )
    ]
