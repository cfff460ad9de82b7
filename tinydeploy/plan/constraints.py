"""What may not lie where: one forbidden interval a pair of items alive at the same time; the least RAM possible."""

from __future__ import annotations

import dataclasses

from tinydeploy.plan.liveness import Item, Liveness, Task


@dataclasses.dataclass(frozen=True)
class Pair:
    """``offset(b) - offset(a)`` must not lie strictly between ``low`` and ``high`` (items by index). Exact bytes."""

    a: int
    b: int
    low: int
    high: int


def pairs(live: Liveness) -> list[Pair]:
    """All pairs of items that are live at a common time, with what they forbid."""
    items = live.items
    by_start = sorted(range(len(items)), key=lambda i: (items[i].first, i))
    active: list[int] = []
    found: list[Pair] = []
    for new in by_start:
        item = items[new]
        active = [i for i in active if items[i].last >= item.first]
        for old in active:
            if item.size and items[old].size:
                found.append(_pair(live, old, new))
        active.append(new)
    return [pair for pair in found if pair.high - pair.low > 1]


def _pair(live: Liveness, old: int, new: int) -> Pair:
    before, after = live.items[old], live.items[new]
    low, high = -after.size, before.size
    if 0 <= before.last == after.first < len(live.tasks) and not before.scratch and not after.scratch:
        distance = safe_distance(live.tasks[after.first], before, after)
        if distance is not None:
            low = max(low, -distance)
    return Pair(old, new, low, high)


def safe_distance(task: Task, dying: Item, born: Item) -> int | None:
    """Least ``offset(dying) - offset(born)`` in bytes at which ``task`` may run; None if it reads or writes neither.

    A value that is read twice gets the stricter of both distances.
    """
    if task.access is None:
        return None
    readings = [k for k, name in enumerate(task.reads) if name == dying.name and task.access.reads[k] is not None]
    writings = [k for k, name in enumerate(task.writes) if name == born.name]
    if not readings or not writings or dying.first == born.first:
        return None
    return max(task.access.distance(i, o) for i in readings for o in writings)


def bound(live: Liveness, time: int, scratch: int | None = None, task: Task | None = None) -> int:
    """Bytes that must exist at ``time`` in any plan: the sum of what is live less the most that may overlap.

    ``task`` and ``scratch`` stand in for the ones in ``live`` when another offer of a node is weighed.
    """
    here = [item for item in live.items if item.first <= time <= item.last and not item.scratch]
    extra = sum(item.size for item in live.items if item.first == time and item.scratch) if scratch is None else scratch
    total = sum(item.size for item in here)
    if not 0 <= time < len(live.tasks):
        return total
    task = task or live.tasks[time]
    dying = [item for item in here if item.first < time == item.last]
    born = [item for item in here if item.first == time]
    shared = 0
    for old in dying:
        for new in born:
            distance = safe_distance(task, old, new)
            if distance is not None:
                together = max(new.size, max(distance, 0) + old.size)
                shared += max(old.size + new.size - together, 0)
    through = total - sum(item.size for item in {*dying, *born})
    at_least = max(sum(item.size for item in dying), sum(item.size for item in born))
    return max(total - shared, through + at_least) + extra


def lower_bound(live: Liveness) -> int:
    """Bytes no plan with this order and these kernels can go below."""
    return max(bound(live, time) for time in range(-1, len(live.tasks) + 1))
