"""Compares what a device computed with the integer twin (every bit) and with the float reference (how close)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from tinydeploy.ir import Array, Graph
from tinydeploy.ir.types import dequantise


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """The first element that differs: indices include the leading sample axis (and steps for sequences)."""

    output: str
    index: tuple[int, ...]
    device: float
    twin: float


@dataclasses.dataclass(frozen=True)
class Exactness:
    """Elements that differ between device and twin, over all outputs and samples."""

    mismatches: int
    first: Mismatch | None

    @property
    def bit_exact(self) -> bool:
        """True if nothing differs."""
        return self.mismatches == 0


def differs(got: Array, want: Array) -> Array:
    """True for every element that is not the same in every bit; both of one shape and dtype. Every NaN is the same."""
    if want.dtype.kind != "f":
        return np.asarray(got != want)
    bits = np.dtype(f"u{want.dtype.itemsize}")
    unequal = np.ascontiguousarray(got).view(bits) != np.ascontiguousarray(want).view(bits)
    return np.asarray(unequal & ~(np.isnan(got) & np.isnan(want)))


def max_relative_error(got: Array, want: Array) -> float:
    """Largest ``|got - want| / |want|`` of float arrays; equal elements (NaN too) have none.

    What is smaller than the smallest normal number counts as that. The largest float64 stands for infinity.
    """
    real, true = got.astype(np.float64), want.astype(np.float64)
    same = (real == true) | (np.isnan(real) & np.isnan(true))
    with np.errstate(invalid="ignore"):
        error = np.abs(real - true) / np.maximum(np.abs(true), np.finfo(np.float32).tiny)
    error = np.nan_to_num(np.where(same, 0.0, error), nan=np.inf)
    return float(min(error.max(initial=0.0), np.finfo(np.float64).max))


def exactness(device: dict[str, Array], twin: dict[str, Array]) -> Exactness:
    """Compare in every bit; outputs by name with leading sample axis, same shapes and dtypes."""
    total, first = 0, None
    for name, want in twin.items():
        got = device[name].reshape(want.shape)
        unequal = differs(got, want)
        count = int(np.count_nonzero(unequal))
        if count and first is None:
            index = tuple(int(i) for i in np.argwhere(unequal)[0])
            first = Mismatch(name, index, float(got[index]), float(want[index]))
        total += count
    return Exactness(total, first)


def to_real(graph: Graph, outputs: dict[str, Array]) -> dict[str, Array]:
    """Device or twin outputs as real values, float32; integers without a scale stay as they are."""
    kinds = {name: graph.type(name) for name in outputs}
    return {name: a if kinds[name].quant is None else dequantise(a, kinds[name]) for name, a in outputs.items()}


def float_figures(real: dict[str, Array], reference: dict[str, Array]) -> dict[str, Any]:
    """How far the quantised outputs are from the float ones: errors in real units, SQNR in dB, equal arg-max as a
    share.

    ``argmax_agreement`` looks at the first output's last axis; None where that axis has one element or is none.
    """
    pairs = [(real[name].astype(np.float64).ravel(), reference[name].astype(np.float64).ravel()) for name in reference]
    got = np.concatenate([a for a, _ in pairs])
    want = np.concatenate([b for _, b in pairs])
    error = np.abs(got - want)
    first = next(iter(reference))
    agreement = None
    if reference[first].ndim > 1 and reference[first].shape[-1] > 1:
        agreement = float(np.mean(real[first].argmax(axis=-1) == reference[first].argmax(axis=-1)))
    return {
        "max_abs_error": float(error.max(initial=0.0)),
        "mean_abs_error": float(error.mean()) if error.size else 0.0,
        "sqnr_db": sqnr_db(got, want),
        "argmax_agreement": agreement,
    }


def sqnr_db(got: Array, want: Array) -> float | None:
    """Signal to quantisation noise in dB; None (JSON has no infinity) where there is no noise or no signal."""
    noise = float(np.sum((got.astype(np.float64) - want) ** 2))
    signal = float(np.sum(want.astype(np.float64) ** 2))
    return 10 * math.log10(signal / noise) if noise > 0 and signal > 0 else None
