"""Small steps that passes are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Type
from tinydeploy.ops._op import NO_CLAMP

Rewrite = Callable[[Graph, Node], bool]
_STEPS_A_NODE = 1000


def sweep(graph: Graph, rewrite: Rewrite) -> bool:
    """Offer every node to ``rewrite`` (True: it changed the graph) until none changes anything; drop what is unused.

    Raises: InternalError if it does not come to rest.
    """
    changed, steps, limit = False, 0, _STEPS_A_NODE * (len(graph.nodes) + 1)
    again = True
    while again:
        again = False
        alive = {id(node) for node in graph.nodes}
        for node in list(graph.nodes):
            if id(node) in alive and rewrite(graph, node):
                again, steps = True, steps + 1
                alive = {id(other) for other in graph.nodes}
                if steps > limit:
                    raise InternalError(Problem(f"graph {graph.name!r}", "a pass does not come to rest"))
        graph.prune()
        changed = changed or again
    return changed


def index_of(graph: Graph, node: Node) -> int:
    """Position of a node."""
    return next(i for i, other in enumerate(graph.nodes) if other is node)


def producer_of(graph: Graph, name: str | None, *operators: str) -> Node | None:
    """The node that writes ``name`` if it is one of ``operators``."""
    node = None if name is None else graph.producer(name)
    return node if node is not None and node.op.name in operators else None


def sole_consumer(graph: Graph, name: str) -> Node | None:
    """The one node that reads a value, once, if nobody else sees it."""
    readers = graph.consumers(name)
    if graph.is_kept(name) or len(readers) != 1 or readers[0].inputs.count(name) != 1:
        return None
    return readers[0]


def is_float(graph: Graph, node: Node) -> bool:
    """True if everything the node reads and writes is float32."""
    kinds = [graph.type(name) for name in (*node.inputs, *node.outputs) if name is not None]
    return all(kind.elem is Elem.F32 for kind in kinds)


def same_numbers(graph: Graph, *names: str) -> bool:
    """True if the values have one element type and one quantisation: equal integers mean equal reals."""
    return len({(graph.type(name).elem, graph.type(name).quant) for name in names}) == 1


def unclamped(node: Node) -> bool:
    """True if no activation is fused into the node."""
    return bool(node.op.clamp == NO_CLAMP)


def constant(graph: Graph, stem: str, data: Array, quant: Quant | None = None) -> str:
    """Add a constant whose element type is that of the array."""
    return graph.add_value(
        stem, Type(tuple(data.shape), Elem(data.dtype.name), quant), np.ascontiguousarray(data).reshape(data.shape)
    )


def float_constant(graph: Graph, stem: str, data: Array) -> str:
    """Add a float32 constant from numbers of any precision."""
    return constant(graph, stem, np.asarray(data).astype(np.float32))


def set_input(node: Node, index: int, name: str | None) -> None:
    """Let a node read another value."""
    node.inputs = (*node.inputs[:index], name, *node.inputs[index + 1 :])


def bypass(graph: Graph, node: Node, source: str) -> bool:
    """Remove ``node``, whose one output equals ``source``; False if both names must live on (an input is an output)."""
    (output,) = node.outputs
    if not graph.is_kept(output):
        graph.replace_uses(output, source)
        graph.remove_node(node)
        return True
    writer = graph.producer(source)
    if writer is None or graph.is_kept(source):
        return False
    graph.nodes = [other for other in graph.nodes if other is not node]
    graph.replace_uses(source, output)
    writer.outputs = tuple(output if name == source else name for name in writer.outputs)
    value = graph.values.pop(source)
    graph.values[output] = dataclasses.replace(value, name=output)
    return True


def permuted(kind: Type, perm: tuple[int, ...]) -> Type:
    """The type of a value after ``transpose`` with ``perm``."""
    quant = kind.quant
    if quant is not None and quant.axis is not None:
        quant = dataclasses.replace(quant, axis=perm.index(quant.axis))
    return dataclasses.replace(kind, shape=tuple(kind.shape[axis] for axis in perm), quant=quant)


def inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes ``perm``."""
    return tuple(perm.index(axis) for axis in range(len(perm)))


def moves_only_ones(shape: tuple[int, ...], perm: tuple[int, ...]) -> bool:
    """True if transposing a tensor of ``shape`` leaves its elements where they are in memory."""
    moved = [axis for axis in perm if shape[axis] != 1]
    return moved == sorted(moved)


def promise(holds: bool, graph: Graph, what: str) -> None:
    """Raise InternalError with ``what`` unless ``holds``."""
    if not holds:
        raise InternalError(Problem(f"graph {graph.name!r}", what))


def channel_vector(data: Array, shape: tuple[int, ...]) -> Array | None:
    """A constant as one float64 number an index of the last axis of ``shape``; None if it differs along other axes.

    ``data`` broadcasts to ``shape`` without enlarging it.
    """
    if data.ndim > len(shape) or not shape or any(d != 1 for d in data.shape[:-1]):
        return None
    if data.size not in (1, shape[-1]):
        return None
    return np.broadcast_to(data.reshape(-1).astype(np.float64), (shape[-1],))


def replace_op(node: Node, **changes: Any) -> None:
    """Change attributes of a node's operator."""
    node.op = dataclasses.replace(node.op, **changes)


def constants_of(graph: Graph, names: Iterable[str | None]) -> bool:
    """True if every name is that of a constant."""
    return all(name is not None and graph.constant(name) is not None for name in names)
