"""Operators that only move elements: how they walk, and which bytes they touch when."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.ir import Array, Type
from tinydeploy.lower._contract import (
    VIEW,
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

OUTER_AXES = 5  # TD_OUTER_AXES
_STEPS = 8192  # steps of an access plan at most
BLOCKS = np.dtype([(n, "<i4") for n in ("count", "size", "in_step", "out_step", "in_offset", "out_offset")])


def width_of(kind: Type) -> int:
    """Bytes of an element."""
    return kind.elem.dtype.itemsize


def copy_cost(size: int, runs: int) -> Cost:
    """Of ``size`` bytes in ``runs`` runs: by words, but for short runs."""
    instructions = size if size >= 8 * runs else 5 * size
    return Cost(instructions + 30 * runs, int(1.4 * instructions) + 55 * runs)


def _runs(starts: Bytes, size: int) -> Span:
    """Runs of ``size`` bytes, each in two steps (see `_plan`)."""
    edges = starts[:, None] + np.array([0, size // 2, size])
    return Span(edges[:, :-1].ravel(), edges[:, 1:].ravel())


def _plan(reads: Sequence[Span | None], writes: Sequence[Span]) -> AccessPlan:
    """The access of copies in rising order.

    A run that is copied in rising order is safe at every byte if it is safe at one cut, as the distance of what is read
    and what is written stays the same; so two steps stand for it, in which all is read before it is written. Where that
    gives too many steps they become hulls, in which anything may happen.
    """
    every = -(-len(writes[0].low) // _STEPS)
    return AccessPlan(
        tuple(None if span is None else span.hulls(every) for span in reads),
        tuple(span.hulls(every) for span in writes),
        reads_first=every == 1,
    )


def nd_offer(ctx: LowerContext, axes: Sequence[tuple[int, int]], first: int) -> Offer:
    """A dense output read from the input with steps; a view where that changes nothing.

    ``axes``: (size, step in the input) of each output axis; ``first``: where it begins. In elements.
    """
    kind = ctx.signature.outputs[0]
    if kind.size == ctx.signature.input(0).size and _is_dense(axes):
        return VIEW
    unit = width_of(kind)
    walk = merged([(size, step * unit) for size, step in axes]) or [(1, unit)]
    inner, inner_step = walk.pop()
    starts = np.array([first * unit], np.int64)
    for size, step in walk:
        starts = (starts[:, None] + np.arange(size) * step).ravel()
    run = inner * unit
    if inner_step != unit:
        starts, run = (starts[:, None] + np.arange(inner) * inner_step).ravel(), unit
    fields = [("unit", unit), ("offset", first * unit), ("inner", inner), ("inner_step", inner_step)]
    for i, (size, step) in enumerate([(1, 0)] * (OUTER_AXES - len(walk)) + walk):
        fields += [(f"size[{i}]", size), (f"step[{i}]", step)]
    lines = kind.size // inner
    return Offer(
        kernel="copy_nd",
        call=Call("td_copy_nd", (ParamsArg(), In(0), Out(0))),
        access=_plan([_runs(starts, run)], [_runs(np.arange(len(starts), dtype=np.int64) * run, run)]),
        headers=("td_copy.h",),
        sources=("td_copy.c",),
        params=Params("td_copy_nd_params", tuple(fields)),
        cost=copy_cost(kind.size * unit, lines)
        if inner_step == unit
        else Cost(5 * kind.size + 40 * lines, 8 * kind.size),
    )


def _is_dense(axes: Sequence[tuple[int, int]]) -> bool:
    return all(step == math.prod(s for s, _ in axes[i + 1 :]) for i, (size, step) in enumerate(axes) if size > 1)


def merged(axes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without axes of length 1; axes that move as one are merged."""
    walk: list[tuple[int, int]] = []
    for size, step in axes:
        if size == 1:
            continue
        if walk and walk[-1][1] == size * step:
            walk[-1] = (walk[-1][0] * size, step)
        else:
            walk.append((size, step))
    return walk


