"""Comparisons, logic and bits: functions of two elements that broadcast, most with bools as results."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem
from tinydeploy.ops import _pairs
from tinydeploy.ops._op import Arrays, Signature, present
from tinydeploy.ops.binary import Binary


class _Comparison(Binary):
    """Takes numbers, gives bools."""

    takes: ClassVar[str] = "fsu"
    result: ClassVar[Elem | None] = Elem.BOOL
    function: ClassVar[np.ufunc]

    def real(self, a: Array, b: Array) -> Array:
        """The comparison."""
        return np.asarray(self.function(a, b))

    plain = real

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: rescaled to 256ths and rounded, then compared, as TFLite does it."""
        a, b = present(inputs, 0), present(inputs, 1)
        if sig.input(0).quant is None or sig.input(1).quant is None:
            return self.reference(a, b)
        return (np.asarray(self.function(_pairs.comparable(a, sig.input(0)), _pairs.comparable(b, sig.input(1)))),)


class Equal(_Comparison):
    """``y = a == b``. Source: ONNX Equal-19, TFLite EQUAL."""

    name: ClassVar[str] = "equal"
    takes: ClassVar[str] = "fsub"
    function: ClassVar[np.ufunc] = np.equal


class NotEqual(_Comparison):
    """``y = a != b``. Source: TFLite NOT_EQUAL."""

    name: ClassVar[str] = "not_equal"
    takes: ClassVar[str] = "fsub"
    function: ClassVar[np.ufunc] = np.not_equal


class Less(_Comparison):
    """``y = a < b``. Source: ONNX Less-13, TFLite LESS."""

    name: ClassVar[str] = "less"
    function: ClassVar[np.ufunc] = np.less


class LessEqual(_Comparison):
    """``y = a <= b``. Source: ONNX LessOrEqual-16, TFLite LESS_EQUAL."""

    name: ClassVar[str] = "less_equal"
    function: ClassVar[np.ufunc] = np.less_equal


class Greater(_Comparison):
    """``y = a > b``. Source: ONNX Greater-13, TFLite GREATER."""

    name: ClassVar[str] = "greater"
    function: ClassVar[np.ufunc] = np.greater


class GreaterEqual(_Comparison):
    """``y = a >= b``. Source: ONNX GreaterOrEqual-16, TFLite GREATER_EQUAL."""

    name: ClassVar[str] = "greater_equal"
    function: ClassVar[np.ufunc] = np.greater_equal


class _Bits(Binary):
    """Takes integers or bools, gives the same."""

    takes: ClassVar[str] = "su"
    function: ClassVar[np.ufunc]

    def plain(self, a: Array, b: Array) -> Array:
        """Bit by bit."""
        return np.asarray(self.function(a, b))


class LogicalAnd(_Bits):
    """``y = a and b`` for bools. Source: ONNX And-7, TFLite LOGICAL_AND."""

    name: ClassVar[str] = "logical_and"
    takes: ClassVar[str] = "b"
    function: ClassVar[np.ufunc] = np.logical_and


class LogicalOr(_Bits):
    """``y = a or b`` for bools. Source: ONNX Or-7, TFLite LOGICAL_OR."""

    name: ClassVar[str] = "logical_or"
    takes: ClassVar[str] = "b"
    function: ClassVar[np.ufunc] = np.logical_or


class LogicalXor(_Bits):
    """``y = a != b`` for bools. Source: ONNX Xor-7."""

    name: ClassVar[str] = "logical_xor"
    takes: ClassVar[str] = "b"
    function: ClassVar[np.ufunc] = np.logical_xor


class BitwiseAnd(_Bits):
    """``y = a & b`` for integers. Source: ONNX BitwiseAnd-18."""

    name: ClassVar[str] = "bitwise_and"
    function: ClassVar[np.ufunc] = np.bitwise_and


class BitwiseOr(_Bits):
    """``y = a | b`` for integers. Source: ONNX BitwiseOr-18."""

    name: ClassVar[str] = "bitwise_or"
    function: ClassVar[np.ufunc] = np.bitwise_or


class BitwiseXor(_Bits):
    """``y = a ^ b`` for integers. Source: ONNX BitwiseXor-18, TFLite BITWISE_XOR."""

    name: ClassVar[str] = "bitwise_xor"
    function: ClassVar[np.ufunc] = np.bitwise_xor


@dataclasses.dataclass(frozen=True)
class BitShift(Binary):
    """``y = a << b`` or, unless ``left``, ``a >> b``; negative integers move their sign in.

    A shift that is negative or as wide as the type leaves no bit of a (to the right: only the sign).
    Source: ONNX BitShift-11 (unsigned), TFLite RIGHT_SHIFT.
    """

    name: ClassVar[str] = "bit_shift"
    takes: ClassVar[str] = "su"
    left: bool = False

    def c_name(self) -> str:
        """One of two functions."""
        return "shift_left" if self.left else "shift_right"

    def plain(self, a: Array, b: Array) -> Array:
        """The shift."""
        bits = 8 * a.dtype.itemsize
        within = (b >= 0) & (b < bits)
        count = np.where(within, b, 0).astype(a.dtype)
        if self.left:
            return np.asarray(np.where(within, np.left_shift(a, count), a.dtype.type(0)))
        return np.asarray(
            np.where(within, np.right_shift(a, count), np.where(a < 0, ~a.dtype.type(0), a.dtype.type(0)))
        )
