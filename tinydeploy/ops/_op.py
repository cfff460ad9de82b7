"""The contract of an operator: what it means in real numbers, and its arithmetic in integers, bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tinydeploy.errors import Problem, UnsupportedError
from tinydeploy.ir import Array, Elem, Graph, Node, Type

Types: TypeAlias = "tuple[Type | None, ...]"
Arrays: TypeAlias = "tuple[Array, ...]"
NO_CLAMP = (float("-inf"), float("inf"))


@dataclasses.dataclass(frozen=True)
class Signature:
    """Types of a node's inputs (None where an optional one is absent) and outputs."""

    inputs: Types
    outputs: tuple[Type, ...]

    @staticmethod
    def of(graph: Graph, node: Node) -> Signature:
        """That of a node of ``graph``."""
        inputs = tuple(None if name is None else graph.type(name) for name in node.inputs)
        return Signature(inputs, tuple(graph.type(name) for name in node.outputs))

    def input(self, index: int) -> Type:
        """Type of a present input."""
        kind = self.inputs[index]
        assert kind is not None
        return kind


@dataclasses.dataclass(frozen=True)
class QuantRule:
    """How an operator is quantised.

    ``weights``: input index that holds weights, quantised symmetrically per channel of ``weights_axis``.
    ``bias``: input index quantised to int32 with scale = input scale x weight scale.
    ``ties``: all inputs and outputs share one scale (reshape, pooling by maximum, concat ...).
    ``fixed_output``: the (scale, zero_point) of an int8 output that the operator itself prescribes (softmax).
    ``integer``: False if the operator has no integer arithmetic and stays in float.
    ``small``: matrices of an operator that stays in float which its kernels take as int8 with a scale a row.
    """

    weights: int | None = None
    weights_axis: int = 0
    bias: int | None = None
    ties: bool = False
    fixed_output: tuple[float, int] | None = None
    integer: bool = True
    small: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rule:
    """One condition under which the operator is accepted.

    The text is the message, the documentation and the check's name.
    """

    text: str
    holds: Callable[[Any, Types], bool]


@dataclasses.dataclass(frozen=True)
class Op:
    """Base of all operators. A subclass is a frozen dataclass whose fields are the attributes.

    Arrays given to `reference` and `integer` have exactly the shapes of the node's types, except that axis 0 may be
    a multiple of it where `batchable` says so. Absent optional inputs are None. Results are tuples.
    """

    name: ClassVar[str] = ""
    rules: ClassVar[tuple[Rule, ...]] = ()
    quant: ClassVar[QuantRule] = QuantRule()
    stored: ClassVar[tuple[int, ...]] = ()  # inputs whose quantised constants `float32` takes as they are stored

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """Output types from input types: shapes and element types; quantisation is the quantiser's or the file's.

        Raises: UnsupportedError with every rule that does not hold (see `require`).
        """
        raise NotImplementedError

    def reference(self, *inputs: Array | None) -> Arrays:
        """Real numbers in, real numbers out (float32): the definition, agreeing with ONNX Runtime, Keras and LiteRT.

        Integers and bools without quantisation come and go in their own element types.
        """
        raise NotImplementedError

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The generated C's arithmetic in every bit, where the first output is float.

        An operator whose `reference` computes in another order or precision than its kernel has its own.
        """
        return self.reference(*inputs)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The generated C's arithmetic in every bit, where the first output is integer or bool; inputs may be float."""
        raise NotImplementedError

    def macs(self, sig: Signature) -> int:
        """Multiply-accumulates for one run, padding positions counted."""
        return 0

    def batchable(self, sig: Signature) -> bool:
        """True if samples may be stacked along axis 0 of every non-constant input and output."""
        return False

    def attributes(self) -> dict[str, Any]:
        """Attribute values by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def broken_rules(self, inputs: Types) -> list[str]:
        """Texts of the rules that do not hold for these input types."""
        return [rule.text for rule in self.rules if not rule.holds(self, inputs)]

    def require(self, inputs: Types) -> None:
        """Raise UnsupportedError with one Problem a broken rule; the caller knows the node's name and may add it."""
        broken = self.broken_rules(inputs)
        if broken:
            shapes = ", ".join("absent" if kind is None else str(kind) for kind in inputs)
            raise UnsupportedError([Problem("", f"{self.name} cannot take ({shapes})", rule=text) for text in broken])


def present(inputs: tuple[Any, ...], index: int) -> Any:
    """A required input: an array or a type, whichever ``inputs`` holds."""
    item = inputs[index]
    assert item is not None
    return item


def optional(inputs: tuple[Any, ...], index: int) -> Any:
    """An input that may be None or left out."""
    return inputs[index] if index < len(inputs) else None


def count_rule(least: int, most: int | None = None) -> Rule:
    """The rule that ``least`` inputs are present, and that there are no more than ``most`` (default: ``least``)."""
    most = least if most is None else most
    words = f"{least}" if least == most else f"{least} to {most}"
    return Rule(
        f"takes {words} input{'s' if most > 1 else ''}",
        lambda _, inputs: least <= len(inputs) <= most and all(kind is not None for kind in inputs[:least]),
    )


def _eight_bit(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and (x.elem.is_float or x.elem.bits <= 8)


EIGHT_BIT = Rule("activations are float or 8 bits wide", _eight_bit)


def _narrow(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and (x.elem.is_float or x.elem.bits <= 8 or x.elem is Elem.S16)


NARROW = Rule("activations are float, int16 or 8 bits wide", _narrow)


def is_tied(sig: Signature) -> bool:
    """True if all quantised inputs and outputs share one element type, scale and zero point."""
    quants = {(k.elem, k.quant) for k in (*sig.inputs, *sig.outputs) if k is not None and k.quant is not None}
    return len(quants) <= 1


def require_tied(op: Op, sig: Signature) -> None:
    """Raise UnsupportedError unless all quantised inputs and outputs share one scale and zero point."""
    if not is_tied(sig):
        what = f"{op.name} cannot change the quantisation"
        raise UnsupportedError(Problem("", what, rule="inputs and outputs share scale and zero point"))


def clamp_limits(clamp: tuple[float, float], kind: Type) -> tuple[int, int]:
    """The integer range that a real-valued ``clamp`` allows in a quantised ``kind``.

    Source: TFLite CalculateActivationRangeQuantized (bounds are rounded half away from zero, in float32).
    """
    low, high = kind.elem.limits
    scale = np.float32(kind.scale)

    def to_int(real: float) -> int:
        ratio = float(np.float32(real) / scale)
        rounded = int(np.floor(abs(ratio) + 0.5))
        return kind.zero_point + (rounded if ratio >= 0 else -rounded)

    if clamp[0] != float("-inf"):
        low = max(low, to_int(clamp[0]))
    if clamp[1] != float("inf"):
        high = min(high, to_int(clamp[1]))
    return low, high
