"""Cases of the operators between float32 and integers, at every value where rounding or saturation could go wrong."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Case, one_node, s8
from tinydeploy.ir import Elem, Quant, Type
from tinydeploy.ops.cast import Cast
from tinydeploy.ops.dequantize import Dequantize
from tinydeploy.ops.quantize import Quantize

# powers of two (exact halves), ordinary ones, the smallest and the largest floats, one that is not normal
SCALES = (1.0, 0.25, 2.0**-20, 0.05, 1 / 255, 0.0123456, 3.7, 1e-30, 1e30, 1.1754944e-38, 1e-40, 3e38)
ZEROS = (-128, -7, 0, 127)


def halves(scale: float) -> np.ndarray:
    """[2, n]: every half step from -300 to 300, the floats on both sides of each, and special values."""
    with np.errstate(over="ignore"):
        steps = (np.arange(-600, 601) * np.float64(scale) / 2).astype(np.float32)
        around = [np.nextafter(steps, np.float32(way)) for way in (-np.inf, np.inf)]
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38, 2.0**31, -(2.0**31), 8388609.0]
    values = np.concatenate([steps, *around, np.array(special, np.float32)])
    return np.stack([values, values[::-1]])


def quantize_cases(seed: int = 1) -> list[Case]:
    """float32 to int8."""
    rng = np.random.default_rng(seed)
    made = []
    for number, scale in enumerate(SCALES):
        zero, data = ZEROS[number % len(ZEROS)], halves(scale)
        kind = Type(data.shape[1:], Elem.F32)
        case = one_node(f"quantize {scale} {zero}", Quantize(Elem.S8), [kind], [Quant.per_tensor(scale, zero)], rng)
        case.feeds["x0"] = data
        made.append(case)
    return made


def quantize_even_cases(seed: int = 1) -> list[Case]:
    """float32 to 8 and 16 bits, halves to even."""
    rng = np.random.default_rng(seed)
    made = []
    for number, scale in enumerate(SCALES):
        elem = (Elem.S8, Elem.U8, Elem.S16, Elem.U16)[number % 4]
        zero, data = elem.limits[number // 4 % 2], halves(scale)
        kind = Type(data.shape[1:], Elem.F32)
        op = Quantize(elem, half_even=True)
        case = one_node(f"{elem.value} {scale} {zero}", op, [kind], [Quant.per_tensor(scale, zero)], rng)
        case.feeds["x0"] = data
        made.append(case)
    return made


def dequantize_cases(seed: int = 1) -> list[Case]:
    """Every int8 to float32."""
    rng = np.random.default_rng(seed)
    made = []
    for scale in SCALES:
        for zero in ZEROS:
            case = one_node(f"dequantize {scale} {zero}", Dequantize(), [s8((256,), scale, zero)], [None], rng)
            case.feeds["x0"] = np.arange(-128, 128, dtype=np.int8).reshape(1, 256).repeat(2, axis=0)
            made.append(case)
    return made


def cast_cases(seed: int = 1) -> list[Case]:
    """Casts that a C library does on cores without floats: 64 bits, and saturation."""
    rng = np.random.default_rng(seed)
    made = []
    for elem in (Elem.S8, Elem.U16, Elem.S32, Elem.U32, Elem.S64, Elem.U64, Elem.BOOL):
        data = halves(2.0**31 if elem.bits > 8 else 1.0)
        case = one_node(f"to {elem.value}", Cast(elem), [Type(data.shape[1:], Elem.F32)], [None], rng)
        case.feeds["x0"] = data
        made.append(case)
        if elem is not Elem.BOOL:
            low, high = elem.limits
            ends = [end + d for end in (low, 0, 2 ** (elem.bits // 2), high) for d in (-2, -1, 0, 1, 2)]
            near = [1 << bit | 1 << max(bit - 24, 0) | 1 << max(bit - 30, 0) for bit in range(elem.bits - 1)]
            values = [v for v in (*ends, *near) if low <= v <= high]
            case = one_node(f"from {elem.value}", Cast(Elem.F32), [Type((len(values),), Elem.S8)], [None], rng)
            case.graph.values["x0"].type = Type((len(values),), elem)
            case.feeds["x0"] = np.array([values, values[::-1]], elem.dtype)
            made.append(case)
    return made