def pad_offer(ctx: LowerContext, padding: Sequence[tuple[int, int]], value: bytes) -> Offer:
    """Constant elements around the input; ``padding`` in elements an axis, ``value`` the bytes of one."""
    sig = ctx.signature
    total = sig.outputs[0].size * width_of(sig.outputs[0])
    *outer, (run, before, after) = _merge_padding(sig.input(0).shape, padding, width_of(sig.outputs[0]))
    length = before + run + after
    gap, starts, gaps = before + after, np.array([before], np.int64), []
    for size, first, last in reversed(outer):
        starts = (first * length + np.arange(size)[:, None] * length + starts).ravel()
        gaps.append((size, gap))
        before, after = before + first * length, after + last * length
        gap, length = before + after, length * (first + size + last)
    levels = [(1, 0)] * (OUTER_AXES - len(gaps)) + gaps[::-1]
    sizes = [("run", run), ("before", before), ("after", after)]
    for i, (size, between) in enumerate(levels):
        sizes += [(f"size[{i}]", size), (f"gap[{i}]", between)]
    wide = len(value) == 8 and value[:4] != value[4:]
    if wide:  # by elements of 64 bits
        sizes = [(name, n if name.startswith("size") else n // 8) for name, n in sizes]
        fields = [("value", int.from_bytes(value, "little", signed=True)), *sizes]
    else:
        fields = [*((f"value[{i}]", value[i % len(value)]) for i in range(4)), *sizes]
    name = "pad_64" if wide else "pad_nd"
    return Offer(
        kernel=name,
        call=Call(f"td_{name}", (ParamsArg(), In(0), Out(0))),
        access=_pad_access(starts, run, total),
        headers=("td_pad_64.h",) if wide else ("td_copy.h",),
        sources=("td_pad_64.c",) if wide else ("td_copy.c",),
        params=Params(f"td_{name}_params", tuple(fields)),
        cost=copy_cost(total, 2 * len(starts)),
    )


def _merge_padding(shape: Sequence[int], padding: Sequence[tuple[int, int]], width: int) -> list[tuple[int, int, int]]:
    """(size, before, after) of the axes that are padded, and the fastest one in bytes."""
    axes = [(1, 0, 0)]
    for size, (before, after) in (*zip(shape, padding, strict=True), (width, (0, 0))):
        if (before, after) == (0, 0):
            axes[-1] = tuple(n * size for n in axes[-1])  # type: ignore[assignment]
        elif axes[-1] == (1, 0, 0):
            axes[-1] = (size, before, after)
        else:
            axes.append((size, before, after))
    return axes


def _pad_access(starts: Bytes, run: int, total: int) -> AccessPlan:
    """For each run the padding before it, then the run; the padding after the last one."""
    read = _runs(np.arange(len(starts), dtype=np.int64) * run, run)
    write = _runs(starts, run)
    ends = np.concatenate([np.zeros(1, np.int64), starts + run])
    steps = 3 * len(starts) + 1
    reads, writes = Span.none(steps), Span.none(steps)
    writes.low[::3], writes.high[::3] = ends, np.append(starts, total)
    for part in (0, 1):
        for whole, runs in ((reads, read), (writes, write)):
            whole.low[part + 1 :: 3], whole.high[part + 1 :: 3] = runs.low[part::2], runs.high[part::2]
    return _plan([reads], [writes])


@dataclasses.dataclass(frozen=True)
class Part:
    """``length`` positions of an axis copied from ``source`` (input) at ``read`` to ``target`` (output) at ``write``.

    ``table``: 256 bytes that translate 8-bit elements on the way; ``rescale``: a td_rescale_params for those of int16.
    """

    source: int
    target: int
    read: int
    write: int
    length: int
    table: Array | None = None
    rescale: Array | None = None

    @property
    def copied(self) -> bool:
        """True if the elements stay as they are."""
        return self.table is None and self.rescale is None


_FILES = {  # of the calls that move a part: header and source
    "td_copy_blocks": ("td_copy.h", "td_copy.c"),
    "td_lut_8_blocks": ("td_lut.h", "td_lut_8.c"),
    "td_rescale_blocks_s16": ("td_rescale.h", "td_rescale.c"),
}


def blocks_offer(ctx: LowerContext, axis: int, parts: Sequence[Part]) -> Offer:
    """Parts of tensors that differ along one axis only, one call each, in order."""
    sig = ctx.signature
    if len(sig.inputs) == len(sig.outputs) == 1 and parts[0].copied and ctx.constant(0) is None:
        return VIEW
    runs = math.prod(sig.outputs[0].shape[:axis])
    inner = math.prod(sig.outputs[0].shape[axis + 1 :]) * width_of(sig.outputs[0])
    calls, tables = [], []
    reads = [Span.none(2 * len(parts) * runs) for _ in sig.inputs]
    writes = [Span.none(2 * len(parts) * runs) for _ in sig.outputs]
    for number, part in enumerate(parts):
        in_step = sig.input(part.source).shape[axis] * inner
        out_step = sig.outputs[part.target].shape[axis] * inner
        size, begin, to = part.length * inner, part.read * inner, part.write * inner
        call, constants = _part_call(ctx, number, part)
        calls.append(call)
        blocks = np.array([(runs, size, in_step, out_step, begin, to)], BLOCKS)
        tables += [Table(f"part{number}", "td_blocks", blocks), *constants]
        steps = slice(2 * number * runs, 2 * (number + 1) * runs)
        for span, step, offset in ((reads[part.source], in_step, begin), (writes[part.target], out_step, to)):
            made = _runs(np.arange(runs, dtype=np.int64) * step + offset, size)
            span.low[steps], span.high[steps] = made.low, made.high
    files = [_FILES[call.function] for call in calls]
    return Offer(
        kernel="copy_blocks",
        call=dataclasses.replace(calls[0], then=tuple(calls[1:])),
        access=_plan([None if ctx.constant(i) is not None else span for i, span in enumerate(reads)], writes),
        headers=tuple(sorted({"td_copy.h", *(header for header, _ in files)})),
        sources=tuple(sorted({"td_copy.c", *(source for _, source in files)})),
        tables=tuple(tables),
        cost=_parts_cost(parts, runs, inner),
    )


def _parts_cost(parts: Sequence[Part], runs: int, inner: int) -> Cost:
    sizes = [runs * part.length * inner for part in parts]
    costs = [copy_cost(size if part.copied else 5 * size, runs) for part, size in zip(parts, sizes, strict=True)]
    return Cost(sum(cost.instructions for cost in costs), sum(cost.cycles for cost in costs))


def _part_call(ctx: LowerContext, number: int, part: Part) -> tuple[Call, list[Table]]:
    """The call that moves a part, and the tables it needs besides its sizes."""
    constant, kind = ctx.constant(part.source), ctx.signature.input(part.source)
    tables = []
    data: Argument = In(part.source)
    if constant is not None:
        tables.append(Table(f"data{number}", kind.elem.c_type, constant.astype(kind.elem.dtype).ravel()))
        data = Tab(f"data{number}")
    if part.rescale is not None:
        tables.append(Table(f"rescale{number}", "td_rescale_params", part.rescale))
        arguments = (Tab(f"part{number}"), Tab(f"rescale{number}"), data, Out(part.target))
        return Call("td_rescale_blocks_s16", arguments), tables
    if part.table is None:
        return Call("td_copy_blocks", (Tab(f"part{number}"), data, Out(part.target))), tables
    tables.append(Table(f"table{number}", "uint8_t", part.table))
    arguments = (Tab(f"part{number}"), Tab(f"table{number}"), data, Out(part.target))
    return Call("td_lut_8_blocks", arguments), tables
