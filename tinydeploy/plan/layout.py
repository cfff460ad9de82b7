"""From chosen kernels to a checked plan: lifetimes, pairs, offsets, shadow run."""

from __future__ import annotations

from collections.abc import Sequence

from tinydeploy.ir import Graph
from tinydeploy.lower._contract import Lowered
from tinydeploy.plan import shadow
from tinydeploy.plan.constraints import lower_bound, pairs, safe_distance
from tinydeploy.plan.liveness import Item, Liveness, align_of, analyse, belongs_to
from tinydeploy.plan.place import place
from tinydeploy.plan.result import Overlap, Plan, Spot


def lay_out(graph: Graph, lowered: Sequence[Lowered], notes: Sequence[str] = ()) -> Plan:
    """Place everything for this choice of kernels and run the plan on the shadow memory.

    Raises: InternalError if the plan does not hold (a wrong `AccessPlan` or a bug of the planner).
    """
    live = analyse(graph, lowered)
    places, least = place(live.items, pairs(live), lower_bound(live))
    spots = {
        item.name: Spot(offset, item.size, item.first, item.last)
        for item, offset in zip(live.items, places, strict=True)
    }
    arena = max((spot.offset + spot.size for spot in spots.values()), default=0)
    shadow.check(live, {name: spot.offset for name, spot in spots.items()}, arena)
    states, state_bytes = _states(graph)
    return Plan(
        lowered=tuple(lowered),
        offsets={name: spots[root].offset for name, root in live.root.items() if root in spots},
        scratch={belongs_to(item.name): spots[item.name].offset for item in live.items if item.scratch},
        state_offsets={name: states[root] for name, root in live.root.items() if root in states},
        views={name: root for name, root in live.root.items() if name != root},
        outputs=tuple(spots[name].offset for name in live.outputs),
        copies=live.copies,
        spots=spots,
        overlaps=_overlaps(live, spots),
        arena_bytes=arena,
        state_bytes=state_bytes,
        lower_bound_bytes=least,
        live_bytes={low.node.name: _covered(spots, time) for time, low in enumerate(lowered)},
        cycles=sum(low.offer.cost.cycles for low in lowered),
        notes=tuple(notes),
    )


def _states(graph: Graph) -> tuple[dict[str, int], int]:
    """Offsets of the states in their region, one after another, and its size."""
    offsets: dict[str, int] = {}
    at = 0
    for state in graph.states:
        align = align_of(graph, state.read)
        offsets[state.read] = at = -(-at // align) * align
        at += graph.type(state.read).nbytes
    return offsets, at


def _overlaps(live: Liveness, spots: dict[str, Spot]) -> tuple[Overlap, ...]:
    """Where the plan really writes an output over a dying input."""
    found = []
    for time, task in enumerate(live.tasks):
        ending = [item for item in live.items if item.first < time == item.last and not item.scratch]
        starting = [item for item in live.items if item.first == time and not item.scratch]
        for old in ending:
            for new in starting:
                distance = safe_distance(task, old, new)
                if distance is not None and _touch(spots, old, new):
                    found.append(Overlap(task.name, old.name, new.name, distance))
    return tuple(found)


def _touch(spots: dict[str, Spot], a: Item, b: Item) -> bool:
    return spots[a.name].offset < spots[b.name].offset + b.size and spots[b.name].offset < spots[a.name].offset + a.size


def _covered(spots: dict[str, Spot], time: int) -> int:
    """Arena bytes that belong to something at ``time``, shared bytes counted once."""
    ranges = sorted((s.offset, s.offset + s.size) for s in spots.values() if s.first <= time <= s.last)
    total = top = 0
    for low, high in ranges:
        total += max(high - max(low, top), 0)
        top = max(top, high)
    return total
