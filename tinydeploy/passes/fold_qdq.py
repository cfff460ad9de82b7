"""Operators between dequantize and quantize become integer operators; uint8 becomes int8. ONNX files only.

ONNX says what a quantised model computes in real numbers, with quantize and dequantize around every operator, and
leaves the arithmetic to the runtime; ours is that of TFLite, whose rounding is at most one step away at each operator.
TFLite files state their arithmetic, so that a float operator in them stays one.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.ir import Elem, Graph, Node, Quant, Type
from tinydeploy.ir.types import quantise
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.quantize import Quantize
from tinydeploy.passes._edit import bypass, constant, index_of, replace_op, sole_consumer, sweep
from tinydeploy.passes._qdq import MOVES, ORDERED, Kind, bias_of, integers_of, operand, quantised_kind, retype, to_int8
from tinydeploy.passes.fuse_clamp import intersect

_FIXED = ("softmax", "log_softmax", "logistic", "tanh", "l2_normalize")
_WEIGHTED = ("conv2d", "depthwise_conv2d", "transpose_conv2d", "fully_connected")
_ASYMMETRIC = ("add", "sub", "mul", "mean")  # in 16 bits too
_OTHERS = ("add", "sub", "mul", "mean", "leaky_relu", "hard_swish", "batch_matmul")


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Fold until nothing more fits."""
    if graph.source is None or graph.source.format != "onnx" or not graph.is_quantised():
        return False
    changed = to_int8(graph)
    return sweep(graph, _rewrite) or changed


def ensures(graph: Graph) -> None:
    """The graph is whole; what has no integer form stays between dequantize and quantize."""


def _rewrite(graph: Graph, node: Node) -> bool:
    name = node.op.name
    if name == "quantize":
        return _meet(graph, node)
    if name == "add" and _into_bias(graph, node):
        return True
    target = _target(graph, node)
    if target is None:
        return False
    if name in MOVES or name in ORDERED:
        return _pull(graph, node, target)
    if name == "average_pool2d":
        return _average(graph, node, target)
    if name in _WEIGHTED:
        return _weighted(graph, node, target)
    if name in (*_FIXED, *_OTHERS):
        return _plain(graph, node, target)
    return False


def _target(graph: Graph, node: Node) -> Kind | None:
    """The element type and scale that every float output of a node is quantised to by all of its readers."""
    found: set[Kind] = set()
    for name in node.outputs:
        readers = graph.consumers(name)
        if graph.type(name).elem is not Elem.F32 or graph.is_kept(name) or not readers:
            return None
        if any(reader.op.name != "quantize" for reader in readers):
            return None
        found.update(quantised_kind(graph.type(reader.outputs[0])) for reader in readers)
    return next(iter(found)) if len(found) == 1 else None


def _meet(graph: Graph, node: Node) -> bool:
    """What quantises former integers does nothing, or changes the scale."""
    source = str(node.inputs[0])
    if graph.type(source).elem is not Elem.F32:
        return _same(graph, node, source)
    integers = integers_of(graph, source, index_of(graph, node))
    if integers is None:
        return False
    node.inputs = (integers,)
    _same(graph, node, integers)
    return True


def _same(graph: Graph, node: Node, source: str) -> bool:
    """Remove a quantize that changes nothing."""
    ours, theirs = graph.type(node.outputs[0]), graph.type(source)
    same = ours.elem is theirs.elem and ours.quant == theirs.quant
    return same and bypass(graph, node, source)


def _pull(graph: Graph, node: Node, target: Kind) -> bool:
    """Quantise what is moved or compared, not the result."""
    if node.op.name == "pad" and not math.isfinite(node.op.value):
        return False
    index = index_of(graph, node)
    inputs = list(node.inputs)
    for place, name in enumerate(node.inputs):
        if name is None or graph.type(name).elem is not Elem.F32:
            continue
        kind = Type(graph.type(name).shape, *target)
        data = graph.constant(name)
        if data is not None:
            inputs[place] = constant(graph, f"{name}_quantized", quantise(data, kind), kind.quant)
            continue
        value = graph.add_value(f"{name}_quantized", kind)
        op = Quantize(elem=kind.elem, half_even=True)
        graph.add_node(f"{node.name}_quantize", op, (name,), outputs=(value,), index=index, origin=node.origin)
        inputs[place] = value
    node.inputs = tuple(inputs)
    _finish(graph, node, target)
    return True


def _finish(graph: Graph, node: Node, own: Kind) -> None:
    """The node computes integers of ``own``; its readers, all quantize, take them from there.

    Runtimes leave out a relu that quantising does anyway: as a clamp, it is seen in real numbers too.
    """
    if own[1] is not None and hasattr(node.op, "clamp"):
        low, high = ((limit - own[1].zero_point[0]) * own[1].scale[0] for limit in own[0].limits)
        replace_op(node, clamp=intersect(node.op.clamp, (low, high)))
    for name in node.outputs:
        retype(graph, name, own)
        for reader in graph.consumers(name):
            _same(graph, reader, name)


def _activations(graph: Graph, node: Node, target: Kind) -> list[str] | None:
    """Inputs in the integers they were dequantised from; None if one was not, or not of the width of the result."""
    names = []
    for name in node.inputs:
        if name is None:
            return None
        made = operand(graph, name, index_of(graph, node), target[0])
        if made is None:
            return None
        names.append(made)
    return names


