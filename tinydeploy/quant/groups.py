"""Which values share one quantisation: operators that only move data tie their ends, and so do states."""

from __future__ import annotations

import dataclasses

from tinydeploy.ir import Elem, Graph, Node, Quant
from tinydeploy.ops._op import QuantRule
from tinydeploy.quant.schemes import Scheme


def runs_in_integers(graph: Graph, node: Node) -> bool:
    """True if the node gets integer arithmetic: its operator has one, and weights and bias are constants."""
    rule: QuantRule = node.op.quant
    fixed = (rule.weights, rule.bias)
    present = [node.inputs[i] for i in fixed if i is not None and i < len(node.inputs)]
    constant = all(name is None or graph.constant(name) is not None for name in present)
    return rule.integer and constant and bool(activations(graph, node))


def activations(graph: Graph, node: Node) -> list[str]:
    """The node's float32 inputs and outputs that are not constants, inputs first, each once."""
    names = dict.fromkeys(name for name in (*node.inputs, *node.outputs) if name is not None)
    return [name for name in names if graph.type(name).elem is Elem.F32 and graph.constant(name) is None]


@dataclasses.dataclass
class Groups:
    """Values in groups of equal quantisation. ``fixed``: what an operator prescribes, by the group's root."""

    parents: dict[str, str] = dataclasses.field(default_factory=dict)
    fixed: dict[str, Quant] = dataclasses.field(default_factory=dict)

    def root(self, name: str) -> str:
        """The value that stands for the group of ``name``."""
        while (parent := self.parents.setdefault(name, name)) != name:
            self.parents[name] = self.parents[parent]
            name = parent
        return name

    def join(self, first: str, second: str) -> bool:
        """Make one group of two; False, and nothing done, if operators prescribe different quantisations for them."""
        a, b = self.root(first), self.root(second)
        if a == b:
            return True
        quants = [self.fixed[root] for root in (a, b) if root in self.fixed]
        if len(quants) == 2 and quants[0] != quants[1]:
            return False
        self.parents[b] = a
        if quants:
            self.fixed[a] = quants[0]
        return True

    def members(self) -> dict[str, list[str]]:
        """Names by root."""
        result: dict[str, list[str]] = {}
        for name in self.parents:
            result.setdefault(self.root(name), []).append(name)
        return result


def find(graph: Graph, integer: list[Node], scheme: Scheme) -> Groups:
    """Group the float32 values that ``integer`` nodes, the graph's inputs, outputs and states touch.

    A concatenation of a value with a prescribed quantisation and of others is not tied to the former: its range says
    nothing about the others'. The rewriting rescales such an edge.
    """
    groups = Groups()
    states = [state for state in graph.states if graph.type(state.read).elem is Elem.F32]
    for name in (*graph.inputs, *graph.outputs):
        if graph.type(name).elem is Elem.F32:
            groups.root(name)
    for node in integer:
        quant = scheme.fixed_output(node.op.quant)
        for name in activations(graph, node):
            groups.root(name)
            if quant is not None and name in node.outputs:
                groups.fixed[name] = quant
    for node in integer:
        if node.op.quant.ties:
            _tie(graph, node, groups)
    touched = set(groups.parents)
    for state in states:
        if state.read in touched or state.write in touched:
            groups.join(state.write, state.read)
    return groups


def _tie(graph: Graph, node: Node, groups: Groups) -> None:
    inputs = [name for name in activations(graph, node) if name in node.inputs]
    outputs = [name for name in node.outputs if graph.type(name).elem is Elem.F32]
    alone = len([name for name in node.inputs if name is not None and graph.type(name).elem is Elem.F32]) == 1
    for output in outputs[1:]:
        groups.join(outputs[0], output)
    for name in inputs:
        if alone or groups.root(name) not in groups.fixed:
            groups.join(outputs[0], name)
