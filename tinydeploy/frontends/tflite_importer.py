"""The graph under construction: which value each tensor of a subgraph is, and the variables that live between runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import Builder, short
from tinydeploy.frontends.tflite_model import Model, Operator, Subgraph
from tinydeploy.frontends.tflite_tensor import check_readable
from tinydeploy.ir import Array, State, Type, Value
from tinydeploy.ops._op import Signature

MAX_OPERATORS = 1 << 14  # translated in all, with the bodies of loops as often as they run
MAX_DEPTH = 16
MAX_FOLDED = 1 << 20  # elements of a result that is computed while reading
MAX_FOLDED_IN_ALL = 1 << 26


@dataclasses.dataclass
class Variable:
    """What a variable is known by: ``state`` from its first read or its initial value on.

    ``named``: operators refer to it, so that it holds nothing before one has given it a value (``given``); a tensor
    that is a variable begins at zero.
    """

    name: str
    state: State | None = None
    named: bool = False
    given: bool = False


@dataclasses.dataclass
class Shared:
    """What all subgraphs of a file have in common."""

    model: Model
    builder: Builder
    reshaped: bool  # the user gave input shapes, so those in the file no longer hold
    translate: Callable[[Importer, Operator], None]
    variables: dict[tuple[object, ...], Variable] = dataclasses.field(default_factory=dict)
    operators: int = 0
    folded: int = 0  # elements

    def variable(self, key: tuple[object, ...], name: str) -> Variable:
        """The variable of that key; made at its first use."""
        return self.variables.setdefault(key, Variable(name))

    def read(self, variable: Variable, kind: Type) -> str:
        """The value that holds its present content; ``kind``: its type, should nothing be known of it yet."""
        if variable.state is None:
            start = 0 if kind.quant is None or kind.elem.bits > 8 else kind.zero_point
            self.begin(variable, kind, np.full(kind.shape, start, kind.elem.dtype))
        assert variable.state is not None
        return variable.state.write

    def begin(self, variable: Variable, kind: Type, initial: Array) -> None:
        """Give it its content at the very first run."""
        if variable.state is not None:
            variable.state.initial = initial
            return
        name = self.builder.value(variable.name, kind)
        variable.state = State(name, name, name, initial)
        self.builder.graph.states.append(variable.state)

    def write(self, variable: Variable, name: str) -> None:
        """Give it a new content.

        Raises: UnsupportedError if that has another type than the variable.
        """
        kind = self.builder.graph.type(name)
        held = self.builder.graph.type(self.read(variable, kind))
        if held != kind:
            raise UnsupportedError(Problem("", f"puts {kind} into variable '{short(variable.name)}', which is {held}"))
        assert variable.state is not None
        variable.state.write = name
        variable.given = True


class Importer:
    """One subgraph while it is translated; a subgraph that is run twice has two of these."""

    def __init__(self, shared: Shared, subgraph: Subgraph, depth: int = 0, *, initialising: bool = False) -> None:
        self.shared, self.subgraph = shared, subgraph
        self.builder, self.depth = shared.builder, depth
        self.initialising = initialising  # runs once, before the first run of the model
        self.names: dict[int, str] = {}
        self.handles: dict[int, Variable] = {}
        self.failed: set[int] = set()
        self.empty: set[int] = set()  # tensors without elements

    @property
    def place(self) -> str:
        """Words that say where an operator is, for messages."""
        return f" of subgraph {self.subgraph.index}" if self.subgraph.index else ""

    def run(self) -> None:
        """Translate every operator.

        Raises: UnsupportedError if the file asks for more operators than are read.
        """
        for operator in self.subgraph.operators:
            self.shared.operators += 1
            if self.shared.operators > MAX_OPERATORS:
                rule = f"at most {MAX_OPERATORS} operators, each as often as its loop runs"
                raise UnsupportedError(Problem("", "the loops of the model run too many operators", rule))
            self.shared.translate(self, operator)

    def name(self, index: int) -> str:
        """The value of a tensor: an input, a constant, a variable or the result of an earlier operator.

        Raises: InputError if nothing has written it.
        """
        tensor = self.subgraph.tensor(index)
        if tensor.variable:
            return self.shared.read(self.variable(index), tensor.type)
        if index in self.empty:
            raise UnsupportedError(Problem("", f"tensor {index} '{short(tensor.name)}' has no elements"))
        if index not in self.names:
            check_readable(tensor, "")
            if tensor.data is None:
                raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is read before it is written"))
            self.names[index] = self.builder.value(tensor.name, tensor.type, tensor.data)
        return self.names[index]

    def variable(self, index: int) -> Variable:
        """That of a tensor which keeps its content between runs.

        Raises: InputError if it is an ordinary one.
        """
        tensor = self.subgraph.tensor(index)
        if not tensor.variable:
            raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is no variable"))
        return self.shared.variable((self.subgraph.index, index), tensor.name)

    def reserve(self, index: int) -> str:
        """Name for a tensor that is about to be written."""
        tensor = self.subgraph.tensor(index)
        if index in self.names or tensor.data is not None or tensor.variable or tensor.resource:
            raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is written twice"))
        # The output keeps the name that the file gives it; the int8 value it is made of has another.
        inside = tensor.shifted and not self.depth and index in self.subgraph.outputs
        self.names[index] = self.builder.unique(f"{tensor.name}_int8" if inside else tensor.name)
        return self.names[index]

    def alias(self, index: int, name: str) -> None:
        """A tensor is a value that exists.

        Raises: UnsupportedError if the file states another element type or quantisation.
        """
        tensor, kind = self.subgraph.tensor(index), self.builder.graph.type(name)
        if index in self.names or tensor.data is not None or tensor.variable:
            raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is written twice"))
        if (tensor.type.elem, tensor.type.quant) != (kind.elem, kind.quant):
            what = f"tensor {index} '{short(tensor.name)}' is {tensor.type}, and is given {kind}"
            raise UnsupportedError(Problem("", what, "both have one element type and scale"))
        self.names[index] = name

    def declare(self, index: int) -> None:
        """Give the output of an operator that failed its stated type, so that what follows can be checked too."""
        tensor = self.subgraph.tensor(index)
        if tensor.variable or tensor.resource:
            return
        if index not in self.names:
            self.names[index] = self.builder.value(tensor.name, tensor.type, tensor.data)
        elif self.names[index] not in self.builder.graph.values:
            name = self.names[index]
            self.builder.graph.values[name] = Value(name, tensor.type)

    def fold(self, names: Sequence[str]) -> None:
        """Compute the node that was added last, which made ``names``, if all its inputs are constants.

        Sizes, indices and conditions of loops are computed in the file like everything else, and have to be known.
        """
        graph = self.builder.graph
        node = graph.nodes[-1]
        arrays = [graph.constant(name) for name in node.inputs]
        sig = Signature.of(graph, node)
        if any(a is None and n is not None for a, n in zip(arrays, node.inputs, strict=True)) or not node.inputs:
            return
        size = sum(kind.size for kind in sig.outputs)
        if max(size, node.op.macs(sig)) > MAX_FOLDED or self.shared.folded + size > MAX_FOLDED_IN_ALL:
            return
        self.shared.folded += size
        plain = all(kind is None or kind.quant is None for kind in (*sig.inputs, *sig.outputs))
        try:
            results = node.op.reference(*arrays) if plain else node.op.integer(sig, *arrays)
        except (NotImplementedError, ValueError, ArithmeticError, IndexError):
            return  # it stays a node, and whatever is wrong with it is said where it matters
        for name, kind, result in zip(names, sig.outputs, results, strict=True):
            graph.values[name].data = np.asarray(result, kind.elem.dtype).reshape(kind.shape)
        graph.nodes.pop()

    def inline(
        self, number: int, operands: Sequence[str | Variable], *, initialising: bool = False
    ) -> list[str | Variable]:
        """Translate a subgraph in place; ``operands``: its inputs. Returns its outputs.

        Raises: InputError if it does not take that many, UnsupportedError if subgraphs are nested too deep.
        """
        if self.depth >= MAX_DEPTH:
            raise UnsupportedError(Problem("", "subgraphs run each other without end", f"at most {MAX_DEPTH} deep"))
        subgraph = self.shared.model.subgraph(number)
        if len(subgraph.inputs) != len(operands):
            what = f"subgraph {number} takes {len(subgraph.inputs)} inputs and is given {len(operands)}"
            raise InputError(Problem("", what))
        inner = Importer(self.shared, subgraph, self.depth + 1, initialising=self.initialising or initialising)
        for index, operand in zip(subgraph.inputs, operands, strict=True):
            inner.bind(index, operand)
        inner.run()
        if inner.failed:
            raise UnsupportedError([])  # the reasons have been noted
        return [inner.operand(index) for index in subgraph.outputs]

    def operand(self, index: int) -> str | Variable:
        """What a tensor passes to a subgraph: a value, or the handle of a variable."""
        return self.handles[index] if index in self.handles else self.name(index)

    def bind(self, index: int, operand: str | Variable) -> None:
        """Give a tensor what `operand` returned elsewhere."""
        if isinstance(operand, Variable):
            self.handles[index] = operand
        else:
            self.alias(index, operand)
