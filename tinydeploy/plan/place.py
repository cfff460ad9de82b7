"""Offsets in one pool: first fit, then branch and bound, then hill climbing over orders, until the bound is met."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tinydeploy.plan.constraints import Pair
from tinydeploy.plan.exact import Search, least
from tinydeploy.plan.liveness import WORD, Item

WORK = 500_000  # pair look-ups spent on climbing: under a second
PROOF = 500_000  # pair look-ups spent on raising the bound, and as many on a search for a plan that meets it
PATIENCE = 400  # moves without gain before the search starts again from the best order


class Placer:
    """Places items in a given order, each at the lowest offset its placed neighbours leave free.

    Intervals are exact in bytes; only an item's own offset is rounded up to its alignment. Several pools are several
    placers, each given the items assigned to its pool.
    """

    def __init__(self, items: Sequence[Item], pairs: Sequence[Pair]) -> None:
        self.items = items
        self.near: list[list[tuple[int, int, int]]] = [[] for _ in items]
        for pair in pairs:
            self.near[pair.b].append((pair.a, pair.low, pair.high))
            self.near[pair.a].append((pair.b, -pair.high, -pair.low))
        self.work = 0

    def fit(self, order: Sequence[int]) -> list[int]:
        """Offsets by item index. Neighbours' intervals are swept upward once an item."""
        offsets: list[int] = [-1] * len(self.items)
        for index in order:
            align, spot = self.items[index].align, 0
            taken = [
                (offsets[other] + low, offsets[other] + high)
                for other, low, high in self.near[index]
                if offsets[other] >= 0
            ]
            taken.sort()
            for low, high in taken:
                if spot <= low:
                    break
                if spot < high:
                    spot = -(-high // align) * align
            offsets[index] = spot
            self.work += len(taken) + 1
        return offsets

    def size(self, offsets: Sequence[int]) -> int:
        """Bytes of the pool."""
        return max((o + item.size for o, item in zip(offsets, self.items, strict=True)), default=0)


def place(items: Sequence[Item], pairs: Sequence[Pair], goal: int, seed: int = 0) -> tuple[list[int], int]:
    """Offsets in bytes by item index, and the least size that any offsets can have (``goal`` or a better bound).

    Stops when the pool has that size, or when the work allowed is spent. Deterministic: the same items give the same
    offsets. An order is a permutation; a move takes an item that reaches the top of the pool, or one of its neighbours,
    to another turn.
    """
    placer = Placer(items, pairs)
    best_order, best = _first(placer)
    best_size = placer.size(best)
    if best_size <= goal:
        return best, best_size
    goal = _possible(items, least(items, pairs, goal, best_size, PROOF))
    work = 0
    while best_size > goal and work < PROOF:
        search = Search(items, pairs, goal)
        found = search.find(PROOF - work)
        work += search.work
        if found is not None:
            return found, goal
        if search.refuted:
            goal = _possible(items, goal + 1)
    chance = random.Random(seed)
    order, size, offsets, idle = list(best_order), best_size, best, 0
    while best_size > goal and placer.work < WORK:
        trial = _moved(placer, order, offsets, size, chance)
        trial_offsets = placer.fit(trial)
        trial_size = placer.size(trial_offsets)
        idle = 0 if trial_size < size else idle + 1
        if trial_size <= size:
            order, size, offsets = trial, trial_size, trial_offsets
        if size < best_size:
            best_order, best, best_size = order, offsets, size
        if idle > PATIENCE:
            order, idle = _shaken(best_order, chance), 0
            offsets = placer.fit(order)
            size = placer.size(offsets)
    return best, goal


def _possible(items: Sequence[Item], size: int) -> int:
    """The next size that a pool can have: an offset is a multiple of a word, and some item ends the pool."""
    return min(size + (item.size - size) % WORD for item in items)


def _first(placer: Placer) -> tuple[list[int], list[int]]:
    """The best of a few fixed orders. Backwards in time suits kernels that write below what they read."""
    items = placer.items
    numbers = range(len(items))
    orders = [
        sorted(numbers, key=lambda i: (-items[i].size, items[i].first, i)),
        sorted(numbers, key=lambda i: (-items[i].last, -items[i].first, i)),
        sorted(numbers, key=lambda i: (-items[i].first, -items[i].size, i)),
        sorted(numbers, key=lambda i: (items[i].first, -items[i].size, i)),
        sorted(numbers, key=lambda i: (items[i].first - items[i].last, -items[i].size, i)),
    ]
    tried = [(placer.fit(order), order) for order in orders]
    offsets, order = min(tried, key=lambda pair: placer.size(pair[0]))
    return order, offsets


def _moved(placer: Placer, order: list[int], offsets: list[int], size: int, chance: random.Random) -> list[int]:
    tops = [i for i, item in enumerate(placer.items) if offsets[i] + item.size == size]
    pick = chance.choice(tops)
    if placer.near[pick] and chance.random() < 0.5:
        pick = chance.choice(placer.near[pick])[0]
    at = order.index(pick)
    trial = order[:at] + order[at + 1 :]
    trial.insert(chance.randrange(at) if at and chance.random() < 0.8 else chance.randrange(len(order)), pick)
    return trial


def _shaken(order: list[int], chance: random.Random) -> list[int]:
    trial = list(order)
    for _ in range(3):
        trial.insert(chance.randrange(len(trial)), trial.pop(chance.randrange(len(trial))))
    return trial
