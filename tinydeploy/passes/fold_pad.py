"""Puts a pad with zeros into the padding of the convolution or average pooling that reads it. Exact."""

from __future__ import annotations

from tinydeploy.ir import Graph, Node
from tinydeploy.passes._edit import (
    permuted,
    producer_of,
    promise,
    replace_op,
    same_numbers,
    set_input,
    sole_consumer,
    sweep,
)

_CONVOLUTIONS = ("conv2d", "depthwise_conv2d")


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Fold pads of H and W; the pad itself goes once nobody reads it."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """No convolution reads a pad that it could do itself."""
    left = [node.name for node in graph.nodes if _pad_before(graph, node) is not None]
    promise(not left, graph, f"pads are left before {left}")


def _pad_before(graph: Graph, node: Node) -> Node | None:
    if node.op.name not in (*_CONVOLUTIONS, "average_pool2d"):
        return None
    pad = producer_of(graph, node.inputs[0], "pad")
    if pad is None or not _zeros_around_planes(graph, pad, pad.op.padding):
        return None
    if node.op.name == "average_pool2d":
        # The pad's zeros count in the mean; padding of the pooling's own may not.
        counted = node.op.count_include_pad or not any(node.op.padding)
        floats = graph.type(pad.outputs[0]).quant is None
        grown = _grown(node, pad.op.padding)
        fits = max(grown[:2]) < node.op.kernel[0] and max(grown[2:]) < node.op.kernel[1]  # a rule of the operator
        return pad if counted and floats and fits else None
    return pad


def _zeros_around_planes(graph: Graph, pad: Node, padding: tuple[tuple[int, int], ...]) -> bool:
    same = same_numbers(graph, str(pad.inputs[0]), pad.outputs[0])
    return bool(same and pad.op.value == 0 and len(padding) == 4 and not any((*padding[0], *padding[3])))


def _rewrite(graph: Graph, node: Node) -> bool:
    pad = _pad_before(graph, node)
    if pad is not None:
        _take(node, pad.op.padding)
        set_input(node, 0, pad.inputs[0])
        return True
    return _through_transpose(graph, node)


def _grown(node: Node, padding: tuple[tuple[int, int], ...]) -> tuple[int, int, int, int]:
    rows, columns = padding[1], padding[2]
    mine = node.op.padding
    return mine[0] + rows[0], mine[1] + rows[1], mine[2] + columns[0], mine[3] + columns[1]


def _take(node: Node, padding: tuple[tuple[int, int], ...]) -> None:
    replace_op(node, padding=_grown(node, padding))
    if node.op.name == "average_pool2d":
        replace_op(node, count_include_pad=True)


def _through_transpose(graph: Graph, node: Node) -> bool:
    """At a channels-first graph input the transpose lies between the pad and the convolution."""
    turn = producer_of(graph, node.inputs[0], "transpose") if node.op.name in _CONVOLUTIONS else None
    pad = None if turn is None else producer_of(graph, turn.inputs[0], "pad")
    if turn is None or pad is None:
        return False
    padding = tuple(pad.op.padding[axis] for axis in turn.op.perm)
    alone = sole_consumer(graph, pad.outputs[0]) is turn and sole_consumer(graph, turn.outputs[0]) is node
    if not alone or not _zeros_around_planes(graph, pad, padding):
        return False
    _take(node, padding)
    source = str(pad.inputs[0])
    set_input(turn, 0, source)
    graph.values[turn.outputs[0]].type = permuted(graph.type(source), turn.op.perm)
    return True
