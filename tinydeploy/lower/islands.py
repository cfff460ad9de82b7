"""Nodes that no integer kernel runs compute in float32, between explicit dequantize and quantize nodes."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.errors import UnsupportedError
from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Type
from tinydeploy.ir.types import dequantise
from tinydeploy.ir.verify import verify
from tinydeploy.lower._contract import LowerContext, Lowered, Target
from tinydeploy.lower.choose import NoKernelError, lower, offers_for
from tinydeploy.ops.cast import Cast
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.quantize import Quantize


def lower_with_islands(graph: Graph, target: Target) -> tuple[Graph, list[Lowered]]:
    """`lower`, with nodes that have no integer kernel moved to float32; ``graph`` itself is not changed.

    Raises: UnsupportedError with every node that no kernel runs in float either.
    """
    try:
        return graph, lower(graph, target)
    except NoKernelError as error:
        moved = _Mover(graph, target).run(error)
        return moved, lower(moved, target)


def float_nodes(graph: Graph) -> list[Node]:
    """The nodes of a quantised graph that compute in float32; not those that only convert to it or from it."""
    if not graph.is_quantised():
        return []
    converters = (Quantize, Dequantize, Cast)
    return [
        node
        for node in graph.nodes
        if not isinstance(node.op, converters)
        and any(name is not None and graph.type(name).elem.is_float for name in (*node.inputs, *node.outputs))
    ]


def warnings(before: Graph, graph: Graph, lowered: list[Lowered]) -> list[str]:
    """One line a node that runs in float in a quantised graph, with the reason and what it costs; not for views.

    ``before``: the graph that `lower_with_islands` was given.
    """
    chosen = {low.node.name: low.offer for low in lowered}
    total = sum(offer.cost.instructions for offer in chosen.values())
    moved = {node.name for node in before.nodes if _is_quantised(before, node)}
    lines: dict[str, None] = {}
    for node in float_nodes(graph):
        if chosen[node.name].view:
            continue
        reason = (
            "no integer kernel takes it here"
            if node.name in moved
            else "the model computes it in real numbers"
            if node.op.quant.integer
            else "it has no integer arithmetic"
        )
        share = chosen[node.name].cost.instructions
        lines[
            f"{node.origin or node.name}: {node.op.name} runs in float32, {reason}; estimated {share:,} of the model's"
            f" {total:,} instructions (--integer-only makes this an error)"
        ] = None
    return list(lines)


def _is_quantised(graph: Graph, node: Node) -> bool:
    """True if an input or output is held in quantised integers; weights may be so to save space, and do not count."""
    names = [name for name in (*node.inputs, *node.outputs) if name is not None and graph.constant(name) is None]
    return any(graph.type(name).quant is not None for name in names)


class _Mover:
    """Rewrites a copy of a graph."""

    def __init__(self, graph: Graph, target: Target) -> None:
        self.source, self.target = graph, target
        self.graph = graph.copy()
        self.reals: dict[str, str] = {}

    def run(self, error: NoKernelError) -> Graph:
        """The graph with the nodes of ``error`` in float32.

        Raises: UnsupportedError, in the words of ``error``, for those that have no float kernel.
        """
        failing = {node.name for node in error.nodes}
        self.graph.nodes = []
        refused = set()
        for node in self.source.nodes:
            if node.name not in failing:
                self.graph.nodes.append(node)
            elif not (_is_quantised(self.source, node) and self._move(node)):
                refused.add(node.name)
        if refused:
            raise UnsupportedError(
                [p for node, p in zip(error.nodes, error.problems, strict=True) if node.name in refused]
            )
        self.graph.prune()
        verify(self.graph, "islands")
        return self.graph

    def _move(self, node: Node) -> bool:
        """Add the float form of a node; False, and nothing of it is of use, if no kernel runs that."""
        weights = node.op.quant.weights
        for small in (True, False):  # weights stay integers in flash where a kernel reads them
            inputs = tuple(
                name if small and place == weights and self._is_constant(name) else self._real(node, place)
                for place, name in enumerate(node.inputs)
            )
            made = dataclasses.replace(node, inputs=inputs, outputs=tuple(self._result(name) for name in node.outputs))
            if offers_for(LowerContext(self.graph, made, self.target)):
                self.graph.nodes.append(made)
                for name, real in zip(node.outputs, made.outputs, strict=True):
                    if real != name:
                        op = Quantize(elem=self.source.type(name).elem)
                        self.graph.add_node(f"{name}_quantize", op, (real,), outputs=(name,), origin=node.origin)
                return True
            if weights is None:
                break
        return False

    def _is_constant(self, name: str | None) -> bool:
        return self.source.constant(name) is not None

    def _real(self, node: Node, place: int) -> str | None:
        """An input of ``node`` in float32; plain integers stay."""
        name = node.inputs[place]
        if name is None:
            return None
        kind, data = self.source.type(name), self.source.constant(name)
        quant = kind.quant
        if quant is None and place == node.op.quant.bias and data is not None and not kind.elem.is_float:
            quant = self._bias_quant(node)
        if quant is None:
            return name
        if name not in self.reals:
            if data is None:
                made = self.graph.add_node(f"{name}_dequantize", Dequantize(), (name,), origin=node.origin)
                self.reals[name] = made.outputs[0]
            else:
                real: Array = dequantise(data, dataclasses.replace(kind, quant=quant))
                self.reals[name] = self.graph.add_value(f"{name}_real", Type(kind.shape, Elem.F32), real)
        return self.reals[name]

    def _bias_quant(self, node: Node) -> Quant | None:
        """Scale of the accumulator, which is that of a bias without one of its own."""
        rule = node.op.quant
        x, weights = self.source.type(str(node.inputs[0])), self.source.type(str(node.inputs[rule.weights])).quant
        if x.quant is None or weights is None:
            return None
        scales = tuple(float(s) for s in np.atleast_1d(x.scale * weights.scales()))
        return Quant(scales, (0,) * len(scales), 0 if len(scales) > 1 else None)

    def _result(self, name: str) -> str:
        kind = self.source.type(name)
        if kind.quant is None:
            return name
        return self.graph.add_value(f"{name}_float", Type(kind.shape, Elem.F32))
