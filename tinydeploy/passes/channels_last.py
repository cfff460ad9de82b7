"""Moves transposes towards the outputs until they meet their inverse and vanish. Exact: no arithmetic changes.

A frontend surrounds channels-first operators with transposes. Whatever lies between two convolutions works on any
order of axes, once its attributes and constants are put into that order; so the transpose before it can come after it.
Transposes at graph inputs and outputs stay, except those that only move axes of size 1, which move no bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tinydeploy.ir import Graph, Node
from tinydeploy.ops.reshape import Reshape
from tinydeploy.ops.transpose import Transpose
from tinydeploy.passes import _axes
from tinydeploy.passes._edit import (
    bypass,
    constant,
    index_of,
    inverse,
    moves_only_ones,
    permuted,
    producer_of,
    promise,
    set_input,
    sweep,
)

Perm = tuple[int, ...]
_TO_FIRST = (0, 3, 1, 2)


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Merge transposes that follow each other, and move the others behind the node that reads them."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """No transpose reads a transpose."""
    double = [n.name for n in graph.nodes if n.op.name == "transpose" and producer_of(graph, n.inputs[0], "transpose")]
    promise(not double, graph, f"transposes of transposes are left: {double}")


def _rewrite(graph: Graph, node: Node) -> bool:
    before = [producer_of(graph, name, "transpose") for name in node.inputs]
    if not any(before):
        return False
    if node.op.name == "transpose":
        first = before[0]
        assert first is not None
        return _merge(graph, first, node)
    for candidate in dict.fromkeys(t.op.perm for t in before if t is not None):
        shapes = [None if name is None else graph.type(name).shape for name in node.inputs]
        moved = _axes.moved(node.op, candidate, shapes, [graph.type(name).shape for name in node.outputs])
        if moved is not None and _move(graph, node, candidate, moved):
            return True
    return node.op.name == "reshape" and before[0] is not None and _move_in_part(graph, node, before[0])


def _move_in_part(graph: Graph, node: Node, turn: Node) -> bool:
    """Channel shuffle: only the part of the transpose that leads from channels last to channels first moves on."""
    behind, target = graph.type(turn.outputs[0]).shape, graph.type(node.outputs[0]).shape
    parts = _axes.split_at_reshape(turn.op.perm, behind, target)
    if parts is None or turn.op.perm in parts:
        return False
    moved = _axes.moved(node.op, parts[1], [behind], [target])
    if moved is None or moved.perms != (_TO_FIRST,):
        return False
    name = turn.inputs[0]
    for part in parts:
        index = index_of(graph, node)
        made = graph.add_node(turn.name, Transpose(perm=part), (name,), index=index, origin=turn.origin)
        (name,) = made.outputs
        kind = graph.type(str(made.inputs[0]))
        graph.values[name].type = permuted(kind, part)
    set_input(node, 0, name)
    return _move(graph, node, parts[1], moved)


def _merge(graph: Graph, first: Node, second: Node) -> bool:
    source = str(first.inputs[0])
    perm = tuple(first.op.perm[axis] for axis in second.op.perm)
    if perm == tuple(range(len(perm))):
        if bypass(graph, second, source):
            return True
        second.op = Reshape(shape=graph.type(source).shape)  # an input that is an output: a copy
    else:
        second.op = Transpose(perm=perm)
    set_input(second, 0, source)
    return True


def _move(graph: Graph, node: Node, perm: Perm, moved: _axes.Moved) -> bool:
    """``node(transpose(x))`` becomes ``transpose(node'(x))``; the results keep their names."""
    makers = {i: _untransposed(graph, str(node.inputs[i]), perm, node) for i in moved.inputs}
    if any(maker is None for maker in makers.values()):
        return False
    inputs = list(node.inputs)
    for position, maker in makers.items():
        assert maker is not None
        inputs[position] = maker()
    node.op, node.inputs = moved.op, tuple(inputs)
    old, new = node.outputs, []
    for name, back in zip(old, moved.perms, strict=True):
        if back == tuple(range(len(back))):
            new.append(name)
            continue
        new.append(graph.add_value(f"{name}_moved", permuted(graph.type(name), inverse(back))))
        graph.add_node(
            f"{node.name}_transpose",
            Transpose(perm=back),
            (new[-1],),
            outputs=(name,),
            index=index_of(graph, node) + 1,
            origin=node.origin,
        )
    node.outputs = tuple(new)
    return True


def _untransposed(graph: Graph, name: str, perm: Perm, reader: Node) -> Callable[[], str] | None:
    """A way to get the value whose transpose by ``perm`` is ``name``, at no cost; None if there is none.

    ``name`` may have fewer axes than ``perm``: it is broadcast, as the inputs of ``add`` are.
    """
    back = inverse(perm)
    kind = graph.type(name)
    writer = producer_of(graph, name, "transpose")
    if writer is not None and writer.op.perm == perm:
        return lambda: str(writer.inputs[0])
    if kind.quant is not None and kind.quant.axis is not None:
        return None
    shape = (1,) * (len(perm) - kind.rank) + kind.shape
    turned = permuted(dataclasses.replace(kind, shape=shape), back)
    data = graph.constant(name)
    if data is not None:
        return lambda: constant(graph, name, data.reshape(shape).transpose(back), kind.quant)
    index = index_of(graph, reader)
    if moves_only_ones(shape, back):

        def regroup() -> str:
            value = graph.add_value(f"{name}_reshape", turned)
            op = Reshape(shape=turned.shape)
            graph.add_node(f"{reader.name}_reshape", op, (name,), outputs=(value,), index=index, origin=reader.origin)
            return value

        return regroup
    # One operand may come from a channels-first graph input that a convolution needs channels last anyway. Only in this
    # direction, and not for perms that are their own inverse: two operands would swap their transposes for ever.
    if perm == _TO_FIRST and any(other.op == Transpose(perm=back) for other in graph.consumers(name)):

        def turn() -> str:  # `merge_duplicates` makes one of this transpose and the one that is there
            value = graph.add_value(f"{name}_transpose", turned)
            op = Transpose(perm=back)
            graph.add_node(f"{reader.name}_transpose", op, (name,), outputs=(value,), index=index, origin=reader.origin)
            return value

        return turn
    return None
