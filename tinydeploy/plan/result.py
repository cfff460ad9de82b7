"""The plan: where everything lies in RAM, and which kernel runs each node."""

from __future__ import annotations

import dataclasses

from tinydeploy.lower._contract import Lowered
from tinydeploy.plan.liveness import Copy


@dataclasses.dataclass(frozen=True)
class Spot:
    """Where an item lies: ``offset`` and ``size`` in bytes, live from the run of node ``first`` to that of ``last``.

    -1 is before the first node, the number of nodes is after the last.
    """

    offset: int
    size: int
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class Overlap:
    """``node`` writes ``output`` over ``input``: allowed at ``offset(input) - offset(output) >= distance`` bytes."""

    node: str
    input: str
    output: str
    distance: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """Offsets in bytes in the one activation arena (its base is aligned to 16) and in the state region.

    ``lowered``: the chosen kernel of every node, in order of execution (``order``: the names). ``offsets``: by value
    name, views included; values in the state region are in ``state_offsets`` instead (by the value read). ``views``: a
    view's output -> the value whose memory it is. ``scratch``: by node name. ``outputs``: arena offset of each graph
    output at the end of a run. ``copies`` are made in order after the last node; a copy's arena target is in ``spots``.
    ``live_bytes``: arena bytes in use by node name. ``notes``: what was decided, in words.

    Later pools are further regions beside "arena" and "state": an item gets a region before offsets are sought.
    """

    lowered: tuple[Lowered, ...]
    offsets: dict[str, int]
    scratch: dict[str, int]
    state_offsets: dict[str, int]
    views: dict[str, str]
    outputs: tuple[int, ...]
    copies: tuple[Copy, ...]
    spots: dict[str, Spot]
    overlaps: tuple[Overlap, ...]
    arena_bytes: int
    state_bytes: int
    lower_bound_bytes: int
    live_bytes: dict[str, int]
    cycles: int
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """Node names in order of execution."""
        return tuple(low.node.name for low in self.lowered)

    @property
    def peak(self) -> str:
        """The node at which most of the arena is in use; "" for a graph without nodes."""
        return max(self.live_bytes, key=lambda name: self.live_bytes[name], default="")
