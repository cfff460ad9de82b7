"""Which bytes are needed when: values merged into storages (views share one), their lifetimes, scratch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias

from tinydeploy.errors import InputError, InternalError, Problem
from tinydeploy.ir import Graph
from tinydeploy.lower._contract import AccessPlan, Lowered

Region: TypeAlias = Literal["arena", "state", "flash"]

WORD = 4
SCRATCH_ALIGN = 16


@dataclasses.dataclass(frozen=True)
class Item:
    """Bytes that want a place in the arena. Live at times ``first`` to ``last``, both included.

    Time i is the run of node i; time -1 is before it (inputs are there), time n is after the last (outputs are read).
    ``scratch``: needed only while node ``first`` runs.
    """

    name: str
    size: int
    align: int
    first: int
    last: int
    scratch: bool = False


@dataclasses.dataclass(frozen=True)
class Task:
    """What runs at one time, as the planner sees it: storages read (None: not in the arena) and written, and when.

    A node is one task. A super-node (a chain of layers run row by row) would be one task as well: its `AccessPlan`
    covers the chain, its rings of rows are its scratch, and its inner values get no item of their own.
    """

    name: str
    reads: tuple[str | None, ...]
    writes: tuple[str, ...]
    access: AccessPlan | None


@dataclasses.dataclass(frozen=True)
class Copy:
    """Bytes copied after the last node: ``value`` as it lies in ``source`` to item / state ``target`` of ``region``."""

    value: str
    source: Region
    target: str
    region: Region
    size: int


@dataclasses.dataclass(frozen=True)
class Liveness:
    """Everything `place` and `shadow` need to know of a graph.

    ``root``: the storage of every value (itself, or what it is a view of). ``region``: where a storage lies.
    ``items``: those in the arena, storages first, then scratch. ``tasks``: one a node. ``outputs``: item that holds
    each graph output at the end. ``copies``: in the order in which they must be made.
    """

    root: dict[str, str]
    region: dict[str, Region]
    items: tuple[Item, ...]
    tasks: tuple[Task, ...]
    outputs: tuple[str, ...]
    copies: tuple[Copy, ...]


def align_of(graph: Graph, value: str) -> int:
    """Alignment of a value in bytes: a word (kernels read words), more only for 64-bit elements."""
    return max(WORD, graph.type(value).elem.dtype.itemsize)


def scratch_name(node: str) -> str:
    """Name of the item that is a node's scratch. No value has a name with a NUL in it."""
    return f"\0{node}"


def output_name(value: str) -> str:
    """Name of the item that an output is copied to at the end of a run, where it does not lie in the arena."""
    return f"out\0{value}"


def stash_name(state: str) -> str:
    """Name of the item that holds another state's new content until all old content has been read."""
    return f"state\0{state}"


def belongs_to(item: str) -> str:
    """The value or node whose item it is."""
    name, mark, rest = item.partition("\0")
    return rest if mark else name


