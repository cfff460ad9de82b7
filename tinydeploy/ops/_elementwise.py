"""What operators that apply one function to each element share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops import _int16, _table
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def is_kind(kind: Type, letters: str) -> bool:
    """True if the element type is among ``letters``: f float32, s signed, u unsigned, b bool; or if it is quantised.

    Other floats count as float32, so that constants fold.
    """
    if kind.quant is not None:
        return "f" in letters
    return letter_of(kind.elem) in letters


def letter_of(elem: Elem) -> str:
    """The letter of an element type, see `is_kind`."""
    if elem.is_float:
        return "f"
    if elem is Elem.BOOL:
        return "b"
    return "s" if elem.limits[0] < 0 else "u"


def limited(x: Array, clamp: tuple[float, float]) -> Array:
    """Float32 within a real range, zeros and NaN as in C: what is not outside stays as it is."""
    if clamp == NO_CLAMP:
        return x
    low, high = np.float32(clamp[0]), np.float32(clamp[1])
    raised = np.where(x < low, low, x)
    return np.where(raised > high, high, raised)


def _taken(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is None or is_kind(x, op.takes)


class Unary(Op):
    """``y = f(x)`` for each element; shape and, unless `result` says so, element type are the input's.

    A subclass says what f is: `real` in float64, `single` in the C's float32 and, if it takes integers, `plain`.
    8-bit quantised inputs go through a table of all 256 results, int16 ones through `interpolated` if there is one.
    """

    takes: ClassVar[str] = "f"
    result: ClassVar[Elem | None] = None
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("the input has an element type for which the function is defined", _taken),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    def real(self, x: Array) -> Array:
        """The function in float64."""
        raise NotImplementedError

    def single(self, x: Array) -> Array:
        """The function in float32, every bit as in C."""
        raise NotImplementedError

    def plain(self, x: Array) -> Array:
        """The function of integers without quantisation, or of bools."""
        raise NotImplementedError

    def interpolated(self, sig: Signature) -> Callable[[Array], Array] | None:
        """The float32 function that a table of 513 entries stands for between these int16 types, if TFLite has one."""
        return None

    def constants(self) -> tuple[float, ...]:
        """What the C function gets besides x, at most two numbers."""
        return ()

    def c_name(self) -> str:
        """The C function is td_<this>_<element type>."""
        return self.name

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, self.result or x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out; integers stay integers."""
        x = present(inputs, 0)
        if x.dtype.kind != "f":
            return (np.asarray(self.plain(x)),)
        with np.errstate(all="ignore"):
            return (np.asarray(self.real(x.astype(np.float64))).astype(self.result.dtype if self.result else x.dtype),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The C's arithmetic."""
        x = present(inputs, 0)
        if sig.outputs[0].elem is not Elem.F32:
            return self.reference(x)
        with np.errstate(all="ignore"):
            return (np.asarray(self.single(x)),)

    def table(self, sig: Signature) -> Array:
        """Results for every 8-bit quantised input, from the lowest up."""
        with np.errstate(all="ignore"):
            return _table.table(sig, lambda x: self.real(x.astype(np.float64)).astype(np.float32))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised values by table; what has no quantisation as `reference`."""
        x = present(inputs, 0)
        if sig.input(0).quant is None:
            return self.reference(x)
        if _int16.is_int16(sig):
            function = self.interpolated(sig)
            if function is not None:
                return (_int16.interpolate(x, _int16.table16(sig, function)),)
            with np.errstate(all="ignore"):
                return (_int16.rounded(sig, x, self.real),)
        return (_table.lookup(x, self.table(sig), sig.input(0)),)

    def batchable(self, sig: Signature) -> bool:
        """True unless x is a scalar."""
        return sig.input(0).rank >= 1
