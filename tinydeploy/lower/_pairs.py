"""What the kernels that put two pixels into a 64-bit product ask of a layer (runtime_c/include/td_pairs.h)."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.lower._contract import Table
from tinydeploy.lower._linear import Linear
from tinydeploy.lower.requantise import RECORDS, Requant, affine_records

SHIFT = 2  # built into td_pairs_affine
_FIELD = 2**22  # bound of a sum in its field


def even_records(table: Table) -> Table:
    """The table with a last record of zeros where their number is odd."""
    return dataclasses.replace(table, data=np.append(table.data, np.zeros(len(table.data) % 2, table.data.dtype)))


def requant(lin: Linear) -> Requant | None:
    """Requantisation as the blocks take it: affine with their shift, else exact; None where they do not apply.

    Not applicable: sums too large for their field, multipliers of a half and more, biases near int32's limits.
    """
    s = lin.scaling
    if not s.sums_below(_FIELD) or not s.is_plain():
        return None
    records = affine_records(s, SHIFT)
    if records is not None:
        return Requant("affine", records, SHIFT, f"affine, shift {32 + SHIFT}, proved")
    if s.rounding == "once":
        return None
    right = np.where(s.multiplier == 0, 31, -s.shift)
    if (right < 1).any() or (np.maximum(-s.low, s.high) + np.abs(s.bias)).max(initial=0) >= 2**30:
        return None
    exact = np.empty(len(right), RECORDS["exact"])
    exact["bias"], exact["m"], exact["shift"] = 2 * s.bias, s.multiplier, right - 1
    return Requant("exact", exact, 0, "double rounding as TFLite")
