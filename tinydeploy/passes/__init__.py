"""Rewrites of a graph that keep its meaning: less work, channels last, fewer operators.

A pass is a module with ``requires(graph)`` (raises InternalError where it cannot work), ``run(graph)`` (changes the
graph in place, True if anything changed) and ``ensures(graph)`` (raises InternalError unless it did its job).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from tinydeploy.errors import InternalError, Problem, UsageError
from tinydeploy.ir import Graph
from tinydeploy.ir.text import to_text
from tinydeploy.ir.verify import verify
from tinydeploy.passes.order import STAGES, Stages

MAX_ROUNDS = 100


class Pass(Protocol):
    """What a pass's module holds."""

    def requires(self, graph: Graph) -> None:
        """Raise InternalError if the graph is not what the pass expects."""

    def run(self, graph: Graph) -> bool:
        """Change the graph in place; True if anything changed."""

    def ensures(self, graph: Graph) -> None:
        """Raise InternalError if the pass did not do its job."""


def names() -> tuple[str, ...]:
    """All passes, in the order of their first run."""
    return tuple(dict.fromkeys(name for stage in STAGES for name in stage))


def optimise(
    graph: Graph, *, stages: Stages = STAGES, dump_after: str | None = None, dump: Callable[[str], None] = print
) -> Graph:
    """Run all passes on a copy of ``graph`` and return it; the graph is checked after each of them.

    ``stages``: only these of `order.STAGES`.
    ``dump_after``: a pass after whose last run ``dump`` is given the graph as text.
    Raises: UsageError for an unknown pass, InternalError if a pass breaks its promise.
    """
    if dump_after is not None and dump_after not in names():
        raise UsageError(Problem(f"--dump-after {dump_after}", "no such pass", hint=f"one of {', '.join(names())}"))
    result = graph.copy()
    result.prune()
    text = ""
    for stage in stages:
        for _ in range(MAX_ROUNDS):
            changed = False
            for name in stage:
                changed = _apply(name, result) or changed
                if name == dump_after:
                    text = to_text(result)
            if not changed:
                break
        else:
            raise InternalError(Problem(f"graph {graph.name!r}", f"passes do not come to rest in {MAX_ROUNDS} rounds"))
    if dump_after is not None:
        dump(text)
    return result


def _apply(name: str, graph: Graph) -> bool:
    module = cast(Pass, importlib.import_module(f"{__name__}.{name}"))
    module.requires(graph)
    changed = module.run(graph)
    if changed:
        graph.prune()
        verify(graph, name)
        module.ensures(graph)
    return changed
