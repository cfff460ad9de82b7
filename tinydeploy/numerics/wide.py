"""Arithmetic of 16-bit activations: 64-bit accumulators, tables of 513 entries with interpolation, softmax.

All functions take and return int64 arrays. Source: LiteRT kernels/internal/common.cc (the int64 form of
MultiplyByQuantizedMultiplier), common.h (LUTPopulateInt16, LUTLookup), reference_integer_ops logistic.h, tanh.h and
reference_ops softmax.h (SoftmaxInt16); written from their arithmetic and measured against the library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tinydeploy.numerics.requantise import (
    INT32_MAX,
    INT32_MIN,
    Ints,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    round_half_away,
)

MAX_ACCUMULATOR = 2**47 - 1  # beyond it the product with a 15-bit multiplier would leave int64
LUT_STEPS = 512
SIGMOID_STEPS_PER_UNIT = 24  # of the table of the logistic function
EXP_RANGE = 10.0  # softmax takes exp(-10) for 0


def reduce_multipliers(multipliers: npt.ArrayLike, shifts: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Q31 multipliers and shifts as 15-bit multipliers and shifts to the right: ``real ~ m * 2**-right``."""
    wide = np.asarray(multipliers, np.int64)
    return np.where(wide < 0x7FFF0000, (wide + (1 << 15)) >> 16, 0x7FFF), 15 - np.asarray(shifts, np.int64)


