"""Branches and loops that are known while importing: a branch that is chosen, a loop that is written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Known, Results, Source, folds, normal_axis, refuse, translates
from tinydeploy.frontends.onnx_graphs import RawGraph
from tinydeploy.ir import Array
from tinydeploy.ops._op import Signature

MAX_ITERATIONS = 4096
CHEAP_ELEMENTS = 1 << 16  # of all results of a branch that is computed although it may not be taken


def _body(call: Call, name: str) -> RawGraph:
    graph = call.attribute(name)
    if not isinstance(graph, RawGraph):
        raise refuse(f"has no graph {name!r}")
    return graph


def _walk(call: Call, graph: RawGraph, given: tuple[Known, ...]) -> Results:
    assert call.walk is not None
    return call.walk(graph, given)


def _truth(data: Array, role: str) -> bool:
    if data.size != 1:
        raise refuse(f"{role} has shape {list(data.shape)}", "it is one bool")
    return bool(data.ravel()[0])


@translates("If", keep=True)
@folds("If")
def if_(call: Call) -> Results:
    """The branch that a constant chooses; both, and a choice, where they are cheap. Source: ONNX If-25."""
    branches = _body(call, "then_branch"), _body(call, "else_branch")
    if call.is_constant(0):
        return _walk(call, branches[0 if _truth(call.constant(0, "cond"), "cond") else 1], ())
    first = len(call.builder.graph.nodes)
    then, other = (_walk(call, branch, ()) for branch in branches)
    graph = call.builder.graph
    new = graph.nodes[first:]
    work = sum(node.op.macs(Signature.of(graph, node)) for node in new)
    work += sum(graph.type(name).size for node in new for name in node.outputs)
    if work > CHEAP_ELEMENTS:
        rule = "a branch is chosen by a constant, or both are cheap enough to compute"
        raise refuse(f"cond {call.sources[0]!r} is computed at run time", rule, "fix it when exporting")
    return tuple(_choice(call, *pair) for pair in zip(then, other, strict=True))


def _choice(call: Call, then: Source, other: Source) -> str:
    a, b = (source if isinstance(source, str) else call.hold(source, "branch") for source in (then, other))
    if call.type(a) != call.type(b):
        raise refuse(f"its branches give {call.type(a)} and {call.type(b)}", "branches give tensors of equal types")
    return call.emit("select", call.reshape(call.value(0), ()), a, b)


@translates("Loop", keep=True)
@folds("Loop")
def loop(call: Call) -> Results:
    """Written out: the trip count is a constant, or the condition is one in every iteration. Source: ONNX Loop-25.

    The body takes the iteration's number, the condition and what is carried; it gives the condition, what is carried on
    and one slice of each scan output.
    """
    body = _body(call, "body")
    limit = call.integers(0, "trip count")
    count = MAX_ITERATIONS + 1 if limit is None else max(limit[0], 0)
    cond: Known = call.constant(1, "condition").reshape(()) if call.has(1) else np.asarray(True)
    carried: list[Known] = list(call.sources[2:])
    slices: list[list[Source]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    for number in range(count):
        if isinstance(cond, str):
            raise refuse("goes on by a condition that is computed at run time", "the trip count is known")
        if cond is not None and not _truth(cond, "condition"):
            break
        if number >= MAX_ITERATIONS:
            raise refuse(f"has more than {MAX_ITERATIONS} iterations", "loops are written out")
        results = _walk(call, body, (np.asarray(number, np.int64), cond, *carried))
        cond, carried = results[0], list(results[1 : 1 + len(carried)])
        for column, result in zip(slices, results[1 + len(carried) :], strict=True):
            column.append(result)
    if any(not column for column in slices):
        raise refuse("does nothing, so that its scan outputs are empty", "tensors have elements")
    return (*(_present(call, source) for source in carried), *(_stack(call, column, 0) for column in slices))


def _present(call: Call, source: Known) -> Source:
    if source is None:
        raise refuse("carries a value that is absent")
    return source


def _stack(call: Call, parts: list[Source], axis: int) -> Source:
    """Results of the iterations along a new axis."""
    arrays = [part for part in parts if not isinstance(part, str)]
    if len(arrays) == len(parts):
        return np.stack(arrays, axis)
    rows = []
    for part in parts:
        name = part if isinstance(part, str) else call.hold(part, "slice")
        shape = call.type(name).shape
        place = normal_axis(axis, len(shape), extra=1)
        rows.append(call.reshape(name, (*shape[:place], 1, *shape[place:])))
    return rows[0] if len(rows) == 1 else call.emit("concat", *rows, axis=normal_axis(axis, call.type(rows[0]).rank))


@translates("Scan", keep=True)
@folds("Scan")
def scan(call: Call) -> Results:
    """Written out, one iteration for each element along the scanned axis. Source: ONNX Scan-25; Scan-8 has batches."""
    body = _body(call, "body")
    count = call.attribute("num_scan_inputs", 0)
    if not 1 <= count <= len(call.sources):
        raise refuse(f"num_scan_inputs is {count}", "at least one, and no more than there are inputs")
    if call.opset < 9:
        return _scan_batches(call, body, count)
    states, scanned = list(call.sources[:-count]), list(call.sources[-count:])
    outputs = len(body.outputs) - len(states)
    backwards = call.attribute("scan_input_directions", (0,) * count)
    axes = call.attribute("scan_input_axes", (0,) * count)
    turned = call.attribute("scan_output_directions", (0,) * outputs)
    out_axes = call.attribute("scan_output_axes", (0,) * outputs)
    return _scan(call, body, states, scanned, (axes, backwards), (out_axes, turned))


def _scan_batches(call: Call, body: RawGraph, count: int) -> Results:
    """Scan-8: an optional input of lengths comes first, and axis 0 of everything else is a batch."""
    if call.has(0):
        raise refuse("has sequence lengths", "sequences have equal lengths")
    sources = call.sources[1:]
    directions = call.attribute("directions", (0,) * count)
    size = _shape(call, sources[0])[0]
    outputs = len(body.outputs) - (len(sources) - count)
    rows = []
    for batch in range(size):
        parts = [_take(call, source, 0, batch) for source in sources]
        axes, plain = (0,) * count, (0,) * outputs
        rows.append(_scan(call, body, parts[:-count], parts[-count:], (axes, directions), (plain, plain)))
    return tuple(_stack(call, list(column), 0) for column in zip(*rows, strict=True))


def _scan(
    call: Call, body: RawGraph, states: list[Any], scanned: list[Any], inputs: tuple[Any, Any], outputs: tuple[Any, Any]
) -> Results:
    """``inputs``, ``outputs``: axes and directions (1: from the end) of what is scanned and of what is made."""
    axes = [normal_axis(axis, len(_shape(call, x))) for axis, x in zip(inputs[0], scanned, strict=True)]
    lengths = {_shape(call, x)[axis] for x, axis in zip(scanned, axes, strict=True)}
    if len(lengths) != 1 or max(lengths) > MAX_ITERATIONS:
        raise refuse(f"scans {sorted(lengths)} elements", f"equally many of each input, at most {MAX_ITERATIONS}")
    (length,) = lengths
    columns: list[list[Source]] = [[] for _ in range(len(body.outputs) - len(states))]
    for number in range(length):
        places = [length - 1 - number if backwards else number for backwards in inputs[1]]
        rows = [_take(call, x, axis, at) for x, axis, at in zip(scanned, axes, places, strict=True)]
        results = _walk(call, body, (*states, *rows))
        states = list(results[: len(states)])
        for column, result in zip(columns, results[len(states) :], strict=True):
            column.append(result)
    made = [
        _stack(call, column[::-1] if turned else column, axis)
        for column, axis, turned in zip(columns, *outputs, strict=True)
    ]
    return (*states, *made)


def _shape(call: Call, source: Known) -> tuple[int, ...]:
    if source is None:
        raise refuse("an input is absent", "it is required")
    return call.type(source).shape if isinstance(source, str) else tuple(source.shape)


def _take(call: Call, source: Known, axis: int, index: int) -> Source:
    """One slice along an axis, without that axis."""
    shape = _shape(call, source)
    if not isinstance(source, str):
        assert source is not None
        return np.asarray(np.take(source, index, axis))
    begin, end = [0] * len(shape), list(shape)
    begin[axis], end[axis] = index, index + 1
    ones = (1,) * len(shape)
    piece = call.emit("strided_slice", source, begin=tuple(begin), end=tuple(end), stride=ones)
    return call.reshape(piece, (*shape[:axis], *shape[axis + 1 :]))
