"""Moves reshapes behind operators that work on each element or on the last axis. Exact.

A 1-D convolution is a 2-D one between two reshapes; without this its activation, bias or normalisation would stand
between the reshapes, and neither would find the convolution.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from tinydeploy.ir import Graph, Node
from tinydeploy.ops.reshape import Reshape
from tinydeploy.passes._edit import constant, index_of, producer_of, sweep
from tinydeploy.passes._families import EACH_ELEMENT, PAIRWISE

_LAST_AXIS = ("batch_norm", "fully_connected")


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Move each reshape as far as it goes."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """The graph is whole."""


def _rewrite(graph: Graph, node: Node) -> bool:
    if node.op.name in PAIRWISE:
        return _binary(graph, node)
    if node.op.name not in (*EACH_ELEMENT, *_LAST_AXIS):
        return False
    before = producer_of(graph, node.inputs[0], "reshape")
    if before is None or not _plain(graph, before):
        return False
    source = str(before.inputs[0])
    shape = graph.type(source).shape
    if node.op.name in _LAST_AXIS:
        old = graph.type(before.outputs[0]).shape
        if not shape or not old or shape[-1] != old[-1]:
            return False
        shape = (*shape[:-1], graph.type(node.outputs[0]).shape[-1])
    _sink(graph, node, (source, *node.inputs[1:]), shape)
    return True


def _binary(graph: Graph, node: Node) -> bool:
    result = graph.type(node.outputs[0]).shape
    for name in node.inputs:
        before = producer_of(graph, name, "reshape")
        if before is None or not _plain(graph, before) or graph.type(str(name)).shape != result:
            continue
        source = str(before.inputs[0])
        shape = graph.type(source).shape
        makers = [_unshaped(graph, str(other), result, shape) for other in node.inputs]
        if all(maker is not None for maker in makers):
            _sink(graph, node, tuple(maker() for maker in makers if maker is not None), shape)
            return True
    return False


def _plain(graph: Graph, reshape: Node) -> bool:
    """True if no quantisation is tied to an axis."""
    quant = graph.type(str(reshape.inputs[0])).quant
    return quant is None or quant.axis is None


def _unshaped(graph: Graph, name: str, result: tuple[int, ...], shape: tuple[int, ...]) -> Callable[[], str] | None:
    """A way to get the operand ``name`` of a result of shape ``result`` for one of ``shape``; None if there is none."""
    before = producer_of(graph, name, "reshape")
    if before is not None and graph.type(name).shape == result and graph.type(str(before.inputs[0])).shape == shape:
        return lambda: str(before.inputs[0])
    data, kind = graph.constant(name), graph.type(name)
    if data is None or (kind.quant is not None and kind.quant.axis is not None):
        return None
    if data.size == 1:
        wanted: tuple[int, ...] = (1,) * len(shape)
    elif data.size == math.prod(result):
        wanted = shape
    elif shape and result and shape[-1] == result[-1] == data.size == kind.shape[-1]:
        wanted = (data.size,)
    else:
        return None
    return lambda: name if wanted == kind.shape else constant(graph, name, data.reshape(wanted), kind.quant)


def _sink(graph: Graph, node: Node, inputs: tuple[str | None, ...], shape: tuple[int, ...]) -> None:
    """``node(reshape(x))`` becomes ``reshape(node(x))``; the result keeps its name."""
    (name,) = node.outputs
    kind = graph.type(name)
    inner = graph.add_value(f"{name}_inner", dataclasses.replace(kind, shape=shape))
    node.inputs, node.outputs = inputs, (inner,)
    graph.add_node(
        f"{node.name}_reshape",
        Reshape(shape=kind.shape),
        (inner,),
        outputs=(name,),
        index=index_of(graph, node) + 1,
        origin=node.origin,
    )