def multiply_wide(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Ints:
    """``x * m * 2**(shift - 31)`` of int64 accumulators with the multiplier cut to 15 bits, halves up, saturating.

    Multipliers of 2**15 and more (``shift`` > 14) are exact shifts to the left.
    """
    reduced, right = reduce_multipliers(multiplier, shift)
    product = np.clip(np.asarray(x, np.int64), -MAX_ACCUMULATOR, MAX_ACCUMULATOR) * reduced
    half = np.where(right > 0, np.int64(1) << np.maximum(right - 1, 0), 0)
    result = ((product + half) >> np.maximum(right, 0)) << np.maximum(-right, 0)
    return np.asarray(np.clip(result, INT32_MIN, INT32_MAX))


def lut16(
    function: Callable[[Any], Any], source: tuple[float, int], result: tuple[float, int], kind: type[Any] = np.float32
) -> Ints:
    """The 513 entries of ``function`` for `lookup16`, between int16 of (scale, zero point) ``source`` and ``result``.

    An entry is moved by half the error that interpolation would make in the middle of its step; the result's zero point
    only shifts the range, as in TFLite. ``kind``: the float type of the arithmetic.
    """
    scale, out_scale = kind(source[0]), kind(result[0])
    low, high = scale * kind(-32768 - source[1]), scale * kind(32767 - source[1])
    span = out_scale * kind(32767 - result[1]) - out_scale * kind(-32768 - result[1])
    step, inverse = kind((high - low) / kind(LUT_STEPS)), kind(kind(65536) / span)
    numbers = np.arange(LUT_STEPS + 1).astype(kind)
    at, after = low + numbers[:-1] * step, low + numbers[1:] * step
    value = round_half_away(function(at) * inverse)
    middle = round_half_away(function(at + kind(step / kind(2))) * inverse)
    interpolated = round_half_away((function(after) * inverse + value) / kind(2))
    bias = round_half_away((interpolated - middle) / kind(2))
    last = round_half_away(function(np.asarray([high], kind)) * inverse)
    entries = np.concatenate([value - bias, last])
    # Infinite less infinite: a C++ cast to int16 gives 0.
    return np.asarray(np.clip(np.where(np.isnan(entries), 0, entries), -32768, 32767).astype(np.int64))


def lookup16(x: npt.ArrayLike, table: Ints) -> Ints:
    """Value of an int16 ``x`` by linear interpolation in a table of 513."""
    values = np.asarray(x, np.int64)
    index, offset = 256 + (values >> 7), values & 0x7F
    base = table[index]
    slope = (table[index + 1] - base).astype(np.int16).astype(np.int64)  # TFLite keeps it in an int16
    return np.asarray(base + ((slope * offset + 64) >> 7))


def sigmoid_table() -> Ints:
    """``65536 / (1 + exp(-i / 24))`` for i = 0 .. 255, less half the error of interpolation; the last one is 65535."""
    halves = np.arange(2 * 256 + 1, dtype=np.float64) / (2 * SIGMOID_STEPS_PER_UNIT)
    exact = 65536.0 / (1.0 + np.exp(-halves))
    value, middle, after = exact[:-1:2], exact[1::2], exact[2::2]
    table = np.rint(value - ((value + after) / 2 - middle) / 2).astype(np.int64)
    table[-1] = 65535
    return np.asarray(table)


def sigmoid_multiplier(scale: float) -> tuple[int, int]:
    """(multiplier, right shift) from an int16 of ``scale`` to the table's 2**-12 / 3: a step is 1/24, 512 a step."""
    mantissa, exponent = np.frexp(scale)
    if mantissa == 0.5 and exponent - 1 == -12:
        return 3, 0
    multiplier, shift = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        shift, multiplier = shift + 1, multiplier * 2.0
    return int(min(multiplier, INT32_MAX)), shift


def sigmoid16(x: npt.ArrayLike, scale: float) -> Ints:
    """The logistic function of int16 with ``scale``, in steps of 2**-15."""
    scaled, index, fraction, table = _sigmoid_parts(x, scale, 9)
    inside = (table[index] << 9) + fraction * (table[index + 1] - table[index])
    result = np.where(np.abs(scaled) >> 9 >= 255, 0x7FFF << 10, inside)
    return np.asarray(np.where(scaled >= 0, result + (1 << 9), (1 << 25) - result + (1 << 9) - 1) >> 10)


def tanh16(x: npt.ArrayLike, scale: float) -> Ints:
    """The hyperbolic tangent of int16 with ``scale``, in steps of 2**-15."""
    scaled, index, fraction, table = _sigmoid_parts(x, scale, 8)
    inside = (table[index] << 8) + fraction * (table[index + 1] - table[index])
    result = np.where(np.abs(scaled) >> 8 >= 255, 0xFFFF << 8, inside)
    offset = 1 << 23
    return np.asarray(np.where(scaled >= 0, result - offset + (1 << 7), offset - result + (1 << 7) - 1) >> 8)


def _sigmoid_parts(x: npt.ArrayLike, scale: float, bits: int) -> tuple[Ints, Ints, Ints, Ints]:
    """(scaled input, index of the entry, position between it and the next, table)."""
    multiplier, shift = sigmoid_multiplier(scale)
    half = 1 << (shift - 1) if shift else 0
    scaled = (np.asarray(x, np.int64) * multiplier + half) >> shift
    magnitude = np.abs(scaled)
    return scaled, np.minimum(magnitude >> bits, 254), magnitude & ((1 << bits) - 1), sigmoid_table()


def exp_table() -> Ints:
    """``exp`` on [-10, 0] for `lookup16`, in steps of 2**-15."""
    return lut16(np.exp, (EXP_RANGE / 65535, 32767), (2 / 65535, 0), np.float64)


def reciprocal_table() -> Ints:
    """``1 / (1 + x)`` on [0, 1] for `lookup16`, in steps of 2**-15."""
    return lut16(lambda x: 1 / (1 + x), (1 / 65535, -32768), (2 / 65535, 0), np.float64)


def softmax_multiplier(scale: float, beta: float) -> tuple[int, int]:
    """Q31 multiplier and shift from differences of int16 with ``scale`` to the range of `exp_table`."""
    return quantise_multiplier(scale * beta / (EXP_RANGE / 65535.0))


def softmax16(x: npt.ArrayLike, multiplier: int, shift: int) -> Ints:
    """Softmax of int16 along the last axis, in steps of 2**-15."""
    values = np.asarray(x, np.int64)
    difference = multiply_by_quantised_multiplier(values - values.max(axis=-1, keepdims=True), multiplier, shift)
    exponentials = lookup16(np.clip(difference + 32767, -32768, 32767), exp_table())
    total = exponentials.sum(axis=-1, keepdims=True)
    bits = np.frexp(np.maximum(total, 1).astype(np.float64))[1].astype(np.int64)  # total < 2**bits
    fraction = ((total << (31 - bits)) + (1 << 13)) >> 14
    reciprocal = lookup16(np.clip(fraction - (1 << 15) - (1 << 16), -32768, 32767), reciprocal_table())
    right = bits - 1
    rounded = (exponentials * reciprocal + (np.int64(1) << (right - 1))) >> right
    return np.asarray(np.clip(rounded, 0, 32767))
