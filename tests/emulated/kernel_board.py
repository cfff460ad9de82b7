"""Runs many one-node cases on an emulated board in one firmware: equal to the twin, instructions counted by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tests.conformance.harness import Case
from tinydeploy.emit.folder import project
from tinydeploy.ir import Graph, Node, Value
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext, Lowered, Offer
from tinydeploy.ops.execute import run_integer
from tinydeploy.plan import plan
from tinydeploy.target.board import load_board
from tinydeploy.target.toolchain import build_firmware
from tinydeploy.validation.qemu import run_qemu
from tinydeploy.validation.run import NodeCount

Choose = Callable[[list[Offer]], Offer]


def merge(cases: Sequence[Case]) -> tuple[Graph, dict[str, np.ndarray]]:
    """All cases as one graph of independent nodes; a case's names get its number in front."""
    graph, feeds = Graph("kernels"), {}
    for number, case in enumerate(cases):

        def new(name: str | None, number: int = number) -> str | None:
            return None if name is None else f"k{number}_{name}"

        for value in case.graph.values.values():
            graph.values[new(value.name)] = Value(new(value.name), value.type, value.data)
        node = case.graph.nodes[0]
        inputs, outputs = tuple(new(n) for n in node.inputs), tuple(new(n) for n in node.outputs)
        graph.nodes.append(Node(f"k{number}", node.op, inputs, outputs))
        graph.inputs += [new(n) for n in case.graph.inputs]
        graph.outputs += [new(n) for n in case.graph.outputs]
        feeds.update({new(name): array for name, array in case.feeds.items()})
    return graph, feeds


def run(
    cases: Sequence[Case],
    cpu: str,
    board: str,
    folder: Path,
    choose: Choose,
    opt: str = "-O2",
    profile: bool = False,
    flags: Sequence[str] = (),
    optimize: str = "balanced",
) -> list[NodeCount]:
    """Counts of every case's node (none without ``profile``). Fails with the cases that differ from the twin."""
    graph, feeds = merge(cases)
    target = target_for(cpu, optimize)
    lowered = [Lowered(node, choose(offers_for(LowerContext(graph, node, target)))) for node in graph.nodes]
    project(graph, plan(graph, lowered, target), target=target, name="kernels").write(folder / "kernels")
    machine = load_board(board)
    build = build_firmware(folder / "kernels", machine, opt=opt, extra_flags=flags)
    result = run_qemu(build, machine, feeds, profile=profile)
    wanted = run_integer(graph, feeds)
    faults = []
    for number, case in enumerate(cases):
        for name in (f"k{number}_{n}" for n in case.graph.outputs):
            got, right = result.outputs[name].reshape(wanted[name].shape), wanted[name]
            if not np.array_equal(got, right, equal_nan=right.dtype.kind == "f"):
                offer = lowered[number].offer
                bad = np.argwhere(got != right)
                at = tuple(int(i) for i in bad[0])
                faults.append(
                    f"{case.label} [{offer.kernel}: {offer.note}]: {len(bad)} of {right.size} differ,"
                    f" first at {at}: {got[at]}, should be {right[at]}"
                )
    assert not faults, "\n".join([f"{len(faults)} of {len(cases)} cases differ on {board}:", *faults[:40]])
    if result.counts is None:
        return []
    return list(result.counts.per_node)
