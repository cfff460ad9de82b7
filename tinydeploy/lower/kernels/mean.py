"""Mean and sum of int8 over one or two runs of neighbouring axes."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.lower import requantise
from tinydeploy.lower._contract import (
    AccessPlan,
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Tab,
    whole,
)
from tinydeploy.lower._linear import MAX_TERMS, is_s8
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.reduce import ReduceSum

OPERATORS = ("mean", "reduce_sum")


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 where the axes, but for those of length 1, are at most two runs of neighbours."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, (Mean, ReduceSum)) or not (is_s8(sig.inputs[0]) and is_s8(sig.outputs[0])):
        return []
    shape, kind = sig.input(0).shape, sig.outputs[0]
    count = op.count(shape)
    sizes = _runs(shape, op.axes)
    if sizes is None or count > MAX_TERMS:
        return []
    requant = requantise.solve(_scaling(op, ctx, count))
    if requant is None:
        return []  # only a sum, which rounds once; double rounding always has the exact form
    instructions = sig.input(0).size * 5 + kind.size * (25 if ctx.target.has_long_multiply else 60)
    return [
        Offer(
            kernel="mean_s8" if isinstance(op, Mean) else "sum_s8",
            call=Call(
                "td_mean_s8" if requant.affine else f"td_mean_s8_{requant.form}",
                (ParamsArg(), In(0), Tab("requant"), Out(0)),
            ),
            access=AccessPlan((whole(sig.input(0).size),), (whole(kind.size),), reads_first=False),
            headers=("td_mean.h",),
            sources=("td_mean_s8.c",),
            tables=(requant.table(),),
            params=Params(
                "td_mean_params",
                (
                    *zip(("outer", "far", "middle", "count", "inner"), sizes, strict=True),
                    ("shift", requant.shift),
                    ("zero_point", kind.zero_point),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.3)),
            note=requant.note,
        )
    ]


def _runs(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape as [kept, averaged, kept, averaged, kept], neighbours of a kind merged; None if those are too few."""
    sizes = [1]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if (axis in axes) != (len(sizes) % 2 == 0):
            sizes.append(1)
        sizes[-1] *= size
    if len(sizes) % 2 == 0:
        sizes.append(1)
    if len(sizes) > 5:
        return None
    return (sizes[0], *(1, 1) * ((5 - len(sizes)) // 2), *sizes[1:])


def _scaling(op: Mean | ReduceSum, ctx: LowerContext, count: int) -> requantise.Scaling:
    """The multiplier of a mean holds the count already (`Mean.multiplier`), not normalised; a sum rounds once."""
    sig = ctx.signature
    is_mean = isinstance(op, Mean)
    multiplier, shift = op.multiplier(sig)
    return requantise.Scaling(
        bias=np.array([-sig.input(0).zero_point * count]),
        ratio=np.array([op.ratio(sig) if isinstance(op, ReduceSum) else math.ldexp(multiplier, shift - 31)]),
        low=np.array([-128 * count]),
        high=np.array([127 * count]),
        zero_point=sig.outputs[0].zero_point,
        act_min=-128,
        act_max=127,
        rounding="double" if is_mean else "once",
        fixed=(np.array([multiplier]), np.array([shift])) if is_mean else None,
    )
