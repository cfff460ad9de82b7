"""Chooses kernels and memory together: the fewest cycles among the plans that fit the RAM asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tinydeploy.errors import BoardError, Problem
from tinydeploy.ir import Graph
from tinydeploy.lower._contract import Lowered, Offer, Target
from tinydeploy.plan.constraints import bound
from tinydeploy.plan.layout import lay_out
from tinydeploy.plan.liveness import Liveness, Task, analyse
from tinydeploy.plan.result import Plan

ROUNDS = 8  # plans laid out at most while kernels are exchanged
RETURNS = 16  # nodes that are offered their first choice back in the end
BALANCED = 1.25  # RAM allowed under "balanced", as a multiple of the least


def plan(graph: Graph, lowered: Sequence[Lowered], target: Target) -> Plan:
    """Give every value, scratch and state its place; nodes run in the order of ``lowered``.

    Starts from the first choices of ``lowered`` and exchanges the kernels of the nodes that need too much for leaner
    alternatives, dearest in RAM first, until the budget is met: ``target.max_ram`` (arena and state, bytes), for
    "balanced" at most 1.25 x the least RAM any choice of kernels needs. Every plan returned has passed the shadow run.

    Raises: BoardError if no choice of kernels meets ``max_ram``, saying by how much and at which node.
    """
    fast = lay_out(graph, lowered)
    budget = None if target.max_ram is None else target.max_ram - fast.state_bytes
    if (budget is None and target.optimize != "balanced") or not any(low.alternatives for low in lowered):
        return _within(fast, budget)
    live = analyse(graph, lowered)
    lean = lay_out(graph, [_choose(live, low, time, 0) for time, low in enumerate(lowered)])
    lean = min(lean, fast, key=lambda p: (p.arena_bytes, p.cycles))
    if target.optimize == "balanced":
        allowed = int(BALANCED * lean.arena_bytes)
        budget = allowed if budget is None else min(budget, max(allowed, 0))
    assert budget is not None
    if lean.arena_bytes > budget:
        return _within(lean, budget)

    best = trial = fast if fast.arena_bytes <= budget else lean
    aim = budget
    for _ in range(ROUNDS if best is lean else 0):
        chosen = [_choose(live, low, time, aim) for time, low in enumerate(lowered)]
        if any(new.offer is not old.offer for new, old in zip(chosen, trial.lowered, strict=True)):
            trial = lay_out(graph, chosen)
        if trial.arena_bytes <= budget:
            best = min(best, trial, key=lambda p: (p.cycles, p.arena_bytes))
            break
        aim -= trial.arena_bytes - budget
    best = _regain(graph, lowered, best, budget)
    return dataclasses.replace(best, notes=(*best.notes, *_exchanged(lowered, best)))


def _regain(graph: Graph, lowered: Sequence[Lowered], best: Plan, budget: int) -> Plan:
    """Give nodes their first choice back, those that lost most cycles first, as far as the budget allows."""
    lost = [new.offer.cost.cycles - old.offer.cost.cycles for old, new in zip(lowered, best.lowered, strict=True)]
    losers = [number for number, cycles in enumerate(lost) if cycles > 0]
    for number in sorted(losers, key=lambda i: (-lost[i], i))[:RETURNS]:
        chosen = [lowered[i] if i == number else low for i, low in enumerate(best.lowered)]
        trial = lay_out(graph, chosen)
        if trial.arena_bytes <= budget:
            best = trial
    return best


def _choose(live: Liveness, low: Lowered, time: int, aim: int) -> Lowered:
    """The first choice if it needs no more than ``aim`` bytes, else the fastest offer that does, else the leanest.

    A view stays one: to exchange it would change lifetimes elsewhere.
    """
    offers = [low.offer, *(offer for offer in low.alternatives if offer.view == low.offer.view)]
    if low.offer.view or len(offers) == 1:
        return low
    needs = [bound(live, time, offer.scratch_bytes, _task(live.tasks[time], offer)) for offer in offers]
    fitting = [offer for offer, need in zip(offers, needs, strict=True) if need <= aim]
    if fitting:
        pick = fitting[0] if fitting[0] is low.offer else min(fitting, key=lambda offer: offer.cost.cycles)
    else:
        pick = min(zip(offers, needs, strict=True), key=lambda pair: (pair[1], pair[0].cost.cycles))[0]
    return low if pick is low.offer else _exchange(low, pick)


def _task(task: Task, offer: Offer) -> Task:
    return dataclasses.replace(task, access=offer.access)


def _exchange(low: Lowered, pick: Offer) -> Lowered:
    others = (low.offer, *(offer for offer in low.alternatives if offer is not pick))
    return Lowered(low.node, pick, tuple(sorted(others, key=lambda offer: offer.cost.cycles)))


def _exchanged(lowered: Sequence[Lowered], best: Plan) -> list[str]:
    return [
        f"{old.node.name}: {new.offer.kernel} instead of {old.offer.kernel}, to save RAM"
        for old, new in zip(lowered, best.lowered, strict=True)
        if new.offer is not old.offer
    ]


def _within(result: Plan, budget: int | None) -> Plan:
    """Return the plan if it meets the budget, else say what is missing."""
    if budget is None or result.arena_bytes <= budget:
        return result
    over = result.arena_bytes - budget
    peak = result.peak
    raise BoardError(
        Problem(
            "--max-ram",
            f"the plan with the least RAM needs {result.arena_bytes + result.state_bytes} bytes, {over} too many",
            rule=f"the arena ({result.arena_bytes}) and the state ({result.state_bytes}) must fit in the budget",
            hint=f"most is needed at node {peak!r} ({result.live_bytes.get(peak, 0)} bytes); "
            "a smaller input, or fewer channels there, would help most",
        )
    )
