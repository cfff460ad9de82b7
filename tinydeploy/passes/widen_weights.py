"""Operators on real numbers that have no kernel for integer weights get real ones. Exact."""

from __future__ import annotations

from tinydeploy.ir import Graph
from tinydeploy.passes._edit import sweep
from tinydeploy.passes.fold_qdq import widen


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Dequantise their weights."""
    return sweep(graph, widen)


def ensures(graph: Graph) -> None:
    """The graph is whole."""
