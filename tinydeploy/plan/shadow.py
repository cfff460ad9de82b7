"""Runs a plan on a shadow of the arena that knows of every byte whose content it holds; no plan is used without."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Array
from tinydeploy.lower._contract import Span
from tinydeploy.plan.liveness import Item, Liveness, Task, belongs_to

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
                self._must_own(item, "after the last node")

    def _play(self, time: int, task: Task) -> None:
        where = f"node {task.name!r}"
        for item in self.live.items:
            if item.scratch and item.first == time:
                self._claim(item, where)
        if task.access is None:
            return
        writes = [
            (self.items[name], self._first_write(self.items[name], span, where))
            for name, span in zip(task.writes, task.access.writes, strict=True)
        ]
        for name, span in zip(task.reads, task.access.reads, strict=True):
            if name is None or span is None:
                continue
            item = self.items[name]
            reads = self._last_read(item, span, where)
            held = (reads >= 0) & (self._owners(item) != self.index[name])
            if held.any():
                byte = int(np.flatnonzero(held)[0])
                self._report(where, item, byte, int(reads[byte]), "holds something else")
            for out, stamps in writes:
                self._in_time(where, item, reads, out, stamps, task.access.reads_first)
        for out, stamps in writes:
            self._owners(out)[stamps != NEVER] = self.index[out.name]
        for out, stamps in writes:
            lost = (stamps != NEVER) & (self._owners(out) != self.index[out.name])
            if lost.any():
                byte = int(np.flatnonzero(lost)[0])
                self._report(where, out, byte, int(stamps[byte]), "is written by another output too")
        for item in self.live.items:
            if item.scratch and item.first == time:
                self._must_own(item, where)

    def _in_time(self, where: str, item: Item, reads: Array, out: Item, writes: Array, reads_first: bool) -> None:
        """No byte that both use is written before its last reading. Stamps are steps by byte of their own item."""
        base, start = self.offsets[item.name], self.offsets[out.name]
        low, high = max(base, start), min(base + item.size, start + out.size)
        if low >= high:
            return
        read, written = reads[low - base : high - base], writes[low - start : high - start]
        late = (written < read if reads_first else written <= read) & (read >= 0)
        if late.any():
            at = int(np.flatnonzero(late)[0])
            self._report(where, item, low + at - base, int(read[at]), f"was overwritten at step {int(written[at])}")

    def _owners(self, item: Item) -> Array:
        """Whose content lies where ``item`` has its place: a part of the arena itself, not a copy."""
        base = self.offsets[item.name]
        return self.owner[base : base + item.size]

    def _first_write(self, item: Item, span: Span, where: str) -> Array:
        stamps = np.full(item.size, NEVER, np.int32)
        _inside(item, span, where)
        lows, highs = span.low.tolist(), span.high.tolist()
        for step in range(len(lows) - 1, -1, -1):
            stamps[lows[step] : highs[step]] = step
        return stamps

    def _last_read(self, item: Item, span: Span, where: str) -> Array:
        stamps = np.full(item.size, -1, np.int32)
        _inside(item, span, where)
        for step, (low, high) in enumerate(zip(span.low.tolist(), span.high.tolist(), strict=True)):
            stamps[low:high] = step
        return stamps

    def _claim(self, item: Item, where: str) -> None:
        low = self.offsets[item.name]
        self._owners(item)[:] = self.index[item.name]
        for other in self.live.items:
            if other is not item and other.first == item.first and other.scratch == item.scratch:
                start = self.offsets[other.name]
                if item.size and other.size and low < start + other.size and start < low + item.size:
                    raise _clobber(where, f"{_show(item)} and {_show(other)} lie on each other")

    def _must_own(self, item: Item, where: str) -> None:
        lost = np.flatnonzero(self._owners(item) != self.index[item.name])
        if len(lost):
            self._report(where, item, int(lost[0]), 0, "holds something else")

    def _report(self, where: str, item: Item, byte: int, step: int, what: str) -> None:
        at = self.offsets[item.name] + byte
        holder = int(self.owner[at])
        whose = "nobody's" if holder == NOBODY else f"that of {_show(self.live.items[holder])}"
        raise _clobber(
            where,
            f"step {step}: byte {byte} of {_show(item)} (arena byte {at}, content {whose}) {what} when it is needed",
        )


def _inside(item: Item, span: Span, where: str) -> None:
    if int(span.low.min(initial=0)) < 0 or int(span.high.max(initial=0)) > item.size:
        raise _clobber(where, f"touches bytes beyond the {item.size} of {_show(item)}")


def _show(item: Item) -> str:
    return f"scratch of {belongs_to(item.name)!r}" if item.scratch else repr(item.name)


def _clobber(where: str, what: str) -> InternalError:
    return InternalError(Problem(where, what, rule="no byte of the arena is overwritten before its last read"))


def check(live: Liveness, offsets: Mapping[str, int], arena_bytes: int) -> None:
    """Run the plan on a `Shadow`. Raises: InternalError."""
    Shadow(live, offsets, arena_bytes).run()
