"""Sums, products and extremes over axes. `mean` has a module of its own."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier, wrap_int32
from tinydeploy.ops import _linear
from tinydeploy.ops._moving import SOME_RULE, element
from tinydeploy.ops._op import (
    NO_CLAMP,
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
    require_tied,
)


def _axes(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not op.axes or len(set(op.axes)) != len(op.axes):
        return False
    return all(0 <= axis < x.rank for axis in op.axes)


def _plain(_: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and x.quant is None


AXES_RULE = Rule("axes are different axes of the input, counted from the front", _axes)


def in_front(x: Array, axes: tuple[int, ...]) -> Array:
    """[n, ...kept]: the elements that are reduced, in the order in which C takes them: the last axis is the fastest."""
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = x.transpose(*sorted(axes), *rest)
    return np.asarray(moved.reshape(-1, *moved.shape[len(axes) :]))


def running(x: Array, function: Any) -> Array:
    """``function`` of the elements of axis 0 one after the other, as C computes it; vectors are taken at once."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.array(x[0])
        for row in x[1:]:
            result = np.asarray(function(result, row))
    return result


@dataclasses.dataclass(frozen=True)
class Reduction(Op):
    """Reduces x over ``axes`` (counted from the front), which stay as 1 if ``keep_dims``."""

    axes: tuple[int, ...] = ()
    keep_dims: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The reduced shape with the input's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(self.reduced(x.shape), x.elem),)

    def reduced(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """``shape`` behind the reduction."""
        return tuple(1 if i in self.axes else d for i, d in enumerate(shape) if self.keep_dims or i not in self.axes)

    def count(self, shape: tuple[int, ...]) -> int:
        """Elements that make one result."""
        return math.prod(shape[axis] for axis in self.axes)

    def in_order(self, x: Array, function: Any) -> Array:
        """``function`` element after element, in the C's order."""
        return running(in_front(x, self.axes), function).reshape(self.reduced(x.shape))

    def added(self, sig: Signature, x: Array) -> Array:
        """The float32 sum from +0; a single element stays as it is, with the sign of its zero: no kernel runs."""
        total = self.in_order(x, np.add)
        return total if self.count(sig.input(0).shape) == 1 else np.asarray(total + np.float32(0))

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays."""
        return bool(0 not in self.axes and sig.input(0).rank)


@dataclasses.dataclass(frozen=True)
class ReduceSum(Reduction):
    """Sum over ``axes``; float32 one after the other, plain integers wrap.

    Quantised: the int32 sum of the centred inputs times the ratio of scales; 8 bits round once, 16 bits doubly.
    Source: ONNX ReduceSum; TFLite SUM, optimised kernels (the reference kernel of LiteRT 2.3 is broken).
    """

    name: ClassVar[str] = "reduce_sum"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        AXES_RULE,
        Rule("bool has no sum", lambda _, inputs: element(inputs, 0) is not Elem.BOOL),
    )

    def reference(self, *inputs: Array | None) -> Arrays:
        """Plain integers wrap."""
        x = present(inputs, 0)
        return (np.asarray(x.sum(axis=self.axes, keepdims=self.keep_dims, dtype=x.dtype)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """One after the other, from +0; a single element is no sum."""
        return (self.added(sig, present(inputs, 0)),)

    def ratio(self, sig: Signature) -> float:
        """From the sum of centred inputs to the output's steps."""
        return sig.input(0).scale / sig.outputs[0].scale

    def multiplier(self, sig: Signature) -> tuple[int, int]:
        """The ratio as Q31 multiplier and shift."""
        return quantise_multiplier(self.ratio(sig))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Quantised to 8 bits, or plain integers."""
        x, kind = present(inputs, 0), sig.input(0)
        if kind.quant is None:
            return self.reference(x)
        raw = x.sum(axis=self.axes, keepdims=self.keep_dims, dtype=np.int64)
        centred = wrap_int32(raw - kind.zero_point * self.count(kind.shape))
        if kind.elem.bits == 8:
            return (_linear.finish_once(centred, np.asarray(self.ratio(sig)), NO_CLAMP, sig.outputs[0]),)
        values = multiply_by_quantised_multiplier(centred, *self.multiplier(sig))
        return (_linear.to_elem(values, NO_CLAMP, sig.outputs[0]),)


@dataclasses.dataclass(frozen=True)
class ReduceProd(Reduction):
    """Product over ``axes``; float32 one after the other, plain integers wrap.

    Source: ONNX ReduceProd; TFLite REDUCE_PROD.
    """

    name: ClassVar[str] = "reduce_prod"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        AXES_RULE,
        Rule("bool has no product", lambda _, inputs: element(inputs, 0) is not Elem.BOOL),
        Rule("the input is not quantised", _plain),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Plain integers wrap."""
        x = present(inputs, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            return (np.asarray(x.prod(axis=self.axes, keepdims=self.keep_dims, dtype=x.dtype)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """One after the other."""
        return (self.in_order(present(inputs, 0), np.multiply),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Plain integers."""
        return self.reference(*inputs)


@dataclasses.dataclass(frozen=True)
class _Extreme(Reduction):
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)


@dataclasses.dataclass(frozen=True)
class ReduceMax(_Extreme):
    """Largest element over ``axes``; NaN wins. Source: ONNX ReduceMax; TFLite REDUCE_MAX."""

    name: ClassVar[str] = "reduce_max"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), AXES_RULE, SOME_RULE)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (np.asarray(present(inputs, 0).max(axis=self.axes, keepdims=self.keep_dims)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The first of equal ones, which tells zeros apart."""
        return (self.in_order(present(inputs, 0), lambda a, b: np.where((b > a) | (b != b), b, a)),)


@dataclasses.dataclass(frozen=True)
class ReduceMin(_Extreme):
    """Smallest element over ``axes``; NaN wins. Source: ONNX ReduceMin; TFLite REDUCE_MIN."""

    name: ClassVar[str] = "reduce_min"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), AXES_RULE, SOME_RULE)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (np.asarray(present(inputs, 0).min(axis=self.axes, keepdims=self.keep_dims)),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The first of equal ones, which tells zeros apart."""
        return (self.in_order(present(inputs, 0), lambda a, b: np.where((b < a) | (b != b), b, a)),)


_BOOL = Rule("the input is bool", lambda _, inputs: element(inputs, 0) is Elem.BOOL)


@dataclasses.dataclass(frozen=True)
class ReduceAny(_Extreme):
    """True if an element over ``axes`` is. Source: TFLite REDUCE_ANY; ONNX ReduceMax of bool."""

    name: ClassVar[str] = "reduce_any"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), AXES_RULE, _BOOL)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Bool."""
        return (np.asarray(present(inputs, 0).any(axis=self.axes, keepdims=self.keep_dims)),)


@dataclasses.dataclass(frozen=True)
class ReduceAll(_Extreme):
    """True if all elements over ``axes`` are. Source: TFLite REDUCE_ALL; ONNX ReduceMin of bool."""

    name: ClassVar[str] = "reduce_all"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), AXES_RULE, _BOOL)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Bool."""
        return (np.asarray(present(inputs, 0).all(axis=self.axes, keepdims=self.keep_dims)),)
