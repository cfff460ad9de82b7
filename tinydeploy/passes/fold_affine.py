"""Puts additions and multiplications by constants, one number a channel, into the weighted operator beside them.

A bias add after a matrix product becomes its bias. Float rounding changes by a few 1e-7 of the largest term, except
for a sum behind an operator without bias, which is exact. ``x - c`` becomes ``x + (-c)``, which is exact.
"""

from __future__ import annotations

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.ops.add import Add
from tinydeploy.passes import _affine
from tinydeploy.passes._edit import (
    bypass,
    channel_vector,
    float_constant,
    is_float,
    producer_of,
    replace_op,
    set_input,
    sole_consumer,
    sweep,
    unclamped,
)


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Fold until nothing more fits."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """The graph is whole."""


def _rewrite(graph: Graph, node: Node) -> bool:
    if node.op.name not in ("add", "sub", "mul") or not is_float(graph, node):
        return False
    place = next((i for i, name in enumerate(node.inputs) if graph.constant(name) is not None), None)
    if place is None or graph.constant(node.inputs[1 - place]) is not None:
        return False
    source, data = str(node.inputs[1 - place]), graph.constant(node.inputs[place])
    assert data is not None
    if node.op.name == "sub":
        if place == 0:
            return False
        negative = float_constant(graph, str(node.inputs[1]), -data)
        node.op = Add(clamp=node.op.clamp)
        set_input(node, 1, negative)
        return True
    if graph.type(source).shape != graph.type(node.outputs[0]).shape:
        return False
    return _backwards(graph, node, source, data) or _forwards(graph, node, source, data)


def _backwards(graph: Graph, node: Node, source: str, data: Array) -> bool:
    vector = channel_vector(data, graph.type(source).shape)
    host = producer_of(graph, source, *_affine.WEIGHTED)
    if host is None or vector is None or sole_consumer(graph, source) is not node:
        return False
    if not _affine.into_producer(graph, host, *_as_affine(node, vector)):
        return False
    replace_op(host, clamp=node.op.clamp)
    return bypass(graph, node, source)


def _forwards(graph: Graph, node: Node, source: str, data: Array) -> bool:
    """Into the next operator, also through one transpose that leads to it."""
    reader = sole_consumer(graph, node.outputs[0])
    if reader is None or not unclamped(node):
        return False
    if reader.op.name != "transpose":
        vector = channel_vector(data, graph.type(source).shape)
        fits = vector is not None and reader.inputs[0] == node.outputs[0]
        return fits and _affine.into_consumer(graph, reader, *_as_affine(node, vector)) and bypass(graph, node, source)
    perm, turn = reader.op.perm, reader
    full = data.reshape((1,) * (len(perm) - data.ndim) + data.shape).transpose(perm)
    vector = channel_vector(full, graph.type(turn.outputs[0]).shape)
    reader = sole_consumer(graph, turn.outputs[0])
    if reader is None or vector is None or reader.inputs[0] != turn.outputs[0]:
        return False
    return _affine.into_consumer(graph, reader, *_as_affine(node, vector)) and bypass(graph, node, source)


def _as_affine(node: Node, vector: Array | None) -> tuple[Array | None, Array | None]:
    return (vector, None) if node.op.name == "mul" else (None, vector)
