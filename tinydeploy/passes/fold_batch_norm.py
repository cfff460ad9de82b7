"""Puts batch normalisation into the weights and bias of the convolution or dense layer before or behind it.

Float rounding changes: ``w * g`` and ``(bias - mean) * g + beta`` are computed in float64 and rounded once, results
differ by a few 1e-7 of the largest term. Behind a padded convolution nothing is folded unless the shift is zero.
"""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.passes._affine import WEIGHTED, into_consumer, into_producer
from tinydeploy.passes._edit import bypass, is_float, producer_of, promise, sole_consumer, sweep


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Fold each batch_norm whose neighbour can take it."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """Nothing more can be folded."""
    twin = graph.copy()
    left = [node.name for node in list(twin.nodes) if _rewrite(twin, node)]
    promise(not left, graph, f"batch normalisations are left: {left}")


def affine_of(graph: Graph, node: Node) -> tuple[Array, Array] | None:
    """Scale and shift (float64, one a channel) of a batch_norm of constants, if float32 holds them; else None."""
    constants = [graph.constant(name) for name in node.inputs[1:]]
    if not is_float(graph, node) or any(data is None for data in constants):
        return None
    gamma, beta, mean, variance = (np.asarray(data, np.float64) for data in constants)
    with np.errstate(all="ignore"):
        scale = gamma / np.sqrt(variance + node.op.epsilon)
        shift = beta - mean * scale
    limit = np.finfo(np.float32).max
    return (scale, shift) if np.all(np.abs(scale) <= limit) and np.all(np.abs(shift) <= limit) else None


def _rewrite(graph: Graph, node: Node) -> bool:
    affine = affine_of(graph, node) if node.op.name == "batch_norm" else None
    if affine is None:
        return False
    source = str(node.inputs[0])
    host = producer_of(graph, source, *WEIGHTED)
    if host is not None and sole_consumer(graph, source) is node and into_producer(graph, host, *affine):
        return bypass(graph, node, source)
    reader = sole_consumer(graph, node.outputs[0])
    if reader is None or reader.inputs[0] != node.outputs[0] or not into_consumer(graph, reader, *affine):
        return False
    return bypass(graph, node, source)
