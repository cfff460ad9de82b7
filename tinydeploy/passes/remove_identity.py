"""Removes operators that change nothing, and turns transposes that move nothing in memory into reshapes. Exact."""

from __future__ import annotations

from tinydeploy.ir import Graph, Node
from tinydeploy.ops._op import NO_CLAMP
from tinydeploy.ops.reshape import Reshape
from tinydeploy.passes._edit import bypass, moves_only_ones, producer_of, promise, same_numbers, set_input, sweep


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Remove them; two reshapes in a row become one."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """No reshape reads a reshape."""
    double = [n.name for n in graph.nodes if n.op.name == "reshape" and producer_of(graph, n.inputs[0], "reshape")]
    promise(not double, graph, f"reshapes of reshapes are left: {double}")


def _rewrite(graph: Graph, node: Node) -> bool:
    source = node.inputs[0]
    assert source is not None
    if node.op.name == "transpose" and moves_only_ones(graph.type(source).shape, node.op.perm):
        quant = graph.type(source).quant
        if quant is not None and quant.axis is not None:
            return False
        node.op = Reshape(shape=graph.type(node.outputs[0]).shape)
        return True
    if node.op.name == "mean" and same_numbers(graph, source, node.outputs[0]):
        if all(graph.type(source).shape[axis] == 1 for axis in node.op.axes):
            node.op = Reshape(shape=graph.type(node.outputs[0]).shape)
            return True
        return False
    if node.op.name == "reshape":
        before = producer_of(graph, source, "reshape")
        if before is not None:
            set_input(node, 0, before.inputs[0])
            return True
    return _changes_nothing(graph, node) and bypass(graph, node, source)


def _changes_nothing(graph: Graph, node: Node) -> bool:
    op, kind = node.op, graph.type(str(node.inputs[0]))
    if len(node.outputs) != 1 or not same_numbers(graph, str(node.inputs[0]), node.outputs[0]):
        return False
    if kind.shape != graph.type(node.outputs[0]).shape:
        return False
    match op.name:
        case "reshape" | "cast" | "quantize" | "dequantize" | "pad":
            return True  # the same shape and the same numbers
        case "strided_slice":
            return min(op.stride, default=1) > 0  # a negative one reverses
        case "clamp":
            return bool((op.low, op.high) == NO_CLAMP)
        case "transpose":
            return bool(op.perm == tuple(range(kind.rank)))
        case "concat" | "split":
            return len(node.inputs) == 1
        case "average_pool2d" | "max_pool2d":
            plain = op.kernel == (1, 1) and op.stride == (1, 1) and not any(op.padding)
            return bool(plain and op.clamp == NO_CLAMP)
    return False
