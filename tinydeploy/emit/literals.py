"""Numbers and tables as C text: exact, the same on every machine, sixteen to a line."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Array

PER_LINE = 16
WIDTH = 118


def number(value: Any) -> str:
    """A Python or NumPy number as a C constant; floats are float32 and come back as the very same bits."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return integer(int(value))
    if isinstance(value, (float, np.floating)):
        return real(float(value))
    raise InternalError(Problem("emit", f"{value!r} is no number"))


def integer(value: int) -> str:
    """An integer constant that has the value it shows in every context (-2147483648 has no literal of its own type)."""
    if value == -(2**63):
        return "(-INT64_C(9223372036854775807) - 1)"
    if value == -(2**31):
        return "(-2147483647 - 1)"
    if not -(2**31) <= value < 2**32:
        text = f"INT64_C({abs(value)})" if abs(value) < 2**63 else f"UINT64_C({value})"
        return f"-{text}" if value < 0 else text
    return f"{value}u" if value >= 2**31 else str(value)


def real(value: float) -> str:
    """The shortest float constant that reads back as float32(``value``)."""
    single = np.float32(value)
    if math.isnan(single):
        return "(0.0f / 0.0f)"  # a weight may be anything
    if math.isinf(single):
        return "(1.0f / 0.0f)" if single > 0 else "(-1.0f / 0.0f)"
    text = repr(float(str(single)))
    return f"{text}f"


def table(data: Array, c_type: str = "") -> list[str]:
    """The lines between a table's braces. 1-D: numbers (words in hexadecimal); 2-D or structured: one struct a row."""
    if c_type == "uint32_t" and data.ndim == 1:
        rows = [f"0x{int(x):08X}u" for x in data]
    elif data.dtype.names is not None:
        rows = ["{" + ", ".join(number(x) for x in row) + "}" for row in data.ravel().tolist()]
    elif data.ndim == 2:
        rows = ["{" + ", ".join(number(x) for x in row) + "}" for row in data]
    else:
        rows = [number(x) for x in data.ravel()]
    return wrap(rows)


def wrap(words: Iterable[str], indent: str = "    ") -> list[str]:
    """Comma-separated lines of at most 16 words and 118 characters, each word followed by a comma but the last."""
    lines: list[str] = []
    line: list[str] = []
    width = len(indent)
    for word in words:
        if line and (len(line) == PER_LINE or width + len(word) + 2 > WIDTH):
            lines.append(indent + ", ".join(line) + ",")
            line, width = [], len(indent)
        line.append(word)
        width += len(word) + 2
    if line:
        lines.append(indent + ", ".join(line))
    return lines
