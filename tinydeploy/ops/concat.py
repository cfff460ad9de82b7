"""Tensors one after the other along an axis."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, present
from tinydeploy.ops.quantize import rescale


def _shapes(op: Any, inputs: Types) -> bool:
    shapes = [kind.shape for kind in inputs if kind is not None]
    if not shapes or len(shapes) != len(inputs) or not 0 <= op.axis < len(shapes[0]):
        return False
    rests = {(*shape[: op.axis], *shape[op.axis + 1 :]) for shape in shapes}
    return len(rests) == 1 and len({len(shape) for shape in shapes}) == 1


def _same_elem(_: Any, inputs: Types) -> bool:
    return len({kind.elem for kind in inputs if kind is not None}) == 1


@dataclasses.dataclass(frozen=True)
class Concat(Op):
    """The inputs one after the other along ``axis`` (counted from the front); any number of inputs.

    Integers: inputs of the output's scale are copied, others rescaled as `quantize` does.
    Source: TFLite CONCATENATION (which refuses different scales for int8); ONNX Concat.
    """

    name: ClassVar[str] = "concat"
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("all inputs are present and differ in size along the axis only", _shapes),
        Rule("all inputs have the same element type", _same_elem),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    axis: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The joined shape with the inputs' element type."""
        self.require(inputs)
        first = present(inputs, 0)
        length = sum(kind.shape[self.axis] for kind in inputs if kind is not None)
        return (Type((*first.shape[: self.axis], length, *first.shape[self.axis + 1 :]), first.elem),)

    def _join(self, arrays: list[Array]) -> Array:
        if self.axis == 0:
            return np.concatenate(arrays, axis=0)
        # A constant among stacked samples is the same for each of them.
        lead = max(array.shape[0] for array in arrays)
        repeated = [np.tile(a, (lead // max(a.shape[0], 1), *[1] * (a.ndim - 1))) for a in arrays]
        return np.concatenate(repeated, axis=self.axis)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (self._join([present(inputs, i) for i in range(len(inputs))]),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out."""
        kind = sig.outputs[0]
        return (self._join([rescale(present(inputs, i), sig.input(i), kind) for i in range(len(inputs))]),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not the joined one."""
        return self.axis != 0
