"""Which channels (indices of the last axis) of an operator's operands and results must go or stay together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.passes._families import EACH_ELEMENT, PAIRWISE
from tinydeploy.passes._ranges import WEIGHTED


class Tie(NamedTuple):
    """Channel ``at[i]`` of ``first`` and channel ``there[i]`` of ``second`` are both in the graph, or neither is."""

    first: str
    at: Array
    second: str
    there: Array


def ties(graph: Graph, node: Node) -> list[Tie] | None:
    """What ties the node's activations together; None if all their channels must stay.

    Empty for a dense layer and an ungrouped convolution: what they read depends on their weights.
    """
    if node.op.name in WEIGHTED and not _sliceable(graph, node):
        return None
    rule = _RULES.get(node.op.name)
    return None if rule is None else rule(graph, node)


def _sliceable(graph: Graph, node: Node) -> bool:
    """True if weights and bias are constants that can be cut along the output channels."""
    weights = graph.type(str(node.inputs[1])).quant
    axes = None if weights is None else weights.axis
    present = [name for name in node.inputs[1:] if name is not None]
    constant = all(graph.constant(name) is not None for name in present)
    return constant and axes in (None, WEIGHTED[node.op.name])


def _same(graph: Graph, node: Node) -> list[Tie]:
    source = str(node.inputs[0])
    each = np.arange(graph.type(source).shape[-1]) if graph.type(source).shape else np.arange(0)
    return [Tie(source, each, name, each) for name in node.outputs]


def _same_if(condition: Callable[[Graph, Node], bool]) -> Callable[[Graph, Node], list[Tie] | None]:
    return lambda graph, node: _same(graph, node) if condition(graph, node) else None


def _last(graph: Graph, node: Node) -> int:
    return graph.type(str(node.inputs[0])).rank - 1


def _whole_slice(graph: Graph, node: Node) -> bool:
    size = graph.type(str(node.inputs[0])).shape[-1]
    return bool((node.op.begin[-1], node.op.end[-1], node.op.stride[-1]) == (0, size, 1))


def _depthwise(graph: Graph, node: Node) -> list[Tie]:
    outputs = np.arange(graph.type(node.outputs[0]).shape[-1])
    return [Tie(str(node.inputs[0]), outputs // node.op.multiplier, node.outputs[0], outputs)]


def _binary(graph: Graph, node: Node) -> list[Tie] | None:
    shape = graph.type(node.outputs[0]).shape
    if not shape:
        return None
    each = np.arange(shape[-1])
    full = [str(name) for name in node.inputs if graph.type(str(name)).shape[-1:] == shape[-1:]]
    return [Tie(name, each, node.outputs[0], each) for name in full]


def _reshape(graph: Graph, node: Node) -> list[Tie] | None:
    source, result = str(node.inputs[0]), node.outputs[0]
    before, after = graph.type(source), graph.type(result)
    if not before.shape or not after.shape or not before.size:
        return None
    short, long = sorted((before.shape[-1], after.shape[-1]))
    if long % short:
        return None
    index = np.arange(long)
    return [Tie(source, index % before.shape[-1], result, index % after.shape[-1])]


def _concat(graph: Graph, node: Node) -> list[Tie]:
    found, start = [], 0
    joined = node.op.axis == _last(graph, node)
    for name in node.inputs:
        each = np.arange(graph.type(str(name)).shape[-1])
        found.append(Tie(str(name), each, node.outputs[0], each + start))
        start += len(each) if joined else 0
    return found


def _split(graph: Graph, node: Node) -> list[Tie]:
    if node.op.axis != _last(graph, node):
        return _same(graph, node)
    found, start = [], 0
    for name in node.outputs:
        each = np.arange(graph.type(name).shape[-1])
        found.append(Tie(str(node.inputs[0]), each + start, name, each))
        start += len(each)
    return found


_RULES: dict[str, Callable[[Graph, Node], list[Tie] | None]] = {
    **dict.fromkeys((*EACH_ELEMENT, "average_pool2d", "max_pool2d"), _same),
    **dict.fromkeys(PAIRWISE, _binary),
    "mean": _same_if(lambda graph, node: _last(graph, node) not in node.op.axes),
    "pad": _same_if(lambda _, node: node.op.padding[-1:] == ((0, 0),)),
    "transpose": _same_if(lambda graph, node: node.op.perm[-1:] == (_last(graph, node),)),
    "strided_slice": _same_if(_whole_slice),
    "conv2d": lambda _, node: [] if node.op.groups == 1 else None,
    "fully_connected": lambda _, node: [],
    "depthwise_conv2d": _depthwise,
    "reshape": _reshape,
    "concat": _concat,
    "split": _split,
}
