"""Offsets by branch and bound: finds a plan of a given size, or proves that there is none."""

from __future__ import annotations

from collections.abc import Sequence

from tinydeploy.plan.constraints import Pair
from tinydeploy.plan.liveness import Item

State = tuple[
    list[int], list[int], list[int]
]  # lowest and highest offset by item; choice by pair: 0 open, 1 up, -1 down


class Search:
    """Looks for offsets within ``size`` bytes.

    Each pair is one of two orders: "up" (``b`` above ``a``) or "down". An order that no longer fits between the lowest
    and highest offsets decides the pair, and that moves offsets in turn. ``work`` counts pairs looked at.
    """

    def __init__(self, items: Sequence[Item], pairs: Sequence[Pair], size: int) -> None:
        self.items = items
        self.pairs = pairs
        self.size = size
        self.work = 0
        self.refuted = False

    def root(self) -> State | None:
        """What follows without any guess; None if nothing fits, which proves that ``size`` is too small."""
        highest = [(self.size - item.size) // item.align * item.align for item in self.items]
        if any(offset < 0 for offset in highest):
            return None
        return self._narrow(([0] * len(self.items), highest, [0] * len(self.pairs)))

    def find(self, limit: int) -> list[int] | None:
        """Offsets that fit; None if there are none (``refuted``) or ``limit`` pairs were looked at in vain."""
        start = self.root()
        stack = [] if start is None else [start]
        while stack and self.work < limit:
            low, high, choice = stack.pop()
            number = self._broken(low, choice)
            if number is None:
                return low
            up, down = self._slack(low, high, self.pairs[number])
            for way in (1, -1) if down > up else (-1, 1):
                trial = self._narrow((list(low), list(high), [*choice[:number], way, *choice[number + 1 :]]))
                if trial is not None:
                    stack.append(trial)
        self.refuted = not stack
        return None

    def _slack(self, low: list[int], high: list[int], pair: Pair) -> tuple[int, int]:
        """Room left by "up" and by "down"; negative: impossible."""
        return high[pair.b] - low[pair.a] - pair.high, high[pair.a] - low[pair.b] + pair.low

    def _broken(self, low: list[int], choice: list[int]) -> int | None:
        """The open pair that the lowest offsets break, with the least room."""
        worst, worst_gap = None, 0
        for number, pair in enumerate(self.pairs):
            if choice[number] == 0 and pair.low < low[pair.b] - low[pair.a] < pair.high:
                gap = min(low[pair.b] - low[pair.a] - pair.low, pair.high - low[pair.b] + low[pair.a])
                if worst is None or gap > worst_gap:
                    worst, worst_gap = number, gap
        self.work += len(self.pairs)
        return worst

    def _narrow(self, state: State) -> State | None:
        """Follow all consequences; None if they contradict each other."""
        low, high, choice = state
        changed = True
        while changed:
            changed = False
            self.work += len(self.pairs)
            for number, pair in enumerate(self.pairs):
                if choice[number] == 0:
                    up, down = self._slack(low, high, pair)
                    if up < 0 and down < 0:
                        return None
                    choice[number] = 0 if up >= 0 and down >= 0 else 1 if up >= 0 else -1
                if choice[number] == 0:
                    continue
                under, over, by = (pair.a, pair.b, pair.high) if choice[number] > 0 else (pair.b, pair.a, -pair.low)
                if low[over] < low[under] + by:
                    align = self.items[over].align
                    low[over] = -(-(low[under] + by) // align) * align
                    changed = True
                if high[under] > high[over] - by:
                    align = self.items[under].align
                    high[under] = (high[over] - by) // align * align
                    changed = True
                if low[over] > high[over] or low[under] > high[under]:
                    return None
        return low, high, choice


def least(items: Sequence[Item], pairs: Sequence[Pair], low: int, high: int, limit: int) -> int:
    """The smallest size from ``low`` to ``high`` (a size known to work) that cannot be refuted without guessing."""
    spent = 0
    while low < high and spent < limit:
        middle = (low + high) // 2
        search = Search(items, pairs, middle)
        refuted = search.root() is None
        spent += search.work
        low, high = (middle + 1, high) if refuted else (low, middle)
    return low
