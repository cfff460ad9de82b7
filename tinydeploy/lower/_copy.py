"""Operators that only move elements: how they walk, and which bytes they touch when."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.ir import Array, Type
from tinydeploy.lower._contract import (
    AccessPlan,
    Argument,
    Bytes,
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

AXES = 6  # TD_AXES
_STEPS = 4096  # steps of an access plan at most
_FAR = 2**62
BLOCKS = np.dtype([(n, "<i4") for n in ("count", "size", "in_step", "out_step", "in_offset", "out_offset")])


def width_of(kind: Type) -> int:
    """Bytes of an element."""
    return kind.elem.dtype.itemsize


def _cost(size: int, runs: int) -> Cost:
    return Cost(4 * size + 30 * runs, 7 * size + 45 * runs)


def _thin(low: Bytes, high: Bytes) -> Span:
    """The same spans in fewer steps: neighbours become their hull; empty ones add nothing."""
    every = -(-len(low) // _STEPS)
    starts = np.arange(0, len(low), every)
    empty = low >= high
    lowest = np.minimum.reduceat(np.where(empty, _FAR, low), starts)
    highest = np.maximum.reduceat(np.where(empty, -1, high), starts)
    none = lowest == _FAR
    return Span(np.where(none, 0, lowest), np.where(none, 0, highest))


def nd_offer(ctx: LowerContext, axes: Sequence[tuple[int, int]], first: int) -> Offer:
    """A dense output read from the input with steps.

    ``axes``: (size, step in the input) of each output axis; ``first``: where it begins. In elements.
    """
    width = width_of(ctx.signature.outputs[0])
    walk, unit = _merge([(size, step * width) for size, step in axes], width)
    full = [(1, 0)] * (AXES - len(walk)) + walk
    starts = np.array([first * width], np.int64)
    for size, step in walk:
        starts = (starts[:, None] + np.arange(size) * step).ravel()
    ends = np.arange(1, len(starts) + 1, dtype=np.int64) * unit
    fields = [("unit", unit), ("offset", first * width)]
    for i, (size, step) in enumerate(full):
        fields += [(f"size[{i}]", size), (f"step[{i}]", step)]
    return Offer(
        kernel="copy_nd",
        call=Call("td_copy_nd", (ParamsArg(), In(0), Out(0))),
        access=AccessPlan((_thin(starts, starts + unit),), (_thin(ends - unit, ends),), reads_first=False),
        headers=("td_copy.h",),
        sources=("td_copy.c",),
        params=Params("td_copy_nd_params", tuple(fields)),
        cost=_cost(len(starts) * unit, len(starts)),
    )


def _merge(axes: Sequence[tuple[int, int]], width: int) -> tuple[list[tuple[int, int]], int]:
    """Axes that move as one are merged; the bytes of the fastest run that is contiguous, and the axes over it."""
    walk: list[tuple[int, int]] = []
    for size, step in axes:
        if size == 1:
            continue
        if walk and walk[-1][1] == size * step:
            walk[-1] = (walk[-1][0] * size, step)
        else:
            walk.append((size, step))
    unit = width
    if walk and walk[-1][1] == width:
        unit *= walk.pop()[0]
    return walk, unit


def pad_offer(ctx: LowerContext, padding: Sequence[tuple[int, int]], byte: int) -> Offer:
    """Constant bytes around the input; ``padding`` in elements an axis."""
    sig = ctx.signature
    width = width_of(sig.outputs[0])
    shape = list(sig.outputs[0].shape)
    inner = next((i for i in range(len(shape), 0, -1) if padding[i - 1] != (0, 0)), 0)
    unit = math.prod(shape[inner:]) * width
    axes = [(size, before, size - after) for size, (before, after) in zip(shape[:inner], padding[:inner], strict=True)]
    inside = np.ones(1, bool)
    for size, first, last in axes:
        position = np.arange(size)
        inside = (inside[:, None] & (position >= first) & (position < last)).ravel()
    ends = np.arange(1, len(inside) + 1, dtype=np.int64) * unit
    read = np.cumsum(inside, dtype=np.int64) * unit
    fields = [("unit", unit), ("value", byte)]
    for i, (size, first, last) in enumerate([(1, 0, 1)] * (AXES - len(axes)) + axes):
        fields += [(f"size[{i}]", size), (f"first[{i}]", first), (f"last[{i}]", last)]
    return Offer(
        kernel="pad_nd",
        call=Call("td_pad_nd", (ParamsArg(), In(0), Out(0))),
        access=AccessPlan((_thin(read - unit * inside, read),), (_thin(ends - unit, ends),), reads_first=False),
        headers=("td_copy.h",),
        sources=("td_copy.c",),
        params=Params("td_pad_nd_params", tuple(fields)),
        cost=_cost(len(inside) * unit, 2 * len(inside)),
    )


@dataclasses.dataclass(frozen=True)
class Part:
    """``length`` positions of an axis copied from ``source`` (input) at ``read`` to ``target`` (output) at ``write``.

    ``table``: 256 bytes that translate 8-bit elements on the way.
    """

    source: int
    target: int
    read: int
    write: int
    length: int
    table: Array | None = None


def blocks_offer(ctx: LowerContext, axis: int, parts: Sequence[Part]) -> Offer:
    """Parts of tensors that differ along one axis only, one call each, in order."""
    sig = ctx.signature
    runs = math.prod(sig.outputs[0].shape[:axis])
    inner = math.prod(sig.outputs[0].shape[axis + 1 :]) * width_of(sig.outputs[0])
    calls, tables = [], []
    reads = [np.zeros((2, len(parts) * runs), np.int64) for _ in sig.inputs]
    writes = [np.zeros((2, len(parts) * runs), np.int64) for _ in sig.outputs]
    for number, part in enumerate(parts):
        in_step = sig.input(part.source).shape[axis] * inner
        out_step = sig.outputs[part.target].shape[axis] * inner
        blocks = (runs, part.length * inner, in_step, out_step, part.read * inner, part.write * inner)
        call, constants = _part_call(ctx, number, part)
        calls.append(call)
        tables += [Table(f"part{number}", "td_blocks", np.array([blocks], BLOCKS)), *constants]
        steps = slice(number * runs, (number + 1) * runs)
        _touch(reads[part.source][:, steps], in_step, part.read * inner, part.length * inner)
        _touch(writes[part.target][:, steps], out_step, part.write * inner, part.length * inner)
    translated = any(part.table is not None for part in parts)
    return Offer(
        kernel="copy_blocks",
        call=dataclasses.replace(calls[0], then=tuple(calls[1:])),
        access=AccessPlan(
            tuple(None if ctx.constant(i) is not None else _thin(*span) for i, span in enumerate(reads)),
            tuple(_thin(*span) for span in writes),
            reads_first=False,
        ),
        headers=("td_copy.h", "td_lut.h") if translated else ("td_copy.h",),
        sources=("td_copy.c", "td_lut_8.c") if translated else ("td_copy.c",),
        tables=tuple(tables),
        cost=_cost(sum(kind.size * width_of(kind) for kind in sig.outputs), len(parts) * runs),
    )


def _part_call(ctx: LowerContext, number: int, part: Part) -> tuple[Call, list[Table]]:
    """The call that moves a part, and the tables it needs besides its sizes."""
    constant, kind = ctx.constant(part.source), ctx.signature.input(part.source)
    tables = []
    data: Argument = In(part.source)
    if constant is not None:
        tables.append(Table(f"data{number}", kind.elem.c_type, constant.astype(kind.elem.dtype).ravel()))
        data = Tab(f"data{number}")
    if part.table is None:
        return Call("td_copy_blocks", (Tab(f"part{number}"), data, Out(part.target))), tables
    tables.append(Table(f"table{number}", "uint8_t", part.table))
    arguments = (Tab(f"part{number}"), Tab(f"table{number}"), data, Out(part.target))
    return Call("td_lut_8_blocks", arguments), tables


def _touch(span: Bytes, step: int, first: int, size: int) -> None:
    span[0] = np.arange(span.shape[1]) * step + first
    span[1] = span[0] + size
