"""Writes a batch normalisation that stands alone as a 1x1 depthwise convolution (rank 4), or as mul and add.

Float rounding changes as in `fold_batch_norm`.
"""

from __future__ import annotations

from tinydeploy.ir import Graph, Node
from tinydeploy.ops.add import Add
from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d
from tinydeploy.ops.mul import Mul
from tinydeploy.passes._edit import float_constant, index_of, promise, sweep
from tinydeploy.passes.fold_batch_norm import affine_of


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Expand each batch_norm of finite constants."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """None of them is left."""
    left = [n.name for n in graph.nodes if n.op.name == "batch_norm" and affine_of(graph, n) is not None]
    promise(not left, graph, f"batch normalisations are left: {left}")


def _rewrite(graph: Graph, node: Node) -> bool:
    affine = affine_of(graph, node) if node.op.name == "batch_norm" else None
    if affine is None:
        return False
    scale = float_constant(graph, f"{node.name}_scale", affine[0])
    shift = float_constant(graph, f"{node.name}_shift", affine[1])
    kind = graph.type(node.outputs[0])
    if kind.rank == 4:
        weights = float_constant(graph, f"{node.name}_weights", affine[0].reshape(1, 1, 1, -1))
        node.op, node.inputs = DepthwiseConv2d(), (node.inputs[0], weights, shift)
        return True
    product = graph.add_node(
        f"{node.name}_mul", Mul(), (node.inputs[0], scale), index=index_of(graph, node), origin=node.origin
    )
    node.op, node.inputs = Add(), (product.outputs[0], shift)
    return True
