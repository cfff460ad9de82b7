"""Every pass, in its place and all of them together, keeps what random graphs compute."""

from __future__ import annotations

import collections
import importlib

import pytest

from tests.unit.passes.graphs import assert_same, operators, random_graph
from tinydeploy import passes

SEEDS = range(60)
# For what only files hold, and tested with those: test_onnx_quantised.py, test_last_step.py, test_tflite_files.py.
OF_FILES = ("fold_qdq", "last_step", "widen_weights")


@pytest.mark.parametrize("seed", SEEDS)
def test_all_passes(seed: int) -> None:
    graph = random_graph(seed)
    better = passes.optimise(graph)
    assert_same(graph, better, 2e-5)
    assert "batch_norm" not in operators(better)
    assert passes.optimise(better).nodes == better.nodes, "a second run finds nothing"


def test_each_pass() -> None:
    changes: collections.Counter[str] = collections.Counter()
    for seed in SEEDS:
        graph = random_graph(seed)
        for name in passes.names():
            module = importlib.import_module(f"tinydeploy.passes.{name}")
            after = graph.copy()
            module.requires(after)
            changes[name] += module.run(after)
            after.prune()
            module.ensures(after)
            if after.nodes != graph.nodes:
                assert_same(graph, after, 2e-5)
            graph = after
    missed = [name for name in passes.names() if not changes[name] and name not in OF_FILES]
    assert not missed, f"the random graphs do not exercise {missed}"
