"""Functions of one element without parameters, as the mathematical library has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array
from tinydeploy.numerics import float32
from tinydeploy.ops import _int16, _table
from tinydeploy.ops._elementwise import Unary
from tinydeploy.ops._op import Arrays, Signature, present


class Abs(Unary):
    """``y = |x|``; the lowest integer of a type stays as it is. Source: ONNX Abs-13, TFLite ABS."""

    name: ClassVar[str] = "abs"
    takes: ClassVar[str] = "fsu"

    def real(self, x: Array) -> Array:
        """The magnitude."""
        return np.abs(x)

    single = real
    plain = real

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: the magnitude is rescaled with double rounding. Source: TFLite ABS."""
        if sig.input(0).quant is None:
            return self.reference(*inputs)
        return (_int16.slopes(sig, present(inputs, 0), 1.0, -1.0),)


class Neg(Unary):
    """``y = -x``; integers wrap. Source: ONNX Neg-13, TFLite NEG."""

    name: ClassVar[str] = "neg"
    takes: ClassVar[str] = "fsu"

    def real(self, x: Array) -> Array:
        """The opposite."""
        return np.asarray(-x)

    single = real
    plain = real


class Sign(Unary):
    """``y`` is -1, 0 or 1 as x is below, at or above 0; NaN stays. Source: ONNX Sign-13, TFLite SIGN."""

    name: ClassVar[str] = "sign"
    takes: ClassVar[str] = "fsu"

    def real(self, x: Array) -> Array:
        """The sign."""
        return np.asarray(np.sign(x) + x.dtype.type(0))

    single = real
    plain = real


class Square(Unary):
    """``y = x * x``; integers wrap. Source: TFLite SQUARE."""

    name: ClassVar[str] = "square"
    takes: ClassVar[str] = "fsu"

    def real(self, x: Array) -> Array:
        """The square."""
        return np.asarray(x * x)

    single = real
    plain = real


class Sqrt(Unary):
    """``y = sqrt(x)``, NaN below 0. Source: ONNX Sqrt-13, TFLite SQRT."""

    name: ClassVar[str] = "sqrt"

    def real(self, x: Array) -> Array:
        """The square root."""
        return np.sqrt(x)

    single = real

    def table(self, sig: Signature) -> Array:
        """As TFLite has it: the steps lose their fraction instead of being rounded."""
        return _table.table(sig, self.single, np.trunc)


class Rsqrt(Unary):
    """``y = 1 / sqrt(x)``. Source: TFLite RSQRT."""

    name: ClassVar[str] = "rsqrt"

    def real(self, x: Array) -> Array:
        """The reciprocal of the square root."""
        return np.asarray(x.dtype.type(1) / np.sqrt(x))

    single = real

    def table(self, sig: Signature) -> Array:
        """TFLite's integer arithmetic; the largest number from 0 down."""
        return _table.rsqrt(sig)

    def interpolated(self, sig: Signature) -> Callable[[Array], Array]:
        """The highest result from 0 down."""
        highest = np.float32(sig.outputs[0].scale) * np.float32(32767)
        return lambda x: np.where(x <= 0, highest, self.real(x))


class Reciprocal(Unary):
    """``y = 1 / x``. Source: ONNX Reciprocal-13."""

    name: ClassVar[str] = "reciprocal"

    def real(self, x: Array) -> Array:
        """The reciprocal."""
        return np.asarray(x.dtype.type(1) / x)

    single = real


class Floor(Unary):
    """The next whole number below. Source: ONNX Floor-13, TFLite FLOOR."""

    name: ClassVar[str] = "floor"

    def real(self, x: Array) -> Array:
        """Rounded down."""
        return np.floor(x)

    single = real


class Ceil(Unary):
    """The next whole number above. Source: ONNX Ceil-13, TFLite CEIL."""

    name: ClassVar[str] = "ceil"

    def real(self, x: Array) -> Array:
        """Rounded up."""
        return np.ceil(x)

    single = real


