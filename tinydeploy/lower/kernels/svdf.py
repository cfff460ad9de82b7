"""SVDF in float32 and int8."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Elem
from tinydeploy.lower._contract import (
    AccessPlan,
    Argument,
    Call,
    Cost,
    In,
    LowerContext,
    Offer,
    Out,
    Params,
    ParamsArg,
    Span,
    Tab,
    Table,
    whole,
)
from tinydeploy.lower._linear import MAX_TERMS
from tinydeploy.lower._operands import operands
from tinydeploy.numerics.requantise import wrap_int32
from tinydeploy.ops.svdf import Svdf

OPERATOR = "svdf"
_STEPS = 8192  # steps of an access plan at most


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32, or for int8 where the weights are constants."""
    op = ctx.node.op
    if not isinstance(op, Svdf):
        return []
    if ctx.signature.input(0).elem is Elem.F32:
        return [_float_offer(ctx, op)]
    constant = all(ctx.constant(index) is not None for index in (1, 2))
    with_bias = len(ctx.node.inputs) > 3 and ctx.node.inputs[3] is not None
    fits = ctx.signature.input(0).shape[1] <= MAX_TERMS
    return [_integer_offer(ctx, op)] if constant and fits and not (with_bias and ctx.constant(3) is None) else []


def _sizes(ctx: LowerContext, op: Svdf) -> tuple[tuple[str, int], ...]:
    (batch, inputs), (filters, memory) = ctx.signature.input(0).shape, ctx.signature.input(2).shape
    names = ("batch", "inputs", "units", "rank", "memory")
    return tuple(zip(names, (batch, inputs, filters // op.rank, op.rank, memory), strict=True))


def _cost(ctx: LowerContext, op: Svdf) -> Cost:
    macs = op.macs(ctx.signature)
    return Cost(6 * macs, 9 * macs)


def _float_offer(ctx: LowerContext, op: Svdf) -> Offer:
    arguments, tables = operands(ctx, ("features", "times", "bias", "state"), first=1)
    limits = zip(("low", "high"), (float(np.float32(limit)) for limit in op.clamp), strict=True)
    return Offer(
        kernel="svdf_f32",
        call=Call("td_svdf_f32", (ParamsArg(), In(0), *arguments, Out(0), Out(1))),
        access=_access(ctx, op),
        headers=("td_svdf.h",),
        sources=("td_svdf_f32.c",),
        tables=tables,
        params=Params("td_svdf_f32_params", (*_sizes(ctx, op), *limits)),
        cost=_cost(ctx, op),
    )


def _integer_offer(ctx: LowerContext, op: Svdf) -> Offer:
    sig, sizes = ctx.signature, _sizes(ctx, op)
    features, times, bias = (ctx.constant(index) for index in (1, 2, 3))
    assert features is not None
    assert times is not None
    units = dict(sizes)["units"]
    centre = wrap_int32(-sig.input(0).zero_point * features.astype(np.int64).sum(axis=1))
    to_state, to_output = op.multipliers(sig)
    fields = (
        *(("state_multiplier", to_state[0]), ("state_shift", to_state[1])),
        *(("multiplier", to_output[0]), ("shift", to_output[1]), ("zero_point", sig.outputs[0].zero_point)),
    )
    (state,), starts = operands(ctx, ("state",), first=4)
    names = ("features", "times", "bias", "centre")
    arguments: tuple[Argument, ...] = (ParamsArg(), In(0), *(Tab(name) for name in names), state, Out(0), Out(1))
    return Offer(
        kernel="svdf_s8",
        call=Call("td_svdf_s8", arguments),
        access=_access(ctx, op),
        headers=("td_svdf.h",),
        sources=("td_svdf_s8.c",),
        tables=(
            Table("features", "int8_t", features.astype(np.int8).ravel()),
            Table("times", "int16_t", times.astype(np.int16).ravel()),
            Table("bias", "int32_t", np.zeros(units, np.int32) if bias is None else bias.astype(np.int32).ravel()),
            Table("centre", "int32_t", centre.astype(np.int32)),
            *starts,
        ),
        params=Params("td_svdf_s8_params", (*sizes, *fields)),
        cost=_cost(ctx, op),
    )


def _access(ctx: LowerContext, op: Svdf) -> AccessPlan:
    """Element after element of the state, each read one place further than it is written; x before a filter's first."""
    sig = ctx.signature
    (batch, inputs), (filters, memory) = sig.input(0).shape, sig.input(2).shape
    place = np.arange(batch * filters * memory, dtype=np.int64)
    line, m = np.divmod(place, memory)
    sample, unit = line // filters, line // op.rank

    def span(first: np.ndarray, count: np.ndarray | int, width: int) -> Span:
        return Span(first * width, (first + count) * width).hulls(every)

    every = -(-len(place) // _STEPS)
    width, of_state = sig.input(0).elem.dtype.itemsize, sig.input(4).elem.dtype.itemsize
    reads: list[Span | None] = [span(sample * inputs, np.where(m == 0, inputs, 0), width)]
    for index, kind in enumerate(sig.inputs[1:4], start=1):
        fixed = kind is None or ctx.constant(index) is not None
        reads.append(None if fixed or kind is None else whole(kind.nbytes, len(place)).hulls(every))
    reads.append(span(place + 1, np.where(m + 1 < memory, 1, 0), of_state) if ctx.constant(4) is None else None)
    ends = (m == memory - 1) & ((line + 1) % op.rank == 0)
    writes = (span(unit, np.where(ends, 1, 0), width), span(place, 1, of_state))
    return AccessPlan(tuple(reads), writes, reads_first=every == 1)
