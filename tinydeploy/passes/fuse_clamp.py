"""Puts a clamp (relu, relu6, clip) into the operator before it. Exact; quantised where no scale changes."""

from __future__ import annotations

from tinydeploy.ir import Graph, Node
from tinydeploy.passes._edit import bypass, producer_of, promise, replace_op, same_numbers, sole_consumer, sweep

Clamp = tuple[float, float]
HOSTS = (
    "conv2d",
    "depthwise_conv2d",
    "conv3d",
    "transpose_conv2d",
    "transpose_conv3d",
    "fully_connected",
    "batch_matmul",
    "add",
    "sub",
    "mul",
    "average_pool2d",
    "max_pool2d",
    "average_pool3d",
    "max_pool3d",
)


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Fuse clamps into their only producer, and into each other."""
    return sweep(graph, _rewrite)


def ensures(graph: Graph) -> None:
    """No clamp is left behind an operator that could hold it."""
    left = [n.name for n in graph.nodes if _host(graph, n) is not None and not graph.is_kept(str(n.inputs[0]))]
    promise(not left, graph, f"clamps are left: {left}")


def intersect(first: Clamp, second: Clamp) -> Clamp:
    """The one clamp that does what ``first`` and then ``second`` do."""
    low, high = (min(max(bound, second[0]), second[1]) for bound in first)
    return low, high


def _host(graph: Graph, node: Node) -> Node | None:
    if node.op.name != "clamp":
        return None
    source = str(node.inputs[0])
    kind = graph.type(source)
    plain = kind.quant is None and not kind.elem.is_float  # integers without a scale have no clamp of their own
    host = producer_of(graph, source, "clamp", *(() if plain else HOSTS))
    fits = host is not None and sole_consumer(graph, source) is node and same_numbers(graph, source, node.outputs[0])
    return host if fits else None


def _rewrite(graph: Graph, node: Node) -> bool:
    host = _host(graph, node)
    if host is None:
        return False
    own = (node.op.low, node.op.high)
    if host.op.name == "clamp":
        low, high = intersect((host.op.low, host.op.high), own)
        replace_op(host, low=low, high=high)
    else:
        replace_op(host, clamp=intersect(host.op.clamp, own))
    return bypass(graph, node, str(node.inputs[0]))
