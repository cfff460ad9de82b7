"""One operator of a TFLite file while it is translated: its operands, its options, and the nodes it becomes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import clamp_of, make, same_padding, short
from tinydeploy.frontends.tflite_importer import Importer, Variable
from tinydeploy.frontends.tflite_model import Operator
from tinydeploy.frontends.tflite_schema import ACTIVATIONS, ELEMENT_NAMES, OPTIONS, OPTIONS2, PADDINGS
from tinydeploy.ir import Array, Elem, Graph, Quant, Type, Value

# They see the stored integers, whatever those stand for; legacy uint8 is stored otherwise here.
_BY_BITS = frozenset({"CAST", "BITCAST", "BITWISE_XOR", "RIGHT_SHIFT"})


class Call:
    """What a translation sees of its operator."""

    def __init__(self, importer: Importer, operator: Operator) -> None:
        self.importer = importer
        self._operator = operator
        self._builder = importer.builder
        self.kind = operator.kind
        names = [f"'{short(importer.subgraph.name(i))}'" for i in operator.outputs]
        self.origin = f"operator {operator.index}{importer.place} ({operator.kind}) {', '.join(names)}".rstrip()
        self.tensors, self.results = operator.inputs, operator.outputs  # numbers in the file
        self.output_count = len(operator.outputs)
        ends = [i for i in (*operator.inputs, *operator.outputs) if i >= 0]
        if self.kind in _BY_BITS and any(importer.subgraph.tensor(i).shifted for i in ends):
            raise self.refuse("takes or makes quantised uint8", "it works on integers without a scale")

    @functools.cached_property
    def inputs(self) -> tuple[str | None, ...]:
        """Names of all inputs; None for an absent one."""
        return tuple(None if i < 0 else self.importer.name(i) for i in self.tensors)

    def warn(self, text: str) -> None:
        """Say something once that the user should know of the model."""
        if text not in self._builder.graph.warnings:
            self._builder.graph.warnings.append(text)

    def refuse(self, what: str, rule: str = "", hint: str = "") -> UnsupportedError:
        """An error for something the file may ask for but we do not do."""
        return UnsupportedError(Problem(self.origin, what, rule, hint))

    def damaged(self, what: str) -> InputError:
        """An error for something no valid file asks for."""
        return InputError(Problem(self.origin, what, hint="download or export the model again"))

    def input(self, index: int) -> str:
        """Name of a required input."""
        name = self.optional(index)
        if name is None:
            raise self.damaged(f"input {index} is missing")
        return name

    def optional(self, index: int) -> str | None:
        """Name of an input or None."""
        absent = index >= len(self.tensors) or self.tensors[index] < 0
        return None if absent else self.importer.name(self.tensors[index])

    def is_empty(self, index: int) -> bool:
        """True if an input has no elements: the head or tail that a loop cuts off at its first or last step."""
        return self.tensors[index] in self.importer.empty

    def emit_empty(self) -> None:
        """The operator's one output has no elements; only CONCATENATION may read it."""
        if len(self.results) != 1:
            raise self.damaged(f"has {len(self.results)} outputs")
        self.importer.reserve(self.results[0])
        self.importer.empty.add(self.results[0])

    @property
    def graph(self) -> Graph:
        """The graph under construction."""
        return self._builder.graph

    def constant(self, name: str | Variable) -> Array | None:
        """Content of a value that is a constant, else None."""
        return None if isinstance(name, Variable) else self._builder.graph.constant(name)

    def is_shifted(self, index: int) -> bool:
        """True if an input is uint8 in the file, and int8 here."""
        return index < len(self.tensors) and self.importer.subgraph.tensor(self.tensors[index]).shifted

    def type(self, name: str) -> Type:
        """Type of a value."""
        return self._builder.graph.type(name)

    def output_type(self, index: int = 0) -> Type:
        """The type the file states for an output."""
        if index >= self.output_count:
            raise self.damaged(f"output {index} is missing")
        return self.importer.subgraph.tensor(self.results[index]).type

    def states_shape(self, index: int = 0) -> bool:
        """True if the file states the whole shape of an output, and it still holds."""
        fixed = self.importer.subgraph.tensor(self.results[index]).fixed
        return fixed and not self.importer.shared.reshaped

    def intermediate_type(self, index: int) -> Type:
        """Element type and scale of an intermediate tensor of a quantised LSTM, as a scalar's type."""
        if index >= len(self._operator.intermediates):
            raise self.damaged(f"intermediate tensor {index} is missing")
        return self.importer.subgraph.intermediate(self._operator.intermediates[index]).type

    def data(self, index: int) -> Array | None:
        """Content of a constant input, else None."""
        return self._builder.graph.constant(self.optional(index))

    def integers(self, index: int, what: str) -> list[int]:
        """Content of a constant integer input, flattened; at most 4096 numbers."""
        data = self.data(index)
        if data is None:
            raise self.refuse(f"{what} is computed at run time", "it has to be a constant")
        if data.dtype.kind not in "iu" or data.size > 4096:
            raise self.damaged(f"{what} is {data.dtype}{list(data.shape)}")
        return [int(v) for v in data.ravel()]

    def axis(self, axis: int, rank: int) -> int:
        """An axis that may count from the end, checked."""
        if not -rank <= axis < rank:
            raise self.damaged(f"axis {axis} does not exist in {rank} dimensions")
        return axis % rank

    def option(self, name: str) -> Any:
        """A builtin option; its default (a vector: None) where the file has none."""
        second = self.kind not in OPTIONS
        number, fields = (OPTIONS2 if second else OPTIONS)[self.kind]
        kind, table = self._operator.second if second else self._operator.first
        field = next(i for i, entry in enumerate(fields) if entry[0] == name)
        _, code, default = fields[field]
        present = table if kind == number else None
        if code == "s":
            return "" if present is None else present.string(field)
        if len(code) > 1:
            return None if present is None else present.numbers(field, code)
        return default if present is None else present.scalar(field, code, default)

    def positive(self, *names: str) -> tuple[int, ...]:
        """Options that have to be at least 1."""
        values = tuple(int(self.option(name)) for name in names)
        if any(v < 1 or v > 1 << 20 for v in values):
            raise self.damaged(f"{', '.join(names)} are {list(values)}")
        return values

    def int32_sums(self, x: Type) -> bool:
        """True if a layer on int16 ``x`` is said to have biases, and so sums, of 32 bits."""
        return x.elem is Elem.S16 and ELEMENT_NAMES.index("INT32") == int(self.option("bias_type"))

    def clamp(self) -> tuple[float, float]:
        """The fused activation as bounds."""
        number = int(self.option("activation"))
        word = ACTIVATIONS[number] if 0 <= number < len(ACTIVATIONS) else f"number {number}"
        clamp = clamp_of(word)
        if clamp is None:
            raise self.refuse(f"has the fused activation {word}", "fused activations are RELU, RELU6, RELU_N1_TO_1")
        return clamp

    def padding(
        self, x: Type, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
    ) -> tuple[int, ...]:
        """SAME or VALID as (top, bottom, left, right)."""
        number = int(self.option("padding"))
        if not 0 <= number < len(PADDINGS):
            raise self.damaged(f"has padding {number}")
        if x.rank != 4:
            raise self.damaged(f"its input is {x}, not an image")
        if PADDINGS[number] == "VALID":
            return (0, 0, 0, 0)
        top, bottom = same_padding(x.shape[1], kernel[0], stride[0], dilation[0])
        left, right = same_padding(x.shape[2], kernel[1], stride[1], dilation[1])
        return (top, bottom, left, right)

    def between(
        self, operator: str, inputs: tuple[str | None, ...], quant: Quant | None = None, **attributes: Any
    ) -> str:
        """Add a node whose one result stays inside this operator; return its name."""
        return self._node(operator, inputs, None, (quant,), attributes)[0]

    def between_many(
        self, operator: str, inputs: tuple[str | None, ...], quants: tuple[Quant | None, ...], /, **attributes: Any
    ) -> tuple[str, ...]:
        """As `between` for an operator with several results."""
        return self._node(operator, inputs, None, quants, attributes)

    def hold(self, data: Array, quant: Quant | None = None) -> str:
        """Make an array a constant of the graph."""
        return self._builder.constant(f"{self.kind.lower()}_{self._operator.index}_constant", data, quant)

    def emit_part(self, index: int, operator: str, inputs: tuple[str | None, ...], **attributes: Any) -> None:
        """Add the node that writes output ``index`` alone; the last one comes last."""
        name, kind = self.importer.reserve(self.results[index]), self.output_type(index)
        self._node(operator, inputs, [name], (kind.quant,), attributes)
        if index == self.output_count - 1:
            self._compare()

    def scalar(self, value: Any) -> str:
        """A constant of rank 0 with the element type of a NumPy number."""
        return self._builder.constant(f"{self.kind.lower()}_{self._operator.index}_constant", np.asarray(value))

    def emit(self, operator: str, inputs: tuple[str | None, ...], **attributes: Any) -> None:
        """Add the node that writes this operator's outputs."""
        self.emit_with(operator, inputs, (), **attributes)

    def emit_with(
        self, operator: str, inputs: tuple[str | None, ...], more: tuple[Quant | None, ...], /, **attributes: Any
    ) -> tuple[str, ...]:
        """`emit` an operator that makes more results than the file's (states of an LSTM); return the names of those.

        ``more``: their quantisation.
        """
        if not self.results:
            raise self.damaged("has no output")
        names = [self.importer.reserve(i) for i in self.results]
        names += [self._builder.unique(f"{operator}_{self._operator.index}_state") for _ in more]
        quants = [self.importer.subgraph.tensor(i).type.quant for i in self.results]
        made = self._node(operator, inputs, names, (*quants, *more), attributes)
        self._compare()
        return made[len(self.results) :]

    def _node(
        self,
        operator: str,
        inputs: tuple[str | None, ...],
        outputs: list[str] | None,
        quants: tuple[Quant | None, ...],
        attributes: dict[str, Any],
    ) -> tuple[str, ...]:
        op = make(operator, **attributes)
        stem = f"{operator}_{self._operator.index}"
        made = self._builder.node(op, inputs, stem=stem, origin=self.origin, outputs=outputs, quants=quants)
        self.importer.fold(made)
        return made

    def assign(self, index: int, name: str) -> None:
        """Give a variable, which is input ``index``, the content it has from now on."""
        self.importer.shared.write(self.importer.variable(self.tensors[index]), name)

    def emit_constant(self, data: Array) -> None:
        """The operator's one output is known now: it becomes a constant."""
        if self.output_count != 1:
            raise self.damaged(f"has {self.output_count} outputs")
        stated, index = self.output_type(), self.results[0]
        name = self.importer.reserve(index)
        kind = Type(tuple(data.shape), stated.elem, stated.quant)
        self._builder.graph.values[name] = Value(name, kind, np.asarray(data, stated.elem.dtype, order="C"))
        self._compare()

    def _compare(self) -> None:
        for index in self.results:
            tensor = self.importer.subgraph.tensor(index)
            made = self.type(self.importer.names[index])
            if made.elem is not tensor.type.elem:
                raise self.refuse(f"makes {made}, the file says {tensor.type}", "element types have to agree")
            if tensor.fixed and not self.importer.shared.reshaped and made.shape != tensor.type.shape:
                raise self.damaged(f"makes {made}, the file says {tensor.type}")
