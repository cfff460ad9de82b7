"""Turns a float graph into a quantised one: ranges from calibration, then types, constants and rescaling nodes."""

from __future__ import annotations

from collections.abc import Mapping

from tinydeploy.errors import Problem, UsageError
from tinydeploy.ir import Array, Elem, Graph, Quant, Type
from tinydeploy.ir.types import dequantise
from tinydeploy.ir.verify import verify
from tinydeploy.quant import feeds, lint
from tinydeploy.quant import groups as tied
from tinydeploy.quant.calibrate import collect
from tinydeploy.quant.ranges import DEFAULT_RANGES, RANGES
from tinydeploy.quant.rewrite import Rewriter
from tinydeploy.quant.schemes import Scheme, find
from tinydeploy.quant.statistics import Statistics


def quantise(graph: Graph, level: str, calibration: Mapping[str, Array] | None, *, ranges: str | None = None) -> Graph:
    """Return ``graph`` at a level; the argument is not changed.

    ``level``: ``float32`` (the graph as it is) or a scheme's level. ``calibration``: real samples by input name, or
    ``x`` for a single input, samples ahead of the input's shape (and steps, for a model with state); a missing batch
    axis of 1 is added. ``ranges``: how activation ranges follow from it, one of `RANGES` (default "mse"). What looks
    wrong with the calibration data is added to the graph's warnings.

    A graph that is quantised already is returned as it is.
    Raises: UsageError (unknown level or ``ranges``, level other than a quantised graph's own, no calibration data),
    InputError (calibration data that cannot be used).
    """
    ranges = ranges or DEFAULT_RANGES
    if ranges not in RANGES:
        raise UsageError(Problem(f"ranges {ranges!r}", "there is no such way", f"one of {', '.join(RANGES)}"))
    if graph.is_quantised():
        _require_level(graph, level)
        return graph
    if level == "float32":
        return graph
    graph = _with_real_constants(graph)
    scheme = find(level)
    if calibration is None:
        raise UsageError(
            Problem(
                graph.name,
                f"a float model is quantised to {level} with representative inputs, and none were given",
                "some tens to hundreds of real samples of every class, as the model sees them in use",
                "--calibration samples.npz, with one array an input (`tinydeploy inspect` prints names and shapes); or "
                "--quantize float32",
            )
        )
    samples = feeds.fit(graph, calibration, "calibration")
    integer = [node for node in graph.nodes if tied.runs_in_integers(graph, node)]
    groups = tied.find(graph, integer, scheme)
    statistics, votes = collect(graph, samples, groups.parents)
    quants = _choose(graph, groups, statistics, scheme, ranges)
    means = {name: statistics[name].channel_means() for name in statistics}
    result = Rewriter(graph, scheme, {node.name for node in integer}, quants, means).run()
    result.warnings += lint.warnings(graph, samples) + lint.class_warnings(graph, votes, samples)
    verify(result, "quantise")
    return result


def _with_real_constants(graph: Graph) -> Graph:
    """A float graph whose weights are stored as integers to save space (hybrid files), with those made real."""
    if all(value.type.quant is None for value in graph.values.values()):
        return graph
    result = graph.copy()
    for value in result.values.values():
        if value.data is not None and value.type.quant is not None:
            value.data = dequantise(value.data, value.type)
            value.type = Type(value.type.shape, Elem.F32)
    return result


def _choose(
    graph: Graph, groups: tied.Groups, statistics: dict[str, Statistics], scheme: Scheme, ranges: str
) -> dict[str, Quant]:
    """Quantisation by value name; values of one group get one."""
    tied_constants = _tied_constants(graph, groups)
    quants: dict[str, Quant] = {}
    for root, members in groups.members().items():
        quant = groups.fixed.get(root)
        if quant is None:
            total = Statistics()
            for name in members:
                total.merge(statistics[name])
            for data in tied_constants.get(root, []):
                total.add(data)
            low, high = RANGES[ranges](total, scheme.activations)
            quant = scheme.activations.quant(low, high)
        quants.update(dict.fromkeys(members, quant))
    return quants


def _tied_constants(graph: Graph, groups: tied.Groups) -> dict[str, list[Array]]:
    """Constants that are joined with a group's values (concatenation), by root."""
    found: dict[str, list[Array]] = {}
    for node in graph.nodes:
        if node.op.quant.ties and node.outputs[0] in groups.parents:
            data = (graph.constant(name) for name in node.inputs)
            found.setdefault(groups.root(node.outputs[0]), []).extend(
                d for d in data if d is not None and d.dtype.kind == "f"
            )
    return found


def _require_level(graph: Graph, level: str) -> None:
    wide = any(value.type.quant is not None and value.type.elem is Elem.S16 for value in graph.values.values())
    own = "int16x8" if wide else "int8"
    if level != own:
        raise UsageError(
            Problem(
                graph.source.file if graph.source else graph.name,
                f"the model is quantised already, to {own}; it cannot be converted to {level}",
                "a quantised model keeps its own scales",
                "start from the float model to get another level",
            )
        )
