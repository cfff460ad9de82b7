"""Runs the float graph over calibration samples in chunks and gathers statistics of every activation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Array, Elem, Graph
from tinydeploy.ops.execute import run_float
from tinydeploy.quant.statistics import Statistics

_CHUNK_BYTES = 64 << 20


def collect(
    graph: Graph, feeds: dict[str, Array], names: Iterable[str]
) -> tuple[dict[str, Statistics], dict[str, Array]]:
    """Statistics of the values ``names`` (float32, not constant) over all samples of ``feeds``, and class votes.

    ``feeds``: arrays by input name, samples ahead of the value's shape, or samples and steps for a model with state.
    The votes are the arg-max over all values of each graph output, one a sample.
    Raises: InputError naming the first nodes whose result is not finite.
    """
    wanted = sorted(names)
    steps = has_steps(graph, feeds)
    statistics = {name: Statistics() for name in wanted}
    votes: dict[str, list[Array]] = {name: [] for name in graph.outputs}
    for chunk in chunks(graph, feeds):
        results = run_float(graph, chunk, keep=wanted, steps=steps)
        _require_finite(graph, results, wanted)
        for name in wanted:
            statistics[name].add(results[name])
        for name in graph.outputs:
            votes[name].append(results[name].reshape(len(results[name]), -1).argmax(axis=1))
    for state in graph.states:
        if state.read in statistics:
            statistics[state.read].add(state.initial)
    return statistics, {name: np.concatenate(parts) for name, parts in votes.items()}


def has_steps(graph: Graph, feeds: dict[str, Array]) -> bool:
    """True if the samples are sequences: a steps axis between the sample axis and the value's own axes."""
    return any(np.ndim(array) == graph.type(name).rank + 2 for name, array in feeds.items())


def chunks(graph: Graph, feeds: dict[str, Array]) -> Iterable[dict[str, Array]]:
    """Cut the samples so that all activations of a chunk fit into some tens of megabytes."""
    a_run = sum(value.type.size * 4 for value in graph.values.values() if value.data is None)
    name, array = next(iter(feeds.items()))
    runs = array.size // max(len(array), 1) // max(graph.type(name).size, 1)
    size = max(1, _CHUNK_BYTES // max(a_run * runs, 1))
    for start in range(0, len(array), size):
        yield {key: data[start : start + size] for key, data in feeds.items()}


def _require_finite(graph: Graph, results: dict[str, Array], names: list[str]) -> None:
    bad = {name for name in names if graph.type(name).elem is Elem.F32 and not np.isfinite(results[name]).all()}
    if not bad:
        return
    first = next((node for node in graph.nodes if bad & set(node.outputs)), None)
    where = "calibration" if first is None else first.origin or f"node '{first.name}'"
    raise InputError(
        Problem(
            where,
            "the float model gives NaN or infinity here on the calibration samples",
            "activations are finite, so that they have a range",
            "check the scale of the calibration data, and the model in its own framework",
        )
    )
