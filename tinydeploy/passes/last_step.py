"""Recurrent layers of which only the last step is read keep only that one: the others need no memory. Exact."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.ir import Graph, Node
from tinydeploy.ir.types import Array
from tinydeploy.ops.reshape import Reshape
from tinydeploy.passes._edit import promise, sole_consumer, sweep

_LAYERS = ("lstm", "gru", "rnn", "unidirectional_sequence_lstm")
_MOVERS = ("reshape", "transpose", "strided_slice", "gather")
_MAX_ELEMENTS = 1 << 22  # followed one by one


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Give readers of the last step the state, and shorten the sequence where nothing else reads it."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """No layer makes steps that nobody reads."""
    left = [node.name for node in graph.nodes if _is_long(graph, node) and not graph.consumers(node.outputs[0])]
    left = [name for name in left if not graph.is_kept(_node(graph, name).outputs[0])]
    promise(not left, graph, f"steps that nobody reads: {left}")


def _node(graph: Graph, name: str) -> Node:
    return next(node for node in graph.nodes if node.name == name)


def _is_long(graph: Graph, node: Node) -> bool:
    return node.op.name in _LAYERS and node.op.every_step and graph.type(node.outputs[0]).shape[0] > 1


def _rewrite(graph: Graph, node: Node) -> bool:
    y, kind = node.outputs[0], graph.type(node.outputs[0])
    if not _is_long(graph, node) or graph.is_kept(y) or kind.size > _MAX_ELEMENTS:
        return False
    state = node.outputs[1]
    if graph.type(state).quant != kind.quant:
        return False
    ends = [_end(graph, reader, y) for reader in graph.consumers(y)]
    found = [end for end in ends if end is not None]
    if len(found) < len(ends):
        return False
    for end in found:
        end.op, end.inputs = Reshape(shape=graph.type(end.outputs[0]).shape), (state,)
    # The sequence has no readers left but movers on the way, which go with it.
    node.op = dataclasses.replace(node.op, every_step=False)
    graph.values[y].type = kind.with_shape((1, *kind.shape[1:]))
    _drop_readers(graph, y)
    return True


def _end(graph: Graph, reader: Node, y: str) -> Node | None:
    """The node that picks just the last step, reached from a reader through others that move elements; else None."""
    shape = graph.type(y).shape
    last = shape[1] * shape[2]
    places: Array = np.arange(shape[0] * last).reshape(shape)
    wanted = places[-1].ravel()
    node, name = reader, y
    while node.op.name in _MOVERS and node.inputs[0] == name:
        others = [graph.constant(other) for other in node.inputs[1:]]
        if any(data is None for data in others):
            return None
        places = node.op.reference(places, *others)[0]
        if places.size == last:
            return node if np.array_equal(places.ravel(), wanted) else None
        name = node.outputs[0]
        following = None if graph.is_kept(name) else sole_consumer(graph, name)
        if following is None:
            return None
        node = following
    return None


def _drop_readers(graph: Graph, name: str) -> None:
    """Remove nodes that read a value and whose own results nobody reads."""
    for reader in graph.consumers(name):
        _drop_readers(graph, reader.outputs[0])
        graph.remove_node(reader)