def _plain(graph: Graph, node: Node, target: Kind) -> bool:
    """Operators on activations alone; some of them have one output scale only.

    In 16 bits those stay in float: TFLite's tables with interpolation are tens of steps away from real numbers.
    """
    wide, name = target[0] is Elem.S16, node.op.name
    constants = [graph.constant(name) is not None for name in node.inputs]
    if all(constants) or (name == "batch_matmul" and any(constants)) or (wide and name in _FIXED):
        return False
    inputs = _activations(graph, node, target)
    own = target
    if name in _FIXED:
        fixed = node.op.quant.fixed_output
        own = (target[0], Quant.per_tensor(*fixed))
    if inputs is None or (wide and name not in _ASYMMETRIC and any(graph.type(n).zero_point for n in inputs)):
        return False
    if node.op.broken_rules(tuple(graph.type(name) for name in inputs)):
        return False
    node.inputs = tuple(inputs)
    _finish(graph, node, own)
    return True


def _weighted(graph: Graph, node: Node, target: Kind) -> bool:
    """A weighted sum: int8 weights of the file, the bias in steps of the sum."""
    weights = graph.type(str(node.inputs[1]))
    x = operand(graph, str(node.inputs[0]), index_of(graph, node), target[0])
    if x is None or weights.quant is None or graph.constant(node.inputs[1]) is None:
        return False
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    held = None if bias is None else bias_of(graph, bias, graph.type(x), weights.quant)
    if bias is not None and held is None:
        return False
    inputs = (x, node.inputs[1], held)
    if node.op.broken_rules(tuple(None if name is None else graph.type(name) for name in inputs)):
        return False
    node.inputs = inputs
    if node.op.name != "fully_connected":  # that one always rounds so
        replace_op(node, exact_scale=True)
    _finish(graph, node, target)
    return True


def _average(graph: Graph, node: Node, target: Kind) -> bool:
    """Pooling keeps its scale; over the whole plane it is a mean, elsewhere a sum with equal weights rescales."""
    x = operand(graph, str(node.inputs[0]), index_of(graph, node), target[0])
    op, whole = node.op, graph.type(str(node.inputs[0])).shape[1:3]
    if x is None:
        return False
    source = graph.type(x)
    if quantised_kind(source) == target:
        node.inputs = (x,)
    elif op.kernel == whole and not any(op.padding) and op.clamp == (-math.inf, math.inf):
        node.op, node.inputs = Mean(axes=(1, 2), keep_dims=True), (x,)
    elif any(op.padding) and not op.count_include_pad:
        return False
    else:
        from tinydeploy.ops.depthwise_conv2d import DepthwiseConv2d

        channels = source.shape[3]
        ones = np.ones((1, *op.kernel, channels), np.int8)
        quant = Quant.per_tensor(1 / math.prod(op.kernel))
        weights = constant(graph, f"{node.name}_ones", ones, quant)
        node.op = DepthwiseConv2d(
            stride=op.stride, dilation=op.dilation, padding=op.padding, clamp=op.clamp, exact_scale=True
        )
        node.inputs = (x, weights, None)
    _finish(graph, node, target)
    return True


def _into_bias(graph: Graph, node: Node) -> bool:
    """A constant that is added to a weighted sum with integer weights, one number a channel, is its bias."""
    place = next((i for i, name in enumerate(node.inputs) if graph.constant(name) is not None), None)
    if place is None or graph.type(node.outputs[0]).elem is not Elem.F32:
        return False
    source, data = str(node.inputs[1 - place]), graph.constant(node.inputs[place])
    host = graph.producer(source)
    if host is None or host.op.name not in _WEIGHTED or sole_consumer(graph, source) is not node or data is None:
        return False
    shape = graph.type(source).shape
    single = data.size in (1, shape[-1]) and all(d == 1 for d in data.shape[:-1]) and data.ndim <= len(shape)
    weights = graph.type(str(host.inputs[1]))
    free = host.op.clamp == (-math.inf, math.inf) and graph.type(node.outputs[0]).shape == shape
    if not single or not free or weights.quant is None or (len(host.inputs) > 2 and host.inputs[2] is not None):
        return False
    name = constant(graph, f"{host.name}_bias", np.broadcast_to(data.ravel(), shape[-1:]).astype(np.float32))
    host.inputs = (*host.inputs[:2], name)
    replace_op(host, clamp=node.op.clamp)
    return bypass(graph, node, source)


def widen(graph: Graph, node: Node) -> bool:
    """Give an operator on real numbers that has no kernel for integer weights real ones."""
    rule = node.op.quant
    if rule.weights is None or node.op.name in ("conv2d", "depthwise_conv2d", "fully_connected"):
        return False
    name = node.inputs[rule.weights]
    kind = None if name is None else graph.type(name)
    data = graph.constant(name)
    if kind is None or kind.quant is None or data is None or graph.type(str(node.inputs[0])).elem is not Elem.F32:
        return False
    from tinydeploy.ir.types import dequantise

    real = constant(graph, str(name), dequantise(data, dataclasses.replace(kind)))
    node.inputs = tuple(real if i == rule.weights else n for i, n in enumerate(node.inputs))
    return True
