"""Products of two computed matrices in float32, int32, int8 and int16."""

from __future__ import annotations

import math

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
)
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._weighted import has_float_unit
from tinydeploy.lower._weighted16 import is_s16
from tinydeploy.numerics.requantise import quantise_multiplier
from tinydeploy.numerics.wide import MAX_ACCUMULATOR, reduce_multipliers
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.batch_matmul import BatchMatmul

OPERATOR = "batch_matmul"
_LEAD = 4  # TD_MATMUL_LEAD


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for float32, int32 without scales, int8 and int16."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, BatchMatmul):
        return []
    kinds = (sig.input(0), sig.input(1), sig.outputs[0])
    elems = {kind.elem for kind in kinds}
    if all(is_s8(kind) for kind in kinds):
        return [_offer(ctx, "s8", Params("td_batch_matmul_s8_params", (*_shape(ctx, "shape."), *_scaling(ctx))))]
    if all(is_s16(kind) for kind in kinds):
        fields = _wide_scaling(ctx)
        return [] if fields is None else [_offer(ctx, "s16", Params("td_batch_matmul_s16_params", fields))]
    if any(kind.quant is not None for kind in kinds):
        return []
    if elems == {Elem.F32}:
        limits = (("low", float(op.clamp[0])), ("high", float(op.clamp[1])))
        return [_offer(ctx, "f32", Params("td_batch_matmul_f32_params", (*_shape(ctx, "shape."), *limits)))]
    return [_offer(ctx, "s32", Params("td_matmul_shape", _shape(ctx, "")))] if elems == {Elem.S32} else []


def _scaling(ctx: LowerContext) -> tuple[tuple[str, int], ...]:
    a, b, y = ctx.signature.input(0), ctx.signature.input(1), ctx.signature.outputs[0]
    multiplier, shift = quantise_multiplier(a.scale * b.scale / y.scale)
    low, high = clamp_limits(ctx.node.op.clamp, y)
    return (
        ("a_offset", -a.zero_point),
        ("b_offset", -b.zero_point),
        ("multiplier", multiplier),
        ("shift", shift),
        ("zero_point", y.zero_point),
        ("act_min", low),
        ("act_max", high),
    )


def _wide_scaling(ctx: LowerContext) -> tuple[tuple[str, int], ...] | None:
    """All params of int16; None where sums may reach 2**47 or the ratio is out of range."""
    a, b, y = ctx.signature.input(0), ctx.signature.input(1), ctx.signature.outputs[0]
    m, right = (int(part) for part in reduce_multipliers(*quantise_multiplier(a.scale * b.scale / y.scale)))
    if right < 1 or a.shape[-1] * 2**32 > MAX_ACCUMULATOR:
        return None
    low, high = clamp_limits(ctx.node.op.clamp, y)
    return (
        *_shape(ctx, "shape."),
        ("a_offset", -a.zero_point),
        ("b_offset", -b.zero_point),
        ("requant.m", m),
        ("requant.shift", right),
        ("zero_point", y.zero_point),
        ("act_min", low),
        ("act_max", high),
    )


def _steps(shape: tuple[int, ...], rank: int) -> list[int]:
    """Elements between neighbours along each leading axis, 0 where the axis is repeated."""
    full = (1,) * (rank + 2 - len(shape)) + shape
    return [0 if full[i] == 1 else math.prod(full[i + 1 :]) for i in range(rank)]


def _lead(ctx: LowerContext) -> tuple[tuple[int, ...], list[int], list[int]]:
    """Sizes of the leading axes, and the steps of a and b along them."""
    sig = ctx.signature
    lead = sig.outputs[0].shape[:-2]
    return lead, _steps(sig.input(0).shape, len(lead)), _steps(sig.input(1).shape, len(lead))


def _shape(ctx: LowerContext, prefix: str) -> tuple[tuple[str, int], ...]:
    sig = ctx.signature
    lead, a, b = _lead(ctx)
    rest = _LEAD - len(lead)
    rows, terms = sig.input(0).shape[-2:]
    fields = [("rows", rows), ("terms", terms), ("columns", sig.input(1).shape[-1])]
    for name, values, filler in (("size", list(lead), 1), ("a_step", a, 0), ("b_step", b, 0)):
        fields += [(f"{name}[{i}]", value) for i, value in enumerate([filler] * rest + values)]
    return tuple((prefix + name, value) for name, value in fields)


def _access(ctx: LowerContext) -> AccessPlan:
    """Row after row of the result, from a row of a and a whole matrix b."""
    sig = ctx.signature
    lead, a_steps, b_steps = _lead(ctx)
    rows, terms = sig.input(0).shape[-2:]
    columns = sig.input(1).shape[-1]
    width = sig.outputs[0].elem.dtype.itemsize
    starts = [np.zeros(1, np.int64), np.zeros(1, np.int64)]
    for size, *steps in zip(lead, a_steps, b_steps, strict=True):
        starts = [(s[:, None] + np.arange(size) * step).ravel() for s, step in zip(starts, steps, strict=True)]
    a = (starts[0][:, None] + np.arange(rows) * terms).ravel() * width
    b = starts[1].repeat(rows) * width
    y = np.arange(len(a), dtype=np.int64) * columns * width
    spans = (Span(a, a + terms * width), Span(b, b + terms * columns * width))
    reads = tuple(None if ctx.constant(i) is not None else span for i, span in enumerate(spans))
    return AccessPlan(reads, (Span(y, y + columns * width),), reads_first=False)


def _offer(ctx: LowerContext, suffix: str, params: Params) -> Offer:
    sig = ctx.signature
    arguments: list[Argument] = []
    tables = []
    for index, name in enumerate("ab"):
        data = ctx.constant(index)
        arguments.append(In(index) if data is None else Tab(name))
        if data is not None:
            elem = sig.input(index).elem
            tables.append(Table(name, elem.c_type, data.astype(elem.dtype).ravel()))
    per_mac = 90.0 if suffix == "f32" and not has_float_unit(ctx) else 4.0
    instructions = int(ctx.node.op.macs(sig) * per_mac) + 25 * sig.outputs[0].size
    return Offer(
        kernel=f"batch_matmul_{suffix}",
        call=Call(f"td_batch_matmul_{suffix}", (ParamsArg(), *arguments, Out(0))),
        access=_access(ctx),
        headers=("td_batch_matmul.h",),
        sources=(f"td_batch_matmul_{suffix}.c",),
        tables=tuple(tables),
        params=params,
        cost=Cost(instructions, int(instructions * 1.4)),
    )
