"""Normalisation of each sample by its own mean and variance, or by its mean square."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present
from tinydeploy.ops._sums import ordered_sum


def _axes(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not op.axes or tuple(sorted(set(op.axes))) != tuple(op.axes):
        return False
    return all(0 <= axis < x.rank for axis in op.axes)


def _factors(op: Any, inputs: Types) -> bool:
    if not _axes(op, inputs):
        return False
    shape = op.shape_of(present(inputs, 0).shape)
    return all(_broadcasts(kind.shape, shape) for kind in inputs[1:] if kind is not None)


def _broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    if len(small) > len(large):
        return False
    return all(a in (1, b) for a, b in zip(small, large[len(large) - len(small) :], strict=True))


@dataclasses.dataclass(frozen=True)
class LayerNorm(Op):
    """``y = (x - mean) / sqrt(variance + epsilon) * gamma + beta`` over ``axes`` (rising, counted from the front).

    With ``rms``: ``y = x / sqrt(mean(x * x) + epsilon) * gamma + beta``. gamma and beta (either may be absent) have the
    lengths of the normalised axes in their order, or broadcast to them. Stays in float.
    In C: sums in rising order of the elements, variance as the mean square of the differences, float32 throughout.
    Source: ONNX LayerNormalization, RMSNormalization; Keras LayerNormalization.
    """

    name: ClassVar[str] = "layer_norm"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1, 3),
        Rule("axes are different axes of the input in rising order, counted from the front", _axes),
        Rule("gamma and beta have the lengths of the normalised axes, or broadcast to them", _factors),
        Rule("epsilon is not negative", lambda op, _: op.epsilon >= 0),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    axes: tuple[int, ...] = (0,)
    epsilon: float = 1e-5
    rms: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The input's shape and element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(x.shape, x.elem),)

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Lengths of the normalised axes of an input of this shape."""
        return tuple(shape[axis] for axis in self.axes)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, (gamma, beta) = present(inputs, 0), self._factors(inputs)
        centred = x if self.rms else x - x.mean(axis=self.axes, keepdims=True, dtype=np.float32)
        variance = np.mean(centred * centred, axis=self.axes, keepdims=True, dtype=np.float32)
        y = centred / np.sqrt(variance + np.float32(self.epsilon))
        y = y if gamma is None else y * gamma
        return (y if beta is None else y + beta,)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, (gamma, beta) = present(inputs, 0), self._factors(inputs)
        kept = [axis for axis in range(x.ndim) if axis not in self.axes]
        count = math.prod(x.shape[axis] for axis in self.axes)
        order = (*kept, *self.axes)
        rows = x.transpose(order).reshape(-1, count)
        size = np.float32(count)
        if not self.rms:
            rows = rows - ordered_sum(rows) / size
        factor = np.float32(1) / np.sqrt(ordered_sum(rows * rows) / size + np.float32(self.epsilon))
        moved = (rows * factor).reshape([x.shape[axis] for axis in order])
        y = moved.transpose(np.argsort(order))
        y = y if gamma is None else y * gamma
        return (y if beta is None else y + beta,)

    def _factors(self, inputs: tuple[Array | None, ...]) -> tuple[Array | None, Array | None]:
        """Gamma and beta with the axes of x; their lengths are those of the normalised axes or 1."""
        x = present(inputs, 0)
        pair: list[Array | None] = []
        for index in (1, 2):
            factor = optional(inputs, index)
            if factor is not None:
                full = dict(zip(self.axes, (1,) * (len(self.axes) - factor.ndim) + factor.shape, strict=True))
                factor = factor.reshape([full.get(axis, 1) for axis in range(x.ndim)])
            pair.append(factor)
        return pair[0], pair[1]

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 stays and nothing else is computed with it."""
        return 0 not in self.axes and len(sig.inputs) == 1
