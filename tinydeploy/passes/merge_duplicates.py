"""Keeps one of several equal constants, and one of several nodes that compute the same. Exact."""

from __future__ import annotations

import hashlib
from typing import Any

from tinydeploy.ir import Graph
from tinydeploy.passes._edit import promise


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Later readers get the first one's result; a result that is seen from outside keeps its own node."""
    before = len(graph.nodes), len(graph.values)
    first: dict[Any, str] = {}
    for name, value in list(graph.values.items()):
        if value.data is not None and not graph.is_kept(name):
            digest = hashlib.sha256(value.data.tobytes()).digest()
            kept = first.setdefault((value.type, digest), name)
            if kept != name:
                graph.replace_uses(name, kept)
                del graph.values[name]
    seen: dict[Any, tuple[str, ...]] = {}
    for node in list(graph.nodes):
        key = (node.op, node.inputs, tuple(graph.type(name) for name in node.outputs))
        twin = seen.setdefault(key, node.outputs)
        if twin is node.outputs or any(graph.is_kept(name) for name in node.outputs):
            continue
        for mine, other in zip(node.outputs, twin, strict=True):
            graph.replace_uses(mine, other)
        graph.remove_node(node)
    return (len(graph.nodes), len(graph.values)) != before


def ensures(graph: Graph) -> None:
    """No two nodes compute the same, unless both results are seen from outside."""
    keys = [
        (node.op, node.inputs, tuple(graph.type(name) for name in node.outputs))
        for node in graph.nodes
        if not any(graph.is_kept(name) for name in node.outputs)
    ]
    promise(len(keys) == len(set(keys)), graph, "nodes that compute the same are left")
