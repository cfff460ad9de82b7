"""Element-wise product."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops import _binary, _linear
from tinydeploy.ops._elementwise import limited
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, present


def _product_fits(_: Any, inputs: Types) -> bool:
    kinds = [kind for kind in inputs if kind is not None and kind.elem is Elem.S16 and kind.quant is not None]
    return all(kind.zero_point == 0 for kind in kinds)


@dataclasses.dataclass(frozen=True)
class Mul(Op):
    """``y = clamp(a * b)`` with broadcasting (NumPy's rules).

    Integers: the product of the centred inputs is rescaled once with double rounding.
    Source: TFLite MUL; ONNX Mul.
    """

    name: ClassVar[str] = "mul"
    rules: ClassVar[tuple[Rule, ...]] = (
        *_binary.RULES,
        Rule("quantised int16 has no zero point, so that products fit into 32 bits", _product_fits),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The broadcast shape with the inputs' element type."""
        self.require(inputs)
        return _binary.infer(inputs)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return (_linear.real_clamp(present(inputs, 0) * present(inputs, 1), self.clamp),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As td_mul_f32."""
        with np.errstate(all="ignore"):
            return (limited(present(inputs, 0) * present(inputs, 1), self.clamp),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out; integers without quantisation wrap."""
        return (_binary.multiply(sig, present(inputs, 0), present(inputs, 1), self.clamp),)

    def batchable(self, sig: Signature) -> bool:
        """True if nothing is broadcast along axis 0."""
        return _binary.batchable(sig)
