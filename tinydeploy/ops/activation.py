"""Activation functions, most with parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array
from tinydeploy.numerics import float32
from tinydeploy.ops import _int16, _table
from tinydeploy.ops._elementwise import Unary
from tinydeploy.ops._op import Arrays, Rule, Signature, Types, present
from tinydeploy.ops.unary import erf64

F = np.float32


def _finite(op: Any, _: Types) -> bool:
    return all(math.isfinite(c) for c in op.constants())


class Activation(Unary):
    """A function with finite parameters."""

    rules: ClassVar[tuple[Rule, ...]] = (*Unary.rules, Rule("the parameters are finite", _finite))

    def constants(self) -> tuple[float, ...]:
        """All parameters in the order of the attributes."""
        return tuple(float(value) for value in self.attributes().values())


@dataclasses.dataclass(frozen=True)
class Elu(Activation):
    """``y = x`` from 0 on, ``alpha * (exp(x) - 1)`` below. Source: ONNX Elu-22, TFLite ELU."""

    name: ClassVar[str] = "elu"
    alpha: float = 1.0

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.where(x >= 0, x, self.alpha * np.expm1(x))

    def single(self, x: Array) -> Array:
        """As td_elu_f32."""
        return np.where(x >= 0, x, F(self.alpha) * float32.expm1(x))


@dataclasses.dataclass(frozen=True)
class Selu(Activation):
    """``y = gamma * elu(x)``. Source: ONNX Selu-22."""

    name: ClassVar[str] = "selu"
    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.asarray(self.gamma * np.where(x >= 0, x, self.alpha * np.expm1(x)))

    def single(self, x: Array) -> Array:
        """As td_selu_f32."""
        return np.asarray(F(self.gamma) * np.where(x >= 0, x, F(self.alpha) * float32.expm1(x)))


@dataclasses.dataclass(frozen=True)
class Celu(Activation):
    """``y = x`` from 0 on, ``alpha * (exp(x / alpha) - 1)`` below. Source: ONNX Celu-12."""

    name: ClassVar[str] = "celu"
    rules: ClassVar[tuple[Rule, ...]] = (
        *Activation.rules,
        Rule("alpha is not 0", lambda op, _: np.float32(op.alpha) != 0),
    )
    alpha: float = 1.0

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.where(x >= 0, x, self.alpha * np.expm1(x / self.alpha))

    def single(self, x: Array) -> Array:
        """As td_celu_f32."""
        return np.where(x >= 0, x, F(self.alpha) * float32.expm1(x / F(self.alpha)))


@dataclasses.dataclass(frozen=True)
class LeakyRelu(Activation):
    """``y = x`` from 0 on, ``alpha * x`` below. Source: ONNX LeakyRelu-16, TFLite LEAKY_RELU."""

    name: ClassVar[str] = "leaky_relu"
    alpha: float = 0.01

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.where(x >= 0, x, self.alpha * x)

    def single(self, x: Array) -> Array:
        """As td_leaky_relu_f32."""
        return np.where(x >= 0, x, F(self.alpha) * x)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised: each half rescaled with double rounding. Source: TFLite QuantizeLeakyRelu."""
        return (_int16.slopes(sig, present(inputs, 0), 1.0, float(F(self.alpha))),)


@dataclasses.dataclass(frozen=True)
class HardSigmoid(Activation):
    """``y = min(max(alpha * x + beta, 0), 1)``. Source: ONNX HardSigmoid-22."""

    name: ClassVar[str] = "hard_sigmoid"
    alpha: float = 0.2
    beta: float = 0.5

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.clip(self.alpha * x + self.beta, 0, 1)

    def single(self, x: Array) -> Array:
        """As td_hard_sigmoid_f32."""
        return _unit(F(self.alpha) * x + F(self.beta))


def _unit(x: Array) -> Array:
    """Limited to 0 ... 1 as td_unit does it."""
    return np.where(x < 0, F(0), np.where(x > 1, F(1), x))


@dataclasses.dataclass(frozen=True)
class HardSwish(Activation):
    """``y = x * min(max(x / 6 + 1/2, 0), 1)``. Source: ONNX HardSwish-22, TFLite HARD_SWISH."""

    name: ClassVar[str] = "hard_swish"

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.asarray(x * np.clip(x / 6 + 0.5, 0, 1))

    def single(self, x: Array) -> Array:
        """As td_hard_swish_f32."""
        return np.asarray(x * _unit(x * F(1 / 6) + F(0.5)))

    def table(self, sig: Signature) -> Array:
        """TFLite's int16 arithmetic."""
        return _table.hard_swish(sig)