class Round(Unary):
    """The nearest whole number, halves to even. Source: ONNX Round-22, TFLite ROUND."""

    name: ClassVar[str] = "round"

    def real(self, x: Array) -> Array:
        """Rounded."""
        return np.rint(x)

    single = real


class _Library(Unary):
    """A function that is called alike in `numerics.float32` and, but for inverse functions, in NumPy."""

    numpy_name: ClassVar[str] = ""

    def real(self, x: Array) -> Array:
        """NumPy's."""
        return np.asarray(getattr(np, self.numpy_name or self.name)(x))

    def single(self, x: Array) -> Array:
        """Ours."""
        return np.asarray(getattr(float32, self.name)(x))


class Exp(_Library):
    """``y = e ** x``. Source: ONNX Exp-13, TFLite EXP."""

    name: ClassVar[str] = "exp"

    def interpolated(self, sig: Signature) -> Callable[[Array], Array]:
        """Rounded correctly, as C libraries do within half a unit."""
        return lambda x: np.exp(x.astype(np.float64)).astype(np.float32)


class Log(_Library):
    """The natural logarithm. Source: ONNX Log-13, TFLite LOG."""

    name: ClassVar[str] = "log"

    def interpolated(self, sig: Signature) -> Callable[[Array], Array]:
        """The lowest result from 0 down."""
        lowest = np.float32(sig.outputs[0].scale) * np.float32(-32768)
        return lambda x: np.where(x <= 0, lowest, np.log(x.astype(np.float64)).astype(np.float32))


class Log1p(_Library):
    """``y = log(1 + x)``. Source: Keras ops.log1p."""

    name: ClassVar[str] = "log1p"


class Expm1(_Library):
    """``y = e ** x - 1``. Source: Keras ops.expm1."""

    name: ClassVar[str] = "expm1"


class Sin(_Library):
    """Sine. Source: ONNX Sin-22, TFLite SIN."""

    name: ClassVar[str] = "sin"


class Cos(_Library):
    """Cosine. Source: ONNX Cos-22, TFLite COS."""

    name: ClassVar[str] = "cos"


class Tan(_Library):
    """Tangent. Source: ONNX Tan-22."""

    name: ClassVar[str] = "tan"


class Asin(_Library):
    """Inverse sine. Source: ONNX Asin-22."""

    name: ClassVar[str] = "asin"
    numpy_name: ClassVar[str] = "arcsin"


class Acos(_Library):
    """Inverse cosine. Source: ONNX Acos-22."""

    name: ClassVar[str] = "acos"
    numpy_name: ClassVar[str] = "arccos"


class Atan(_Library):
    """Inverse tangent. Source: ONNX Atan-22."""

    name: ClassVar[str] = "atan"
    numpy_name: ClassVar[str] = "arctan"


class Sinh(_Library):
    """Hyperbolic sine. Source: ONNX Sinh-22."""

    name: ClassVar[str] = "sinh"


class Cosh(_Library):
    """Hyperbolic cosine. Source: ONNX Cosh-22."""

    name: ClassVar[str] = "cosh"


class Asinh(_Library):
    """Inverse hyperbolic sine. Source: ONNX Asinh-22."""

    name: ClassVar[str] = "asinh"
    numpy_name: ClassVar[str] = "arcsinh"


class Acosh(_Library):
    """Inverse hyperbolic cosine. Source: ONNX Acosh-22."""

    name: ClassVar[str] = "acosh"
    numpy_name: ClassVar[str] = "arccosh"


class Atanh(_Library):
    """Inverse hyperbolic tangent. Source: ONNX Atanh-22."""

    name: ClassVar[str] = "atanh"
    numpy_name: ClassVar[str] = "arctanh"


class Erf(_Library):
    """The error function. Source: ONNX Erf-13."""

    name: ClassVar[str] = "erf"

    def real(self, x: Array) -> Array:
        """Of each number; within half a unit of float64."""
        return erf64(x)


def erf64(x: Array) -> Array:
    """The error function in float64: each different number once."""
    values, where = np.unique(np.asarray(x, np.float64), return_inverse=True)
    return np.array([math.erf(v) for v in values.tolist()], np.float64)[where].reshape(np.shape(x))
