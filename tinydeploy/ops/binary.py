"""Functions of two elements that broadcast: arithmetic, powers, remainders, extremes."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics import float32
from tinydeploy.ops import _binary, _pairs
from tinydeploy.ops._elementwise import is_kind
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, present, require_tied


def _taken(op: Any, inputs: Types) -> bool:
    return all(kind is None or is_kind(kind, op.takes) for kind in inputs)


class Binary(Op):
    """``y = f(a, b)`` with broadcasting (NumPy's rules); both have one element type, which y has too.

    A subclass says what f is: `real` in float32 or float64, `single` in the C's float32 if that is not the same, and
    `plain` of integers or bools if it takes them.
    """

    takes: ClassVar[str] = "f"
    result: ClassVar[Elem | None] = None
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        Rule("the shapes broadcast to a common shape", lambda _, inputs: _binary.broadcast_shape(inputs) is not None),
        Rule("both inputs have the same element type", lambda _, inputs: len({k.elem for k in inputs if k}) == 1),
        Rule("the inputs have an element type for which the function is defined", _taken),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    def real(self, a: Array, b: Array) -> Array:
        """The function of real numbers, in the operands' own precision."""
        raise NotImplementedError

    def single(self, a: Array, b: Array) -> Array:
        """The function in float32, every bit as in C."""
        return self.real(a, b)

    def plain(self, a: Array, b: Array) -> Array:
        """The function of integers without quantisation, or of bools."""
        raise NotImplementedError

    def c_name(self) -> str:
        """The C function is td_<this>_<element type>."""
        return self.name

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The broadcast shape."""
        self.require(inputs)
        shape = _binary.broadcast_shape(inputs)
        assert shape is not None
        return (Type(shape, self.result or present(inputs, 0).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out; integers stay integers."""
        a, b = present(inputs, 0), present(inputs, 1)
        kind = self.result.dtype if self.result else a.dtype
        with np.errstate(all="ignore"):
            made = self.real(a, b) if a.dtype.kind == "f" else self.plain(a, b)
        return (np.asarray(made).astype(kind, copy=False),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The C's arithmetic."""
        if sig.outputs[0].elem is not Elem.F32:
            return self.reference(*inputs)
        with np.errstate(all="ignore"):
            return (np.asarray(self.single(present(inputs, 0), present(inputs, 1))),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Integers without quantisation, and floats with a result that is none."""
        return self.reference(*inputs)

    def batchable(self, sig: Signature) -> bool:
        """True if nothing is broadcast along axis 0."""
        return _binary.batchable(sig)


class Div(Binary):
    """``y = a / b``; integers without the fraction, 0 where b is 0. Source: ONNX Div-14, TFLite DIV."""

    name: ClassVar[str] = "div"
    takes: ClassVar[str] = "fsu"
    quant: ClassVar[QuantRule] = QuantRule()

    def real(self, a: Array, b: Array) -> Array:
        """The quotient."""
        return np.asarray(a / b)

    def plain(self, a: Array, b: Array) -> Array:
        """Towards zero."""
        down = np.floor_divide(a, b)
        short = (np.fmod(a, b) != 0) & ((a < 0) != (b < 0))
        return np.asarray(np.where(b == 0, a.dtype.type(0), down + short.astype(a.dtype)))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: TFLite's arithmetic."""
        a, b = present(inputs, 0), present(inputs, 1)
        return self.reference(a, b) if sig.outputs[0].quant is None else (_pairs.divide(sig, a, b),)


class FloorDiv(Binary):
    """``y = floor(a / b)``; integers give 0 where b is 0. Source: TFLite FLOOR_DIV."""

    name: ClassVar[str] = "floor_div"
    takes: ClassVar[str] = "fsu"

    def real(self, a: Array, b: Array) -> Array:
        """The quotient rounded down."""
        return np.floor(a / b)

    def plain(self, a: Array, b: Array) -> Array:
        """The quotient rounded down."""
        return np.where(b == 0, a.dtype.type(0), np.floor_divide(a, b))


@dataclasses.dataclass(frozen=True)
class Mod(Binary):
    """The remainder of ``a / b`` with the sign of b, or with ``fmod`` that of a; integers give 0 where b is 0.

    Source: ONNX Mod-13, TFLite FLOOR_MOD (sign of b).
    """

    name: ClassVar[str] = "mod"
    takes: ClassVar[str] = "fsu"
    fmod: bool = False

    def c_name(self) -> str:
        """One of two functions."""
        return "fmod" if self.fmod else "mod"

    def real(self, a: Array, b: Array) -> Array:
        """The remainder."""
        rest = np.fmod(a, b)
        return rest if self.fmod else np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)

    def plain(self, a: Array, b: Array) -> Array:
        """The remainder."""
        return np.asarray(np.fmod(a, b) if self.fmod else np.mod(a, b))


class Pow(Binary):
    """``y = a ** b``; integers wrap, negative powers lose their fraction. Source: ONNX Pow-15, TFLite POW."""

    name: ClassVar[str] = "pow"
    takes: ClassVar[str] = "fsu"

    def real(self, a: Array, b: Array) -> Array:
        """The power, by way of float64."""
        return np.power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)

    def single(self, a: Array, b: Array) -> Array:
        """As td_powf."""
        return np.asarray(float32.pow(a, b))

    def plain(self, a: Array, b: Array) -> Array:
        """By squaring."""
        base, power = np.broadcast_arrays(a.astype(np.uint64), np.maximum(b, 0).astype(np.uint64))
        result = np.ones_like(base)
        for bit in range(64):
            result = np.where((power >> np.uint64(bit)) & np.uint64(1) == 1, result * base, result)
            base = base * base
        one = a.dtype.type(1)
        below = np.where(a == 1, one, np.where((a < 0) & (a + one == 0), np.where(b % 2 == 0, one, a), a.dtype.type(0)))
        return np.where(b < 0, below, result.astype(a.dtype))


class SquaredDifference(Binary):
    """``y = (a - b) ** 2``; integers wrap. Source: TFLite SQUARED_DIFFERENCE."""

    name: ClassVar[str] = "squared_difference"
    takes: ClassVar[str] = "fsu"
    quant: ClassVar[QuantRule] = QuantRule()

    def real(self, a: Array, b: Array) -> Array:
        """The square of the difference."""
        return np.asarray((a - b) * (a - b))

    plain = real

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: TFLite's arithmetic."""
        a, b = present(inputs, 0), present(inputs, 1)
        return self.reference(a, b) if sig.outputs[0].quant is None else (_pairs.squared_difference(sig, a, b),)


class Atan2(Binary):
    """The angle of the point (b, a). Source: TFLite ATAN2."""

    name: ClassVar[str] = "atan2"

    def real(self, a: Array, b: Array) -> Array:
        """By way of float64."""
        return np.arctan2(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)

    def single(self, a: Array, b: Array) -> Array:
        """As td_atan2f."""
        return np.asarray(float32.atan2(a, b))


class Prelu(Binary):
    """``y = a`` from 0 on, ``a * b`` below; b broadcasts. Source: ONNX PRelu-16, TFLite PRELU."""

    name: ClassVar[str] = "prelu"
    takes: ClassVar[str] = "fsu"
    quant: ClassVar[QuantRule] = QuantRule()

    def real(self, a: Array, b: Array) -> Array:
        """The slope b below 0."""
        return np.where(a >= 0, a, a * b)

    plain = real

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: TFLite's arithmetic."""
        a, b = present(inputs, 0), present(inputs, 1)
        return self.reference(a, b) if sig.outputs[0].quant is None else (_pairs.prelu(sig, a, b),)


class _Extreme(Binary):
    """Takes quantised values as they are, if all have one scale."""

    takes: ClassVar[str] = "fsu"
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Of the integers themselves."""
        require_tied(self, sig)
        return (np.asarray(self.plain(present(inputs, 0), present(inputs, 1))),)


class Maximum(_Extreme):
    """The larger of the two, NaN if one is. Source: ONNX Max-13, TFLite MAXIMUM."""

    name: ClassVar[str] = "maximum"

    def real(self, a: Array, b: Array) -> Array:
        """Of equal ones the second."""
        return np.where((a > b) | np.isnan(a), a, b)

    def plain(self, a: Array, b: Array) -> Array:
        """Of integers."""
        return np.maximum(a, b)


class Minimum(_Extreme):
    """The smaller of the two, NaN if one is. Source: ONNX Min-13, TFLite MINIMUM."""

    name: ClassVar[str] = "minimum"

    def real(self, a: Array, b: Array) -> Array:
        """Of equal ones the second."""
        return np.where((a < b) | np.isnan(a), a, b)

    def plain(self, a: Array, b: Array) -> Array:
        """Of integers."""
        return np.minimum(a, b)
