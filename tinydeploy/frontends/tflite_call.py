"""One operator of a TFLite file while it is translated: its operands, its options, and the nodes it becomes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import Builder, clamp_of, make, same_padding, short
from tinydeploy.frontends.tflite_model import Model, Operator
from tinydeploy.frontends.tflite_schema import ACTIVATIONS, OPTIONS, OPTIONS2, PADDINGS
from tinydeploy.ir import Array, Quant, Type, Value


class Importer:
    """The graph under construction and the names of the tensors in it."""

    def __init__(self, model: Model, builder: Builder, *, reshaped: bool) -> None:
        self.model = model
        self.builder = builder
        self.reshaped = reshaped  # the user gave input shapes, so those in the file no longer hold
        self.names: dict[int, str] = {}

    def name(self, index: int) -> str:
        """The value of a tensor: an input, a constant or the result of an earlier operator.

        Raises: InputError if nothing has written it.
        """
        if index not in self.names:
            tensor = self.model.tensor(index)
            if tensor.data is None:
                raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is read before it is written"))
            self.names[index] = self.builder.value(tensor.name, tensor.type, tensor.data)
        return self.names[index]

    def reserve(self, index: int) -> str:
        """Name for a tensor that is about to be written."""
        tensor = self.model.tensor(index)
        if index in self.names or tensor.data is not None:
            raise InputError(Problem("", f"tensor {index} '{short(tensor.name)}' is written twice"))
        self.names[index] = self.builder.unique(tensor.name)
        return self.names[index]

    def declare(self, index: int) -> None:
        """Give the output of an operator that failed its stated type, so that what follows can be checked too."""
        if index not in self.names:
            tensor = self.model.tensor(index)
            self.names[index] = self.builder.value(tensor.name, tensor.type, tensor.data)
        elif self.names[index] not in self.builder.graph.values:
            name = self.names[index]
            self.builder.graph.values[name] = Value(name, self.model.tensor(index).type)


class Call:
    """What a translation sees of its operator."""

    def __init__(self, importer: Importer, operator: Operator) -> None:
        self._importer = importer
        self._operator = operator
        self._builder = importer.builder
        self.kind = operator.kind
        names = [f"'{short(importer.model.tensor(i).name)}'" for i in operator.outputs]
        self.origin = f"operator {operator.index} ({operator.kind}) {', '.join(names)}"
        self.inputs = tuple(None if i < 0 else importer.name(i) for i in operator.inputs)
        self.output_count = len(operator.outputs)

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
        return self.inputs[index] if index < len(self.inputs) else None

    def type(self, name: str) -> Type:
        """Type of a value."""
        return self._builder.graph.type(name)

    def output_type(self, index: int = 0) -> Type:
        """The type the file states for an output."""
        if index >= self.output_count:
            raise self.damaged(f"output {index} is missing")
        return self._importer.model.tensor(self._operator.outputs[index]).type

    def intermediate_type(self, index: int) -> Type:
        """The type the file states for an intermediate tensor of a quantised LSTM."""
        if index >= len(self._operator.intermediates):
            raise self.damaged(f"intermediate tensor {index} is missing")
        return self._importer.model.tensor(self._operator.intermediates[index]).type

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
        stem = f"{operator}_{self._operator.index}"
        return self._builder.node(make(operator, **attributes), inputs, stem=stem, origin=self.origin, quants=(quant,))[
            0
        ]

    def emit(self, operator: str, inputs: tuple[str | None, ...], **attributes: Any) -> None:
        """Add the node that writes this operator's outputs."""
        op = make(operator, **attributes)
        outputs = self._operator.outputs
        self._builder.node(
            op,
            inputs,
            stem=f"{operator}_{self._operator.index}",
            origin=self.origin,
            outputs=[self._importer.reserve(i) for i in outputs],
            quants=[self._importer.model.tensor(i).type.quant for i in outputs],
        )
        self._compare()

    def emit_constant(self, data: Array) -> None:
        """The operator's one output is known now: it becomes a constant."""
        index = self._operator.outputs[0]
        stated = self.output_type()
        name = self._importer.reserve(index)
        kind = Type(tuple(data.shape), stated.elem, stated.quant)
        self._builder.graph.values[name] = Value(name, kind, np.array(data, stated.elem.dtype, order="C"))
        self._compare()

    def _compare(self) -> None:
        for index in self._operator.outputs:
            tensor = self._importer.model.tensor(index)
            made = self.type(self._importer.names[index])
            if made.elem is not tensor.type.elem:
                raise self.refuse(f"makes {made}, the file says {tensor.type}", "element types have to agree")
            if tensor.fixed and not self._importer.reshaped and made.shape != tensor.type.shape:
                raise self.damaged(f"makes {made}, the file says {tensor.type}")
