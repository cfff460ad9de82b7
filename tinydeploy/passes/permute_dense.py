"""Puts a transpose before a flattened input, or behind a folded output, of a dense layer into its weights. Exact.

The columns of the weights are permuted (sums of floats are then added up in another order: a float result may differ
in the last bits; integer sums do not).
"""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.ops.reshape import Reshape
from tinydeploy.passes._edit import (
    constant,
    float_constant,
    index_of,
    is_float,
    producer_of,
    set_input,
    sole_consumer,
    sweep,
)


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """transpose, reshape, fully_connected and fully_connected, reshape, transpose lose the transpose."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """The graph is whole."""


def _rewrite(graph: Graph, node: Node) -> bool:
    if node.op.name != "fully_connected" or graph.constant(node.inputs[1]) is None:
        return False
    return _input(graph, node) or _output(graph, node)


def _input(graph: Graph, node: Node) -> bool:
    flat = producer_of(graph, node.inputs[0], "reshape")
    turn = None if flat is None else producer_of(graph, flat.inputs[0], "transpose")
    weights_name = str(node.inputs[1])
    weights, quant = graph.constant(weights_name), graph.type(weights_name).quant
    if flat is None or turn is None or weights is None or (quant is not None and quant.axis == 1):
        return False
    order = _flat_order(graph.type(turn.outputs[0]).shape, turn.op.perm, weights.shape[1])
    if order is None:
        return False
    # Column k meets the element that lies at order[k] in front of the transpose.
    columns = np.empty_like(weights)
    columns[:, order] = weights
    name = graph.type(flat.outputs[0])
    index = index_of(graph, node)
    value = graph.add_value(f"{flat.outputs[0]}_flat", name)
    graph.add_node(f"{node.name}_reshape", Reshape(shape=name.shape), (turn.inputs[0],), outputs=(value,), index=index)
    set_input(node, 0, value)
    set_input(node, 1, constant(graph, weights_name, columns, quant))
    return True


def _output(graph: Graph, node: Node) -> bool:
    folded = sole_consumer(graph, node.outputs[0])
    if folded is None or folded.op.name != "reshape" or not is_float(graph, node):
        return False
    turn = sole_consumer(graph, folded.outputs[0])
    weights, bias = graph.constant(node.inputs[1]), graph.constant(node.inputs[2])
    if turn is None or turn.op.name != "transpose" or weights is None or (bias is None and node.inputs[2]):
        return False
    order = _flat_order(graph.type(turn.outputs[0]).shape, turn.op.perm, weights.shape[0])
    if order is None:
        return False
    set_input(node, 1, float_constant(graph, str(node.inputs[1]), weights[order]))
    if bias is not None:
        set_input(node, 2, float_constant(graph, str(node.inputs[2]), bias[order]))
    turn.op = Reshape(shape=graph.type(turn.outputs[0]).shape)
    set_input(turn, 0, node.outputs[0])
    return True


def _flat_order(behind: tuple[int, ...], perm: tuple[int, ...], count: int) -> Array | None:
    """Where element k of the last ``count`` elements of a transposed tensor lies in front of the transpose.

    ``behind``: its shape. None unless the axes before those are not moved.
    """
    first = next((axis for axis in range(len(behind)) if math.prod(behind[axis:]) == count), None)
    if first is None or perm[:first] != tuple(range(first)):
        return None
    local = [axis - first for axis in perm[first:]]
    shape = [0] * len(local)
    for position, axis in enumerate(local):
        shape[axis] = behind[first + position]
    order: Array = np.arange(count).reshape(shape).transpose(local).ravel()
    return order
