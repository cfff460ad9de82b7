"""The graph: values by name, nodes in order of execution, states that live between runs."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Protocol

from tinydeploy.ir.types import Array, Type


class Operator(Protocol):
    """What the graph needs of an operator; `tinydeploy.ops._op.Op` is the full contract."""

    @property
    def name(self) -> str:
        """TFLite's word in snake_case."""

    def infer(self, inputs: tuple[Type | None, ...]) -> tuple[Type, ...]:
        """Shapes and element types of the outputs."""

    def attributes(self) -> dict[str, Any]:
        """Attribute values by name, for printing."""


@dataclasses.dataclass
class Value:
    """A tensor. ``data`` holds a constant's content (its shape and dtype are those of ``type``)."""

    name: str
    type: Type
    data: Array | None = None


@dataclasses.dataclass
class Node:
    """One operator applied. ``inputs`` may hold None for an absent optional input; every output is named."""

    name: str
    op: Any  # an Operator; Any so that passes can look at the attributes of a known class after isinstance
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    origin: str = ""  # what the user's file calls it, for messages: "'conv3' (Conv)"


@dataclasses.dataclass
class State:
    """A tensor kept between runs: ``read`` is its content when a run begins, ``write`` the value stored at the end."""

    name: str
    read: str
    write: str
    initial: Array


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the graph came from."""

    file: str
    format: str
    sha256: str


@dataclasses.dataclass
class Graph:
    """Nodes are kept in a valid order of execution. Inputs and outputs are in the model's own order."""

    name: str
    values: dict[str, Value] = dataclasses.field(default_factory=dict)
    nodes: list[Node] = dataclasses.field(default_factory=list)
    inputs: list[str] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    states: list[State] = dataclasses.field(default_factory=list)
    source: Source | None = None
    warnings: list[str] = dataclasses.field(default_factory=list)
    _places: dict[str, int] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def type(self, name: str) -> Type:
        """Type of a value."""
        return self.values[name].type

    def constant(self, name: str | None) -> Array | None:
        """Content of a constant, else None."""
        return None if name is None else self.values[name].data

    def is_quantised(self) -> bool:
        """True if some value that is computed is held in quantised integers; constants alone may be, to save space."""
        return any(value.type.quant is not None and value.data is None for value in self.values.values())

    def own_level(self) -> str | None:
        """The level of a graph that is not to be quantised, as it has its own or no real numbers; None for any other.

        "int16x8" if some computed value is quantised to 16 bits, else "int8"; "integer" without real numbers. States do
        not count: the cells of int8 LSTMs have 16 bits.
        """
        kept = {name for state in self.states for name in (state.read, state.write)} - {*self.inputs, *self.outputs}
        kinds = [value.type for name, value in self.values.items() if value.data is None and name not in kept]
        if self.is_quantised():
            return "int16x8" if any(kind.quant is not None and kind.elem.bits == 16 for kind in kinds) else "int8"
        return None if any(kind.elem.is_float for kind in kinds) else "integer"

    def producer(self, name: str) -> Node | None:
        """The node that writes a value; None for inputs, constants and state reads."""
        value = self.values.get(name)
        if value is None or value.data is not None or name in self.inputs or any(s.read == name for s in self.states):
            return None
        place = self._places.get(name, -1)
        if not (0 <= place < len(self.nodes) and name in self.nodes[place].outputs):
            # Nodes are changed in place by everybody: what is remembered is checked, and found again if it is wrong.
            self._places = {output: i for i, node in enumerate(self.nodes) for output in node.outputs}
            place = self._places.get(name, -1)
        return self.nodes[place] if place >= 0 else None

    def consumers(self, name: str) -> list[Node]:
        """The nodes that read a value, in order; a node that reads it twice is listed once."""
        return [node for node in self.nodes if name in node.inputs]

    def is_kept(self, name: str) -> bool:
        """True if the value is seen from outside: a graph output or the next content of a state."""
        return name in self.outputs or any(state.write == name for state in self.states)

    def unique_name(self, stem: str) -> str:
        """``stem``, or ``stem_1``, ``stem_2`` ... so that no value and no node has it."""
        taken = set(self.values) | {node.name for node in self.nodes}
        if stem not in taken:
            return stem
        number = 1
        while f"{stem}_{number}" in taken:
            number += 1
        return f"{stem}_{number}"

    def add_value(self, stem: str, kind: Type, data: Array | None = None) -> str:
        """Add a value (a constant if ``data``) and return its name, made unique from ``stem``."""
        name = self.unique_name(stem)
        self.values[name] = Value(name, kind, data)
        return name

    def add_node(
        self,
        stem: str,
        op: Operator,
        inputs: tuple[str | None, ...],
        *,
        outputs: tuple[str, ...] | None = None,
        index: int | None = None,
        origin: str = "",
    ) -> Node:
        """Add a node; its outputs are made from `infer` unless given. ``index``: position, default the end."""
        if outputs is None:
            kinds = op.infer(tuple(None if name is None else self.type(name) for name in inputs))
            outputs = tuple(self.add_value(stem if i == 0 else f"{stem}_out{i}", kind) for i, kind in enumerate(kinds))
        node = Node(self._node_name(stem), op, inputs, outputs, origin)
        self.nodes.insert(len(self.nodes) if index is None else index, node)
        return node

    def _node_name(self, stem: str) -> str:
        taken = {node.name for node in self.nodes}
        name, number = stem, 1
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        return name

    def replace_uses(self, old: str, new: str) -> None:
        """Every reader of ``old`` (nodes, graph outputs, states) reads ``new`` instead."""
        for node in self.nodes:
            if old in node.inputs:
                node.inputs = tuple(new if name == old else name for name in node.inputs)
        self.outputs = [new if name == old else name for name in self.outputs]
        for state in self.states:
            if state.write == old:
                state.write = new

    def remove_node(self, node: Node) -> None:
        """Remove a node and the values only it wrote."""
        self.nodes = [other for other in self.nodes if other is not node]
        for name in node.outputs:
            self.values.pop(name, None)

    def prune(self) -> None:
        """Drop nodes whose results nobody sees, and values nobody uses. Graph inputs stay."""
        needed = set(self.outputs) | {state.write for state in self.states}
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if any(name in needed for name in node.outputs):
                kept.append(node)
                needed.update(name for name in node.inputs if name is not None)
        self.nodes = kept[::-1]
        needed.update(self.inputs)
        needed.update(state.read for state in self.states)
        for node in self.nodes:
            needed.update(node.outputs)
        self.values = {name: value for name, value in self.values.items() if name in needed}

    def copy(self) -> Graph:
        """A copy whose nodes and values can be changed; constant data is shared and must not be written."""
        twin = copy.copy(self)
        twin.values = {name: copy.copy(value) for name, value in self.values.items()}
        twin.nodes = [copy.copy(node) for node in self.nodes]
        twin.inputs, twin.outputs = list(self.inputs), list(self.outputs)
        twin.states = [copy.copy(state) for state in self.states]
        twin.warnings = list(self.warnings)
        twin._places = {}
        return twin
