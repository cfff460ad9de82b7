"""Computes nodes whose inputs are all constants: float results by the reference, integers by the twin. Exact."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Graph, Node
from tinydeploy.ops._op import Signature
from tinydeploy.passes._edit import constants_of, sweep

MAX_ELEMENTS = 1 << 24  # of a result; a broadcast of two constants could otherwise grow without bound


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Replace such nodes by constants; results that are seen from outside stay computed."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """The graph is whole; what is left was too large or is an output."""


def _rewrite(graph: Graph, node: Node) -> bool:
    present = [name for name in node.inputs if name is not None]
    if not constants_of(graph, present) or any(graph.is_kept(name) for name in node.outputs):
        return False
    sig = Signature.of(graph, node)
    if any(kind.size > MAX_ELEMENTS for kind in sig.outputs):
        return False
    arrays = [graph.constant(name) for name in node.inputs]
    if all(kind is None or kind.elem.is_float for kind in (*sig.inputs, *sig.outputs)):
        results = node.op.reference(*arrays)
    else:
        results = node.op.integer(sig, *arrays)
    for name, kind, result in zip(node.outputs, sig.outputs, results, strict=True):
        graph.values[name].data = np.asarray(result, kind.elem.dtype).reshape(kind.shape)
    graph.nodes = [other for other in graph.nodes if other is not node]
    return True
