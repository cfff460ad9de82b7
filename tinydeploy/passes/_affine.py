"""``y * scale + shift`` per channel, taken into the weights and bias of the operator before or behind it."""

from __future__ import annotations

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.passes._edit import float_constant, is_float, set_input, unclamped

WEIGHTED = ("conv2d", "depthwise_conv2d", "fully_connected", "conv3d", "transpose_conv2d", "transpose_conv3d")
_READERS = ("conv2d", "depthwise_conv2d", "fully_connected")


def can_take(graph: Graph, node: Node) -> bool:
    """True if the node's weights and bias are float constants."""
    if node.op.name not in WEIGHTED or not is_float(graph, node):
        return False
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    return graph.constant(node.inputs[1]) is not None and (bias is None or graph.constant(bias) is not None)


@np.errstate(all="ignore")  # what does not fit into float32 is not stored
def into_producer(graph: Graph, node: Node, scale: Array | None, shift: Array | None) -> bool:
    """Let ``node`` compute ``scale * y + shift`` instead of y; both float64, one an output channel, or None.

    False, and nothing changed, if it cannot.
    """
    if not can_take(graph, node) or not unclamped(node):
        return False
    weights, bias = _weights(graph, node)
    axis = 3 if node.op.name == "depthwise_conv2d" else 0
    channels = weights.shape[axis]
    new_bias = np.zeros(channels) if bias is None else bias
    new_weights = weights
    if scale is not None:
        new_weights = weights * scale.reshape([-1 if i == axis else 1 for i in range(weights.ndim)])
        new_bias = new_bias * scale
    if shift is not None:
        new_bias = new_bias + shift
    return _store(graph, node, new_weights if scale is not None else None, new_bias, bias is not None)


@np.errstate(all="ignore")
def into_consumer(graph: Graph, node: Node, scale: Array | None, shift: Array | None) -> bool:
    """Let ``node`` read x where it read ``scale * x + shift``; both float64, one an input channel, or None.

    False, and nothing changed, if it cannot: a shift does not reach the zeros of padding.
    """
    if not can_take(graph, node) or node.op.name not in _READERS:
        return False
    if shift is not None and np.any(shift) and node.op.name != "fully_connected" and any(node.op.padding):
        return False
    weights, bias = _weights(graph, node)
    factors = np.ones(graph.type(str(node.inputs[0])).shape[-1]) if scale is None else scale
    offsets = np.zeros_like(factors) if shift is None else shift
    if node.op.name == "depthwise_conv2d":
        spread = np.repeat(np.stack([factors, offsets]), node.op.multiplier, axis=1)
        extra = (weights * spread[1]).sum(axis=(0, 1, 2))
        new_weights = weights * spread[0]
    elif node.op.name == "fully_connected":
        extra = weights @ offsets
        new_weights = weights * factors
    else:
        depth, groups = weights.shape[3], node.op.groups
        group = np.arange(weights.shape[0]) // (weights.shape[0] // groups)
        per_output = factors.reshape(groups, depth)[group], offsets.reshape(groups, depth)[group]
        extra = np.einsum("ohwi,oi->o", weights, per_output[1])
        new_weights = weights * per_output[0][:, np.newaxis, np.newaxis, :]
    new_bias = extra if bias is None else bias + extra
    return _store(graph, node, new_weights if scale is not None else None, new_bias, bias is not None)


def _weights(graph: Graph, node: Node) -> tuple[Array, Array | None]:
    """Weights and bias as float64."""
    weights = graph.constant(node.inputs[1])
    bias = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    assert weights is not None
    return weights.astype(np.float64), None if bias is None else bias.astype(np.float64)


def _store(graph: Graph, node: Node, weights: Array | None, bias: Array, had_bias: bool) -> bool:
    """Round to float32 once; False if a number does not fit."""
    limit = np.finfo(np.float32).max
    if not all(np.all(np.abs(a) <= limit) for a in (weights, bias) if a is not None):
        return False
    if weights is not None:
        set_input(node, 1, float_constant(graph, str(node.inputs[1]), weights))
    if np.any(bias) or had_bias:
        stem = str(node.inputs[2]) if had_bias else f"{node.name}_bias"
        node.inputs = (*node.inputs[:2], float_constant(graph, stem, bias))
    return True
