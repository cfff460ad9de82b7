"""What add, sub and mul share: broadcasting and the arithmetic of two inputs with scales of their own."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier, rounding_divide_by_pot
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


Multiplier: TypeAlias = "tuple[int, int]"  # Q31 and shift


def sum_multipliers(sig: Signature) -> tuple[int, Multiplier, Multiplier, Multiplier]:
    """(left shift of the inputs, multiplier of a, of b, of the sum) of TFLite's sums of quantised inputs."""
    kind, common = sig.outputs[0], 2.0 * max(sig.input(0).scale, sig.input(1).scale)
    left = LEFT_SHIFTS[kind.elem.bits]
    a, b = (quantise_multiplier(sig.input(i).scale / common) for i in (0, 1))
    return left, a, b, quantise_multiplier(common / (2**left * kind.scale))


def pot_shifts(sig: Signature) -> tuple[int, int]:
    """By how many bits a and b are shifted to the right, where all three scales are powers of two."""
    scale = sig.outputs[0].scale
    a, b = (round(math.log2(scale / sig.input(i).scale)) for i in (0, 1))
    return a, b


def pot_sum_holds(sig: Signature) -> bool:
    """True if TFLite makes a sum of these int16 types by shifts: powers of two, an input's the result's."""
    kinds = (sig.input(0), sig.input(1), sig.outputs[0])
    if any(kind.quant is None or kind.zero_point or math.frexp(kind.scale)[0] != 0.5 for kind in kinds):
        return False
    return min(pot_shifts(sig)) == 0 and max(pot_shifts(sig)) <= 31


def add_or_sub(sig: Signature, a: Array, b: Array, sign: int, clamp: tuple[float, float], pot: bool = False) -> Array:
    """``a + sign * b`` on a common scale of twice the larger input scale, all three rescalings with double rounding.

    ``pot``: int16 with scales that are powers of two is only shifted; the sum saturates.
    Source: TFLite ADD and SUB, reference_integer_ops::Add; reference_ops::Add and Sub16 for ``pot``.
    """
    kind = sig.outputs[0]
    if kind.quant is None:
        with np.errstate(over="ignore"):  # NumPy tells of scalars that wrap
            return plain_integer(a.astype(np.int64) + sign * b.astype(np.int64), kind)
    if pot and kind.elem is Elem.S16:
        a_shift, b_shift = pot_shifts(sig)
        return _linear.to_elem(
            rounding_divide_by_pot(a, a_shift) + sign * rounding_divide_by_pot(b, b_shift), clamp, kind
        )
    left, first, second, result = sum_multipliers(sig)

    def raised(x: Array, source: Type, multiplier: Multiplier) -> Array:
        return multiply_by_quantised_multiplier((x.astype(np.int64) - source.zero_point) << left, *multiplier)

    total = raised(a, sig.input(0), first) + sign * raised(b, sig.input(1), second)
    return _linear.to_elem(multiply_by_quantised_multiplier(total, *result), clamp, kind)


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
        with np.errstate(over="ignore"):
            return plain_integer(a.astype(np.int64) * b.astype(np.int64), kind)
    product = (a.astype(np.int64) - sig.input(0).zero_point) * (b.astype(np.int64) - sig.input(1).zero_point)
    multiplier, shift = quantise_multiplier(product_ratio(sig))
    return _linear.to_elem(multiply_by_quantised_multiplier(product, multiplier, shift), clamp, kind)