def analyse(graph: Graph, lowered: Sequence[Lowered]) -> Liveness:
    """Merge views, find where each storage lies and when it lives. Nodes run in the order of ``lowered``.

    Raises: InputError for names with a NUL, InternalError if an offer does not fit its node (wrong number of spans, a
    view of several inputs).
    """
    _check_names(graph)
    end = len(lowered)
    root, region = _storages(graph, lowered)
    first = dict.fromkeys(graph.inputs, -1)
    last = dict.fromkeys(graph.inputs, -1)
    size: dict[str, int] = {name: graph.type(name).nbytes for name in root if root[name] == name}
    tasks = []
    for time, low in enumerate(lowered):
        node, access = low.node, low.offer.access
        reads = tuple(None if n is None or region[root[n]] != "arena" else root[n] for n in node.inputs)
        writes = tuple(root[n] for n in node.outputs)
        for name in (*reads, *writes):
            if name is not None:
                first.setdefault(name, time)
                last[name] = time
        if low.offer.view:
            tasks.append(Task(node.name, (), (), None))
            continue
        _check(low)
        assert access is not None
        for name, span in zip(writes, access.writes, strict=True):
            size[name] = max(size[name], int(span.high.max(initial=0)))
        tasks.append(Task(node.name, reads, writes, access))

    outputs, stashes, stores = _ends(graph, root, region)
    for copy in (*outputs, *stashes):
        first[copy.target] = last[copy.target] = end
        size[copy.target] = copy.size
    for name in graph.outputs:
        if region[root[name]] == "arena":
            last[root[name]] = end
    for copy in stores:
        if copy.source == "arena" and copy.value in root:
            last[root[copy.value]] = end

    kept = {copy.value: copy.target for copy in outputs}
    items = [
        Item(name, size[name], align_of(graph, belongs_to(name)), first[name], last[name])
        for name in first
        if region.get(name, "arena") == "arena"
    ]
    items += [
        Item(scratch_name(low.node.name), low.offer.scratch_bytes, SCRATCH_ALIGN, time, time, scratch=True)
        for time, low in enumerate(lowered)
        if low.offer.scratch_bytes
    ]
    return Liveness(
        root,
        region,
        tuple(items),
        tuple(tasks),
        tuple(kept.get(name, root[name]) for name in graph.outputs),
        (*outputs, *stashes, *stores),
    )


def _check_names(graph: Graph) -> None:
    """A NUL in front marks the planner's own items, so no value may have one; C and files could not show it either."""
    bad = [name for name in graph.values if "\0" in name]
    if bad:
        raise InputError([Problem(f"value {name!r}", "has a NUL character in its name") for name in bad])


def _storages(graph: Graph, lowered: Sequence[Lowered]) -> tuple[dict[str, str], dict[str, Region]]:
    """Root of every value, region of every root."""
    root = {name: name for name in graph.values}
    region: dict[str, Region] = dict.fromkeys(graph.values, "arena")
    region.update({name: "flash" for name, value in graph.values.items() if value.data is not None})
    region.update({state.read: "state" for state in graph.states})
    for low in lowered:
        if low.offer.view:
            present = [name for name in low.node.inputs if name is not None and graph.constant(name) is None]
            if len(present) != 1 or len(low.node.outputs) != 1:
                raise InternalError(Problem(f"node {low.node.name!r}", "a view has one input and one output"))
            root[low.node.outputs[0]] = root[present[0]]
    return root, region


def _check(low: Lowered) -> None:
    """An offer that makes a call declares one span an input and one an output."""
    node, access = low.node, low.offer.access
    where = f"node {node.name!r}, kernel {low.offer.kernel}"
    if access is None or low.offer.call is None:
        raise InternalError(Problem(where, "the offer has no call or declares no access"))
    if len(access.reads) != len(node.inputs) or len(access.writes) != len(node.outputs):
        counts = f"{len(access.reads)} reads and {len(access.writes)} writes"
        raise InternalError(
            Problem(where, f"declares {counts}, the node has {len(node.inputs)} and {len(node.outputs)}")
        )


def _ends(graph: Graph, root: dict[str, str], region: dict[str, Region]) -> tuple[list[Copy], list[Copy], list[Copy]]:
    """Copies at the end of a run: outputs that do not lie in the arena, states that feed other states, state writes.

    All reads of old state content come before the first state is written, so that states may feed each other.
    """
    outputs, stashes, stores = [], [], []
    for name in dict.fromkeys(graph.outputs):
        place = region[root[name]]
        if place != "arena":
            outputs.append(Copy(name, place, output_name(name), "arena", graph.type(name).nbytes))
    for state in graph.states:
        source, nbytes = root[state.write], graph.type(state.read).nbytes
        if source == state.read:
            continue
        if region[source] == "state":
            stash = stash_name(state.read)
            stashes.append(Copy(state.write, "state", stash, "arena", nbytes))
            stores.append(Copy(stash, "arena", state.read, "state", nbytes))
        else:
            stores.append(Copy(state.write, region[source], state.read, "state", nbytes))
    return outputs, stashes, stores
