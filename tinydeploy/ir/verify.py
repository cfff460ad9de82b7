"""Checks that a graph is whole: run after every pass, so that a fault is found where it was made."""

from __future__ import annotations

from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir.graph import Graph, Node

MAX_RANK = 6


def verify(graph: Graph, after: str = "") -> None:
    """Check names, order, types and constants of ``graph``.

    Raises: InternalError with every fault found; ``after`` names the pass that ran last.
    """
    faults = list(_faults(graph))
    if faults:
        where = f"graph {graph.name!r}" + (f" after {after}" if after else "")
        raise InternalError([Problem(where, fault) for fault in faults])


def _faults(graph: Graph) -> list[str]:
    faults: list[str] = []
    known: set[str] = set()

    def need(name: str, role: str) -> bool:
        if name not in graph.values:
            faults.append(f"{role}: value {name!r} does not exist")
            return False
        return True

    for name in graph.inputs:
        if need(name, "graph input"):
            known.add(name)
            if graph.values[name].data is not None:
                faults.append(f"graph input {name!r} is a constant")
    for state in graph.states:
        if need(state.read, f"state {state.name!r}"):
            known.add(state.read)
            if tuple(state.initial.shape) != graph.type(state.read).shape:
                faults.append(f"state {state.name!r}: initial content has shape {tuple(state.initial.shape)}")
    for name, value in graph.values.items():
        if value.name != name:
            faults.append(f"value {name!r} calls itself {value.name!r}")
        if value.type.rank > MAX_RANK or any(d < 0 for d in value.type.shape):
            faults.append(f"value {name!r} has shape {value.type.shape}")
        if value.data is not None:
            known.add(name)
            if tuple(value.data.shape) != value.type.shape or value.data.dtype != value.type.elem.dtype:
                faults.append(f"constant {name!r} is {value.data.dtype}{value.data.shape}, its type says {value.type}")
        quant = value.type.quant
        if quant is not None and len(quant.scale) != len(quant.zero_point):
            faults.append(f"value {name!r}: {len(quant.scale)} scales and {len(quant.zero_point)} zero points")
        if quant is not None and quant.axis is not None and len(quant.scale) != value.type.shape[quant.axis]:
            faults.append(f"value {name!r}: {len(quant.scale)} scales on an axis of {value.type.shape[quant.axis]}")

    names: set[str] = set()
    for node in graph.nodes:
        if node.name in names:
            faults.append(f"two nodes are called {node.name!r}")
        names.add(node.name)
        whole = True
        for operand in node.inputs:
            if operand is not None and operand not in known:
                faults.append(f"node {node.name!r} reads {operand!r} before it is written")
                whole = False
        for name in node.outputs:
            whole = need(name, f"node {node.name!r}") and whole
            if name in known:
                faults.append(f"value {name!r} is written twice or is no node's to write")
            known.add(name)
        if whole:
            faults.extend(_type_faults(graph, node))
    for name in graph.outputs:
        if need(name, "graph output") and name not in known:
            faults.append(f"graph output {name!r} is never written")
    for state in graph.states:
        if need(state.write, f"state {state.name!r}") and state.write not in known:
            faults.append(f"state {state.name!r}: {state.write!r} is never written")
        elif graph.type(state.write).shape != graph.type(state.read).shape:
            faults.append(f"state {state.name!r}: reads {graph.type(state.read)}, writes {graph.type(state.write)}")
    return faults


def _type_faults(graph: Graph, node: Node) -> list[str]:
    inferred = node.op.infer(tuple(None if name is None else graph.type(name) for name in node.inputs))
    stated = tuple(graph.type(name) for name in node.outputs)
    if len(inferred) != len(stated):
        return [f"node {node.name!r} has {len(stated)} outputs, {node.op.name} makes {len(inferred)}"]
    return [
        f"node {node.name!r}: output {name!r} is {have}, {node.op.name} makes {want}"
        for name, have, want in zip(node.outputs, stated, inferred, strict=True)
        if have.shape != want.shape or have.elem is not want.elem
    ]
