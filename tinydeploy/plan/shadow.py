"""Runs a plan on a shadow of the arena that knows of every byte whose content it holds; no plan is used without."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Array
from tinydeploy.lower._contract import Span
from tinydeploy.plan.liveness import Item, Liveness, Task

NOBODY = -1
NEVER = np.iinfo(np.int32).max


class Shadow:
    """The arena: for each byte the index of the item whose content it holds.

    Independent of `AccessPlan.distance`: for each byte the step of its first overwriting and that of its last reading
    are found by playing the steps, and compared.
    """

    def __init__(self, live: Liveness, offsets: Mapping[str, int], arena_bytes: int) -> None:
        self.live = live
        self.offsets = offsets
        self.owner: Array = np.full(arena_bytes, NOBODY, np.int32)
        self.index = {item.name: i for i, item in enumerate(live.items)}
        self.items = {item.name: item for item in live.items}
        self.tasks = {task.name: time for time, task in enumerate(live.tasks)}

    def run(self) -> None:
        """Play the whole plan.

        Raises: InternalError naming node, step and byte where a byte is read after it was overwritten or before it
        was written, where two things are written to one place, or where something lies outside the arena.
        """
        for item in self.live.items:
            low = self.offsets[item.name]
            if low < 0 or low % item.align or low + item.size > len(self.owner):
                raise _clobber("the plan", f"{_show(item)} at {low}, {item.size} bytes, align {item.align}: misplaced")
        for item in self.live.items:
            if item.first == -1:
                self._claim(item, "before the first node")
        for time, task in enumerate(self.live.tasks):
            self._play(time, task)
        end = len(self.live.tasks)
        for item in self.live.items:
            if item.first == end:
                self._claim(item, "after the last node")
        for item in self.live.items:
            if item.last == end:
                self._must_own(item, 0, item.size, "after the last node")

    def _play(self, time: int, task: Task) -> None:
        where = f"node {task.name!r}"
        for item in self.live.items:
            if item.scratch and item.first == time:
                self._claim(item, where)
        if task.access is None:
            return
        writes = [self._first_write(self.items[n], s) for n, s in zip(task.writes, task.access.writes, strict=True)]
        written = np.minimum.reduce(writes) if writes else np.full(len(self.owner), NEVER, np.int32)
        for name, span in zip(task.reads, task.access.reads, strict=True):
            if name is None or span is None:
                continue
            item = self.items[name]
            reads = self._last_read(item, span, where)
            held = (reads >= 0) & (self.owner != self.index[name])
            if held.any():
                self._report(where, item, int(np.flatnonzero(held)[0]), int(reads[held][0]), "holds something else")
            late = written < reads if task.access.reads_first else written <= reads
            late &= reads >= 0
            if late.any():
                at = int(np.flatnonzero(late)[0])
                self._report(where, item, at, int(reads[at]), f"was overwritten at step {int(written[at])}")
        for name, stamps in zip(task.writes, writes, strict=True):
            self.owner[stamps != NEVER] = self.index[name]
        for name, stamps in zip(task.writes, writes, strict=True):
            lost = (stamps != NEVER) & (self.owner != self.index[name])
            if lost.any():
                at = int(np.flatnonzero(lost)[0])
                self._report(where, self.items[name], at, int(stamps[at]), "is written by another output too")
        for item in self.live.items:
            if item.scratch and item.first == time:
                self._must_own(item, 0, item.size, where)

    def _first_write(self, item: Item, span: Span) -> Array:
        stamps = np.full(len(self.owner), NEVER, np.int32)
        base = self.offsets[item.name]
        lows, highs = (span.low + base).tolist(), (span.high + base).tolist()
        for step in range(len(lows) - 1, -1, -1):
            stamps[lows[step] : highs[step]] = step
        return stamps

    def _last_read(self, item: Item, span: Span, where: str) -> Array:
        stamps = np.full(len(self.owner), -1, np.int32)
        base = self.offsets[item.name]
        if len(span.low) and (int(span.low.min()) < 0 or int(span.high.max()) > item.size):
            raise _clobber(where, f"reads beyond the {item.size} bytes of {_show(item)}")
        lows, highs = (span.low + base).tolist(), (span.high + base).tolist()
        for step, (low, high) in enumerate(zip(lows, highs, strict=True)):
            stamps[low:high] = step
        return stamps

    def _claim(self, item: Item, where: str) -> None:
        low = self.offsets[item.name]
        self.owner[low : low + item.size] = self.index[item.name]
        for other in self.live.items:
            if other is not item and other.first == item.first and other.scratch == item.scratch:
                start = self.offsets[other.name]
                if item.size and other.size and low < start + other.size and start < low + item.size:
                    raise _clobber(where, f"{_show(item)} and {_show(other)} lie on each other")

    def _must_own(self, item: Item, low: int, high: int, where: str) -> None:
        base = self.offsets[item.name]
        lost = np.flatnonzero(self.owner[base + low : base + high] != self.index[item.name])
        if len(lost):
            self._report(where, item, base + low + int(lost[0]), 0, "holds something else")

    def _report(self, where: str, item: Item, at: int, step: int, what: str) -> None:
        holder = int(self.owner[at])
        whose = "nobody's" if holder == NOBODY else f"that of {_show(self.live.items[holder])}"
        byte = at - self.offsets[item.name]
        raise _clobber(
            where,
            f"step {step}: byte {byte} of {_show(item)} (arena byte {at}, content {whose}) {what} when it is needed",
        )


def _show(item: Item) -> str:
    return f"scratch of {item.name[1:]!r}" if item.scratch else repr(item.name)


def _clobber(where: str, what: str) -> InternalError:
    return InternalError(Problem(where, what, rule="no byte of the arena is overwritten before its last read"))


def check(live: Liveness, offsets: Mapping[str, int], arena_bytes: int) -> None:
    """Run the plan on a `Shadow`. Raises: InternalError."""
    Shadow(live, offsets, arena_bytes).run()
