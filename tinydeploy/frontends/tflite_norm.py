"""TFLite operators that normalise."""

from __future__ import annotations

import math
from collections.abc import Callable

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Elem, Quant

_L2_EPSILON = 1e-6  # TFLite's least length of a vector


def _check_scale(call: Call, scale: float, zero_point: int) -> None:
    """An int8 result has the one scale that TFLite's kernel assumes."""
    kind = call.output_type()
    if kind.elem is Elem.S8 and kind.quant != Quant.per_tensor(scale, zero_point):
        raise call.damaged(f"makes {kind}, its scale is {scale} and its zero point {zero_point}")


def _log_softmax(call: Call) -> None:
    x = call.type(call.input(0))
    if not x.rank:
        raise call.damaged(f"takes {x}")
    _check_scale(call, 1 / 16, 127)
    call.emit("log_softmax", (call.input(0),), axis=x.rank - 1)


def _l2_normalization(call: Call) -> None:
    x = call.type(call.input(0))
    if not x.rank:
        raise call.damaged(f"takes {x}")
    if int(call.option("activation")):
        raise call.refuse("has a fused activation", "L2_NORMALIZATION has none")
    _check_scale(call, 1 / 128, 0)
    call.emit("l2_normalize", (call.input(0),), axes=(x.rank - 1,), epsilon=_L2_EPSILON)


def _local_response_normalization(call: Call) -> None:
    radius = int(call.option("radius"))
    factors = {name: float(call.option(name)) for name in ("bias", "alpha", "beta")}
    if not 0 <= radius < 1 << 20 or not all(map(math.isfinite, factors.values())):
        raise call.damaged(f"has radius {radius} and {factors}")
    call.emit("local_response_norm", (call.input(0),), size=2 * radius + 1, **factors)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "LOG_SOFTMAX": _log_softmax,
    "L2_NORMALIZATION": _l2_normalization,
    "LOCAL_RESPONSE_NORMALIZATION": _local_response_normalization,
}
