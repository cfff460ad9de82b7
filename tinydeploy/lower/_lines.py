"""Operators that reduce over some axes and write where they read: how they walk, and which bytes they touch when."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.lower._contract import AccessPlan, Span, whole

AXES = 3  # TD_LINES_AXES: six axes of which every other one is reduced
_STEPS = 8192  # steps of an access plan at most


@dataclasses.dataclass(frozen=True)
class Lines:
    """A tensor as lines: (size, step in elements) of the kept axes and of the reduced ones, slowest first."""

    kept: tuple[tuple[int, int], ...]
    reduced: tuple[tuple[int, int], ...]

    @staticmethod
    def of(shape: Sequence[int], axes: Sequence[int]) -> Lines:
        """Lines over ``axes`` of a dense tensor; neighbouring axes of one kind are merged."""
        runs: list[tuple[bool, int, int]] = []
        for axis, size in enumerate(shape):
            step, reduced = math.prod(shape[axis + 1 :]), axis in axes
            if size == 1:
                continue
            if runs and runs[-1][0] == reduced:
                runs[-1] = (reduced, runs[-1][1] * size, step)
            else:
                runs.append((reduced, size, step))
        pick = (tuple((size, step) for kind, size, step in runs if kind is wanted) for wanted in (False, True))
        return Lines(*pick)

    @property
    def rows(self) -> int:
        """How many lines there are."""
        return math.prod(size for size, _ in self.kept)

    @property
    def depth(self) -> int:
        """Elements of a line."""
        return math.prod(size for size, _ in self.reduced)

    def fields(self) -> tuple[tuple[str, int], ...]:
        """The C struct td_lines as params fields."""
        fields: list[tuple[str, int]] = []
        for name, axes in (("kept", self.kept), ("reduced", self.reduced)):
            full = ((1, 0),) * (AXES - len(axes)) + axes
            fields += [(f"lines.{name}[{i}]", size) for i, (size, _) in enumerate(full)]
            fields += [(f"lines.{name}_step[{i}]", step) for i, (_, step) in enumerate(full)]
        return tuple(fields)

    def access(self, width: int, constants: int = 0) -> AccessPlan:
        """When elements of ``width`` bytes are read and written; ``constants``: inputs after x that are none.

        Dense lines: see `row_access`. Others interleave: nothing may be written before all is read.
        """
        dense = self.depth == 1 or (len(self.reduced) == 1 and self.reduced[0][1] == 1)
        plan = row_access(self.rows, self.depth, width) if dense else None
        if plan is None:
            size = whole(self.rows * self.depth * width)
            plan = AccessPlan((size,), (size,), reads_first=False)
        return dataclasses.replace(plan, reads=(*plan.reads, *(None,) * constants))


def row_access(rows: int, depth: int, width: int = 1) -> AccessPlan:
    """Row after row: the row is read whole, then read and written element by element of ``width`` bytes."""
    start = np.repeat(np.arange(rows, dtype=np.int64) * depth, depth + 1)
    element = np.tile(np.arange(-1, depth, dtype=np.int64), rows)
    first = element < 0
    low = start + np.where(first, 0, element)
    reads = Span(low * width, (start + np.where(first, depth, element + 1)) * width)
    writes = Span(low * width, np.where(first, low, low + 1) * width)
    every = -(-len(low) // _STEPS)
    return AccessPlan((reads.hulls(every),), (writes.hulls(every),), reads_first=every == 1)


def line_access(outer: int, depth: int, inner: int, width: int) -> AccessPlan:
    """[outer, depth, inner] along depth, block after block; in one with interleaved lines anything may happen."""
    if inner == 1 or depth == 1:
        return row_access(outer * inner, depth, width)
    edges = np.arange(outer + 1, dtype=np.int64) * depth * inner * width
    every = -(-outer // _STEPS)
    block = Span(edges[:-1], edges[1:]).hulls(every)
    return AccessPlan((block,), (block,), reads_first=False)
