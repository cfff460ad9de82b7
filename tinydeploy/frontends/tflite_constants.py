"""TFLite operators whose results are known while reading, and those that fill a tensor with one value."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinydeploy.frontends._geometry import broadcast
from tinydeploy.frontends.tflite_call import Call

MAX_ELEMENTS = 1 << 26


def _shape(call: Call) -> None:
    call.emit_constant(np.asarray(call.type(call.input(0)).shape))


def _rank(call: Call) -> None:
    call.emit_constant(np.asarray(call.type(call.input(0)).rank))


def _broadcast_args(call: Call) -> None:
    first, second = (tuple(call.integers(i, "a shape")) for i in (0, 1))
    call.emit_constant(np.asarray(broadcast(first, second)))


def _range(call: Call) -> None:
    ends = [call.data(i) for i in range(3)]
    if any(end is None or end.size != 1 for end in ends):
        raise call.refuse("its bounds are computed at run time", "they have to be constants")
    start, limit, delta = (end.ravel()[0] for end in ends if end is not None)
    if delta == 0 or abs(float(limit) - float(start)) / abs(float(delta)) > MAX_ELEMENTS:
        raise call.damaged(f"counts from {start} to {limit} by {delta}")
    call.emit_constant(np.arange(start, limit, delta))


def _fill(call: Call) -> None:
    shape, value = tuple(call.integers(0, "the shape")), call.data(1)
    if len(shape) > 6 or min(shape, default=1) < 1 or math.prod(shape) > MAX_ELEMENTS:
        raise call.refuse(f"fills a tensor of shape {list(shape)}", f"1 to {MAX_ELEMENTS} elements")
    if value is not None and value.size == 1:
        call.emit_constant(np.full(shape, value.ravel()[0], value.dtype))
    else:
        call.emit("broadcast_to", (call.input(1),), shape=shape)


def _zeros_like(call: Call) -> None:
    kind = call.type(call.input(0))
    if kind.size > MAX_ELEMENTS:
        raise call.refuse(f"fills a tensor of shape {list(kind.shape)}", f"1 to {MAX_ELEMENTS} elements")
    call.emit_constant(np.full(kind.shape, 0 if kind.quant is None else kind.zero_point, kind.elem.dtype))


OPERATORS: dict[str, Callable[[Call], None]] = {
    "SHAPE": _shape,
    "RANK": _rank,
    "BROADCAST_ARGS": _broadcast_args,
    "RANGE": _range,
    "FILL": _fill,
    "ZEROS_LIKE": _zeros_like,
}
