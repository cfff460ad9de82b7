"""The outputs of every node as the device computes them: which node is the first that differs from the twin."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.ops import execute
from tinydeploy.target.board import Board
from tinydeploy.target.toolchain import build_firmware, build_host
from tinydeploy.validation import compare
from tinydeploy.validation.check import Samples
from tinydeploy.validation.compare import Mismatch
from tinydeploy.validation.host import run_host
from tinydeploy.validation.qemu import run_qemu
from tinydeploy.validation.stream import Event

SAMPLES = 4  # traced at most, beside one that is known to differ
BUDGET = 2**26  # bytes of a trace


@dataclasses.dataclass(frozen=True)
class NodeTrace:
    """A node's outputs on the device and in the twin.

    ``first``: the first element that differs, its index beginning with the sample's place in the data (then the step).
    ``step``: the earliest step at which any sample differs. ``max_rel_error``: of float outputs.
    """

    first: Mismatch | None
    step: int | None
    max_rel_error: float | None

    @property
    def exact(self) -> bool:
        """True if nothing differs."""
        return self.first is None


@dataclasses.dataclass(frozen=True)
class Trace:
    """What was traced: places of the samples in the data, and nodes by name in order of execution, without views."""

    samples: tuple[int, ...]
    nodes: dict[str, NodeTrace]

    @property
    def first_differing(self) -> str | None:
        """The node where a difference comes from: the first one of the earliest step that has any."""
        order = enumerate(self.nodes.items())
        found = [(node.step, place, name) for place, (name, node) in order if node.step is not None]
        return min(found)[2] if found else None

    def annotate(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of `check.per_layer`, each with ``exact`` and ``first_difference`` (None for a view, which computes
        nothing), in order of execution as far as nodes were traced.
        """
        annotated = []
        for row in rows:
            node = self.nodes.get(row["name"])
            first = None if node is None or node.first is None else dataclasses.asdict(node.first)
            annotated.append({**row, "exact": None if node is None else node.exact, "first_difference": first})
        return annotated


def run(
    folder: Path,
    manifest: Mapping[str, Any],
    graph: Graph,
    board: Board,
    samples: Samples,
    *,
    differing: tuple[int, ...] | None = None,
    sanitize: bool = False,
    opt: str = "-O2",
    timeout: float = 600,
) -> Trace:
    """Build the project in ``folder`` so that it records every node, run it on a few samples, compare with the twin.

    ``graph``: the quantised graph of ``manifest``. ``differing``: index of an output's element that is known to differ
    (sample, then step); that sample is traced up to that step at least. Otherwise as `pipeline.validate`.

    Raises: InputError (a folder of an older version), BoardError, ToolError, ValidationError.
    """
    by_name = {node.name: node for node in graph.nodes}
    nodes = [(place, by_name[entry["name"]]) for place, entry in enumerate(manifest["nodes"]) if entry.get("function")]
    events = [Event(place, graph.type(name).nbytes) for place, node in nodes for name in node.outputs]
    if not events:
        return Trace((), {})
    chosen, fed = _choose(samples, sum(event.bytes for event in events), differing)
    if board.kind == "host":
        program = build_host(folder, sanitize=sanitize, opt=opt, trace=True)
        done = run_host(program, manifest, fed, timeout=timeout, events=events)
    else:
        built = build_firmware(folder, board, opt=opt, trace=True)
        done = run_qemu(built, board, fed, timeout=timeout, events=events)
    names = [name for _, node in nodes for name in node.outputs]
    twin = execute.run_integer(graph, fed, keep=names, steps=samples.steps)
    device = {
        name: data.view(graph.type(name).elem.dtype.newbyteorder("<")).reshape(twin[name].shape)
        for name, data in zip(names, done.events, strict=True)
    }
    return Trace(chosen, {node.name: _compare(node, device, twin, chosen, samples.steps) for _, node in nodes})


def _choose(samples: Samples, size: int, differing: tuple[int, ...] | None) -> tuple[tuple[int, ...], dict[str, Array]]:
    """Places of the samples to trace, and what is fed. ``size``: bytes a step; the budget cuts samples, then steps."""
    length = next(iter(samples.fed.values())).shape[1] if samples.steps else 1
    needed = 1 if differing is None or not samples.steps else differing[1] + 1
    wanted = [] if differing is None else [differing[0]]
    wanted += [place for place in range(min(SAMPLES, samples.count)) if place not in wanted]
    affordable = max(1, BUDGET // size)
    chosen = tuple(sorted(wanted[: max(1, affordable // length)]))
    fed = {name: array[list(chosen)] for name, array in samples.fed.items()}
    if samples.steps:
        fed = {name: array[:, : max(affordable, needed)] for name, array in fed.items()}
    return chosen, fed


def _compare(
    node: Node, device: dict[str, Array], twin: dict[str, Array], chosen: tuple[int, ...], steps: bool
) -> NodeTrace:
    """Compare the outputs of one node."""
    first: Mismatch | None = None
    steps_seen: list[int] = []
    error: float | None = None
    for name in node.outputs:
        found = compare.exactness({name: device[name]}, {name: twin[name]}).first
        if twin[name].dtype.kind == "f":
            error = max(error or 0.0, compare.max_relative_error(device[name], twin[name]))
        if found is None:
            continue
        first = first or dataclasses.replace(found, index=(chosen[found.index[0]], *found.index[1:]))
        where = np.argwhere(compare.differs(device[name], twin[name]))
        steps_seen.append(int(where[:, 1].min()) if steps else 0)
    return NodeTrace(first, min(steps_seen, default=None), error)
