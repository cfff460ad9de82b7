"""Writes a quantisation into a graph: integer types and constants, and the nodes that rescale where types meet."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Type, Value
from tinydeploy.ir.types import dequantise, quantise
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.quantize import Quantize
from tinydeploy.quant import weights as weight_rules
from tinydeploy.quant.schemes import Scheme


class Rewriter:
    """Builds the quantised twin of a float graph.

    A float32 value has one home: integers where an integer node, the graph's input or a quantised state writes it,
    float where a node without integer arithmetic does. A reader of the other kind, or one that asks for another
    quantisation, gets a quantize or dequantize node. Values keep their names in their home; inputs and outputs of the
    graph keep them whatever happens.
    """

    def __init__(
        self, graph: Graph, scheme: Scheme, integer: set[str], quants: dict[str, Quant], means: dict[str, Array]
    ) -> None:
        """``integer``: names of the nodes that run in integers; by value: ``quants``, and ``means`` a last index."""
        self.source = graph
        self.graph = graph.copy()
        self.graph.nodes = []
        self.scheme = scheme
        self.integer = integer
        self.quants = quants
        self.means = means
        self.casts: dict[tuple[str, Quant | None], str] = {}
        self.replaced: set[str] = set()

    def run(self) -> Graph:
        """Return the quantised graph."""
        graph = self.graph
        for name in graph.inputs:
            self._make_home(name)
        for state in graph.states:
            if state.read in self.quants:
                self._make_home(state.read)
                state.initial = quantise(state.initial, graph.type(state.read))
        for node in self.source.nodes:
            if node.name in self.integer:
                self._integer(node)
            else:
                self._float(node)
        for state in graph.states:
            if state.read in self.quants:
                state.write = self._integers(state.write, self.quants[state.read])
        for place, name in enumerate(graph.outputs):
            if name in self.quants and self.source.constant(name) is None:
                graph.outputs[place] = self._integers(name, self.quants[name])
                self._keep_name(graph.outputs[place], name)
        graph.prune()
        return graph

    def _make_home(self, name: str) -> None:
        value = self.graph.values[name]
        if name in self.quants and value.type.quant is None:
            value.type = Type(value.type.shape, self.scheme.activations.elem, self.quants[name])

    def _float(self, node: Node) -> None:
        inputs = [None if name is None else self._real(name) for name in node.inputs]
        matrices = {place: self.source.constant(node.inputs[place]) for place in node.op.quant.small}
        if all(data is not None and np.all(np.isfinite(data)) for data in matrices.values()):  # all or none of them
            for place, data in matrices.items():
                assert data is not None
                kind = Type(data.shape, Elem.S8, weight_rules.row_scales(data))
                small = weight_rules.to_integers(data, kind, -127, 127)
                inputs[place] = self._constant(_named(node.inputs[place]), kind, small)
        self.graph.nodes.append(dataclasses.replace(node, inputs=tuple(inputs)))

    def _integer(self, node: Node) -> None:
        rule = node.op.quant
        for output in node.outputs:
            self._make_home(output)
        asked = self.quants[node.outputs[0]] if rule.ties and node.outputs[0] in self.quants else None
        inputs: list[str | None] = list(node.inputs)
        for place, name in enumerate(node.inputs):
            if name is not None and place not in (rule.weights, rule.bias):
                inputs[place] = self._operand(name, asked)
        if rule.weights is not None:
            self._weights(node, inputs)
        self.graph.nodes.append(dataclasses.replace(node, inputs=tuple(inputs)))

    def _operand(self, name: str, asked: Quant | None) -> str:
        """An input of an integer node that is neither weights nor bias, with quantisation ``asked`` if there is one."""
        if self.source.type(name).elem is not Elem.F32:
            return name
        data = self.source.constant(name)
        if data is None:
            return self._integers(name, asked or self.quants[name])
        quant = asked or self.scheme.activations.quant(float(data.min()), float(data.max()))
        kind = Type(data.shape, self.scheme.activations.elem, quant)
        return self._constant(name, kind, quantise(data, kind))

    def _weights(self, node: Node, inputs: list[str | None]) -> None:
        """Quantise weights and bias of ``node``, whose other inputs are integers already."""
        rule, form = node.op.quant, self.scheme.weights
        place = next(i for i in range(len(inputs)) if i not in (rule.weights, rule.bias))
        source, result = self.graph.type(_named(inputs[place])), self.graph.type(node.outputs[0])
        name = _named(node.inputs[rule.weights])
        real = self.source.values[name].data
        bias_name = node.inputs[rule.bias] if rule.bias is not None and rule.bias < len(inputs) else None
        bias = self.source.constant(bias_name)
        assert real is not None
        quant = weight_rules.scales(real, rule.weights_axis, bias, source, result, self.scheme)
        kind = Type(real.shape, form.elem, quant)
        integers = weight_rules.to_integers(real, kind, form.low, form.high)
        inputs[rule.weights] = self._constant(name, kind, integers)
        if bias_name is not None and bias is not None:
            bias_kind = Type(bias.shape, self.scheme.bias, weight_rules.bias_quant(source, quant))
            error = dequantise(integers, kind).astype(np.float64) - real
            shift = weight_rules.mean_shift(error, rule.weights_axis, self.means[_named(node.inputs[place])])
            bias = bias - shift / _taps_apart(node)
            inputs[rule.bias] = self._constant(bias_name, bias_kind, quantise(bias, bias_kind))

    def _constant(self, name: str, kind: Type, data: Array) -> str:
        """A constant with integer content; it takes the float one's name where that has no other reader."""
        readers = self.source.consumers(name)
        if len(readers) == 1 and readers[0].inputs.count(name) == 1:
            self.graph.values[name] = Value(name, kind, data)
            return name
        return self.graph.add_value(f"{name}_quantized", kind, data)

    def _integers(self, name: str, quant: Quant) -> str:
        """The value in integers of this quantisation, rescaled or quantised if need be."""
        home = self.graph.type(name)
        if home.quant == quant:
            return name
        if (name, quant) not in self.casts:
            op = Quantize(elem=self.scheme.activations.elem)
            node = self.graph.add_node(f"{name}_quantized", op, (name,))
            made = node.outputs[0]
            self.graph.values[made].type = dataclasses.replace(self.graph.type(made), quant=quant)
            self.casts[name, quant] = made
        return self.casts[name, quant]

    def _real(self, name: str) -> str:
        """The value in float."""
        if self.graph.type(name).quant is None:
            return name
        if (name, None) not in self.casts:
            node = self.graph.add_node(f"{name}_dequantized", Dequantize(), (name,))
            self.casts[name, None] = node.outputs[0]
        return self.casts[name, None]

    def _keep_name(self, made: str, name: str) -> None:
        """Give an output's name to the value that is the output now; its float form moves aside."""
        if made == name or name in self.replaced:
            return
        self.replaced.add(name)
        aside = self.graph.unique_name(f"{name}_float")
        self._rename(name, aside)
        self._rename(made, name)

    def _rename(self, old: str, new: str) -> None:
        value = self.graph.values.pop(old)
        value.name = new
        self.graph.values[new] = value
        for node in self.graph.nodes:
            node.inputs = tuple(new if n == old else n for n in node.inputs)
            node.outputs = tuple(new if n == old else n for n in node.outputs)
        self.graph.outputs = [new if n == old else n for n in self.graph.outputs]
        for state in self.graph.states:
            state.write = new if state.write == old else state.write


def _taps_apart(node: Node) -> int:
    """One of how many taps reaches an output: all of them, but for strides of a transposed convolution."""
    return math.prod(node.op.stride) if node.op.name.startswith("transpose_conv") else 1


def _named(name: str | None) -> str:
    assert name is not None
    return name
