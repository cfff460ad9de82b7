"""Reductions of plain integers, bool and float32, and extremes of quantised integers. `mean` has the int8 sums."""

from __future__ import annotations

from tinydeploy.ir import Elem, Type
from tinydeploy.lower._contract import VIEW, Call, Cost, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._operand import apart, is_simple, operand, suffix
from tinydeploy.lower._places import dense_steps
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.reduce import Reduction

OPERATORS = ("mean", "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all")
_AXES = 3  # TD_REDUCE_AXES
_EXTREMES = {"reduce_max": "max", "reduce_any": "max", "reduce_min": "min", "reduce_all": "min"}
_WRAPPING = {"reduce_sum": "sum", "reduce_prod": "prod"}


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer; a view where one element is reduced. None for sums and means of quantised numbers."""
    op, x = ctx.node.op, ctx.signature.input(0)
    if not isinstance(op, Reduction) or not is_simple(x.elem):
        return []
    if op.name not in _EXTREMES and (x.quant is not None or ctx.signature.outputs[0].quant is not None):
        return []
    if op.count(x.shape) == 1 and ctx.constant(0) is None:
        return [VIEW]
    function = f"td_reduce_{_name(op, x)}"
    data, instructions = operand(ctx, 0, "data"), 8 * x.size + 20 * ctx.signature.outputs[0].size
    return [
        Offer(
            kernel=function[3:],
            call=Call(function, (ParamsArg(), data.argument, Out(0))),
            access=apart(ctx, data),
            headers=("td_reduce.h",),
            sources=("td_reduce.c",),
            tables=data.tables,
            params=Params("td_reduce", walk_fields(op, x.shape)),
            cost=Cost(instructions, int(1.5 * instructions)),
        )
    ]


def _name(op: Reduction, x: Type) -> str:
    """Of the C function, behind td_reduce_."""
    if op.name in _EXTREMES:
        return f"{_EXTREMES[op.name]}_{suffix(x.elem)}"
    if isinstance(op, Mean):
        return f"mean_{suffix(x.elem)}"
    return f"{_WRAPPING[op.name]}_{'f32' if x.elem is Elem.F32 else x.elem.bits}"


def walk_fields(op: Reduction, shape: tuple[int, ...], prefix: str = "") -> tuple[tuple[str, int], ...]:
    """The C struct td_reduce as params fields: the axes of each kind, neighbours merged.

    Of six axes no kind has more than three runs.
    """
    runs: list[list[int]] = []
    for axis, (size, step) in enumerate(zip(shape, dense_steps(shape), strict=True)):
        if size == 1:
            continue
        kind = int(axis in op.axes)
        if runs and runs[-1][0] == kind:
            runs[-1][1:] = [runs[-1][1] * size, step]
        else:
            runs.append([kind, size, step])
    fields: list[tuple[str, int]] = []
    for kind, names in enumerate((("kept", "kept_step"), ("size", "step"))):
        chosen = [(size, step) for which, size, step in runs if which == kind]
        chosen = [(1, 0)] * (_AXES - len(chosen)) + chosen
        fields += [(f"{prefix}{names[0]}[{i}]", size) for i, (size, _) in enumerate(chosen)]
        fields += [(f"{prefix}{names[1]}[{i}]", step) for i, (_, step) in enumerate(chosen)]
    return (*fields, (f"{prefix}count", op.count(shape)))
