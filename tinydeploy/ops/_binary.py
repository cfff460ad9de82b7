"""What add, sub and mul share: broadcasting and the arithmetic of two inputs with scales of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier
from tinydeploy.ops import _linear
from tinydeploy.ops._op import Rule, Signature, Types, count_rule, optional, present

LEFT_SHIFTS = {8: 20, 16: 15}  # bits by which inputs of a width are raised before they are brought to a common scale


def broadcast_shape(inputs: Types) -> tuple[int, ...] | None:
    """The common shape of two inputs, None if there is none."""
    a, b = optional(inputs, 0), optional(inputs, 1)
    if a is None or b is None:
        return None
    try:
        return tuple(np.broadcast_shapes(a.shape, b.shape))
    except ValueError:
        return None


def _same_elem(_: Any, inputs: Types) -> bool:
    return len({kind.elem for kind in inputs if kind is not None}) == 1


def _narrow_if_quantised(_: Any, inputs: Types) -> bool:
    return all(kind is None or kind.quant is None or kind.elem.bits in LEFT_SHIFTS for kind in inputs)


RULES: tuple[Rule, ...] = (
    count_rule(2),
    Rule("the shapes broadcast to a common shape", lambda _, inputs: broadcast_shape(inputs) is not None),
    Rule("both inputs have the same element type", _same_elem),
    Rule("quantised inputs are 8 or 16 bits wide", _narrow_if_quantised),
)


def infer(inputs: Types) -> tuple[Type, ...]:
    """The broadcast shape with the inputs' element type; the rules hold."""
    shape = broadcast_shape(inputs)
    assert shape is not None
    return (Type(shape, present(inputs, 0).elem),)


def batchable(sig: Signature) -> bool:
    """True if nothing is broadcast along axis 0, whichever input is a constant."""
    rank = sig.outputs[0].rank
    return rank >= 1 and all(sig.input(i).rank == rank and sig.input(i).shape[0] == 1 for i in (0, 1))


def plain_integer(values: Array, kind: Type) -> Array:
    """A result of integers without quantisation: it wraps as C does."""
    return values.astype(kind.elem.dtype)


def add_or_sub(sig: Signature, a: Array, b: Array, sign: int, clamp: tuple[float, float]) -> Array:
    """``a + sign * b`` on a common scale of twice the larger input scale, all three rescalings with double rounding.

    Source: TFLite ADD and SUB, reference_integer_ops::Add.
    """
    kind = sig.outputs[0]
    if kind.quant is None:
        return plain_integer(a.astype(np.int64) + sign * b.astype(np.int64), kind)
    common = 2.0 * max(sig.input(0).scale, sig.input(1).scale)
    left = LEFT_SHIFTS[kind.elem.bits]

    def raised(x: Array, source: Type) -> Array:
        multiplier, shift = quantise_multiplier(source.scale / common)
        centred = (x.astype(np.int64) - source.zero_point) << left
        return multiply_by_quantised_multiplier(centred, multiplier, shift)

    total = raised(a, sig.input(0)) + sign * raised(b, sig.input(1))
    multiplier, shift = quantise_multiplier(common / (2**left * kind.scale))
    return _linear.to_elem(multiply_by_quantised_multiplier(total, multiplier, shift), clamp, kind)


def product_ratio(sig: Signature) -> float:
    """What a product of two centred inputs is multiplied by, in float32 as in TFLite; may be infinite."""
    with np.errstate(over="ignore"):
        return float(np.float32(sig.input(0).scale) * np.float32(sig.input(1).scale) / np.float32(sig.outputs[0].scale))


def multiply(sig: Signature, a: Array, b: Array, clamp: tuple[float, float]) -> Array:
    """``a * b`` rescaled with double rounding; the real multiplier is computed in float32.

    Source: TFLite MUL, reference_integer_ops::Mul.
    """
    kind = sig.outputs[0]
    if kind.quant is None:
        return plain_integer(a.astype(np.int64) * b.astype(np.int64), kind)
    product = (a.astype(np.int64) - sig.input(0).zero_point) * (b.astype(np.int64) - sig.input(1).zero_point)
    multiplier, shift = quantise_multiplier(product_ratio(sig))
    return _linear.to_elem(multiply_by_quantised_multiplier(product, multiplier, shift), clamp, kind)