@dataclasses.dataclass(frozen=True)
class Gelu(Activation):
    """``y = x / 2 * (1 + erf(x / sqrt(2)))``, or its approximation by the hyperbolic tangent.

    ``approximate``: ``y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))``.
    Source: ONNX Gelu-20, TFLite GELU.
    """

    name: ClassVar[str] = "gelu"
    approximate: bool = False

    def constants(self) -> tuple[float, ...]:
        """None: the approximation is a function of its own."""
        return ()

    def c_name(self) -> str:
        """One of two functions."""
        return "gelu_tanh" if self.approximate else "gelu"

    def real(self, x: Array) -> Array:
        """In float64."""
        if self.approximate:
            return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
        return np.asarray(0.5 * x * (1 + erf64(x * math.sqrt(0.5))))

    def interpolated(self, sig: Signature) -> Callable[[Array], Array]:
        """TFLite's, from the complement of the error function."""

        def gelu(x: Array) -> Array:
            if self.approximate:
                inner = F(math.sqrt(2 / math.pi)) * (x + F(0.044715) * x * x * x)
                return np.asarray(F(0.5) * x * (F(1) + np.tanh(inner.astype(np.float64)).astype(F)))
            return np.asarray(F(0.5) * x * (1 + erf64((x * F(math.sqrt(0.5))).astype(np.float64))).astype(F))

        return gelu

    def single(self, x: Array) -> Array:
        """As td_gelu_f32 and td_gelu_tanh_f32."""
        if self.approximate:
            inner = F(0.7978846) * (x + F(0.044715) * (x * x * x))
            return np.asarray(F(0.5) * x * (F(1) + float32.tanh(inner)))
        return np.asarray(F(0.5) * x * (F(1) + float32.erf(x * F(0.70710677))))


@dataclasses.dataclass(frozen=True)
class Mish(Activation):
    """``y = x * tanh(log(1 + exp(x)))``. Source: ONNX Mish-22."""

    name: ClassVar[str] = "mish"

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.asarray(x * np.tanh(np.logaddexp(0, x)))

    def single(self, x: Array) -> Array:
        """As td_mish_f32."""
        return np.asarray(x * float32.tanh(_softplus(x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.where(x > 0, x, F(0)) + float32.log1p(float32.exp(-np.abs(x))))


@dataclasses.dataclass(frozen=True)
class Softplus(Activation):
    """``y = log(1 + exp(x))``. Source: ONNX Softplus-22."""

    name: ClassVar[str] = "softplus"

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.logaddexp(0, x)

    def single(self, x: Array) -> Array:
        """As td_softplus_f32."""
        return _softplus(x)


@dataclasses.dataclass(frozen=True)
class Softsign(Activation):
    """``y = x / (1 + |x|)``. Source: ONNX Softsign-22."""

    name: ClassVar[str] = "softsign"

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.asarray(x / (1 + np.abs(x)))

    def single(self, x: Array) -> Array:
        """As td_softsign_f32."""
        return np.asarray(x / (F(1) + np.abs(x)))


@dataclasses.dataclass(frozen=True)
class ThresholdedRelu(Activation):
    """``y = x`` above alpha, else 0. Source: ONNX ThresholdedRelu-22."""

    name: ClassVar[str] = "thresholded_relu"
    alpha: float = 1.0

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.where(x > self.alpha, x, 0)

    def single(self, x: Array) -> Array:
        """As td_thresholded_relu_f32."""
        return np.where(x > F(self.alpha), x, F(0))


@dataclasses.dataclass(frozen=True)
class Shrink(Activation):
    """``y = x - bias`` above lambd, ``x + bias`` below -lambd, else 0. Source: ONNX Shrink-9."""

    name: ClassVar[str] = "shrink"
    lambd: float = 0.5
    bias: float = 0.0

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.where(x > self.lambd, x - self.bias, np.where(x < -self.lambd, x + self.bias, 0))

    def single(self, x: Array) -> Array:
        """As td_shrink_f32."""
        lambd, bias = F(self.lambd), F(self.bias)
        return np.asarray(np.where(x > lambd, x - bias, np.where(x < -lambd, x + bias, F(0))))


@dataclasses.dataclass(frozen=True)
class Swish(Activation):
    """``y = x / (1 + exp(-alpha * x))``. Source: ONNX Swish-24."""

    name: ClassVar[str] = "swish"
    alpha: float = 1.0

    def real(self, x: Array) -> Array:
        """In float64."""
        return np.asarray(x / (1 + np.exp(-self.alpha * x)))

    def single(self, x: Array) -> Array:
        """As td_swish_f32."""
        return np.asarray(x * float32.sigmoid(F(self.alpha) * x))
