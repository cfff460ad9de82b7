"""TFLite reductions, and what works along one axis: running sums, places of extremes, the best k."""

from __future__ import annotations

import functools
from collections.abc import Callable

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Elem


def _axes(call: Call) -> tuple[int, ...]:
    rank = call.type(call.input(0)).rank
    return tuple(sorted({call.axis(axis, rank) for axis in call.integers(1, "the axes")}))


def _reduce(operator: str, call: Call) -> None:
    x, axes, keep = call.input(0), _axes(call), bool(call.option("keep_dims"))
    source, result = call.type(x), call.output_type()
    if not axes:
        call.emit("reshape", (x,), shape=source.shape)
    elif operator == "reduce_prod" and source.quant is not None:
        real = call.between("dequantize", (x,))
        real = call.between(operator, (real,), axes=axes, keep_dims=keep)
        call.emit("quantize", (real,), elem=result.elem)
    else:
        call.emit(operator, (x,), axes=axes, keep_dims=keep)


def _one_axis(call: Call, what: str) -> int:
    numbers = call.integers(1, what)
    if len(numbers) != 1:
        raise call.damaged(f"has {len(numbers)} axes")
    return call.axis(numbers[0], call.type(call.input(0)).rank)


def _place(operator: str, call: Call) -> None:
    call.emit(operator, (call.input(0),), axis=_one_axis(call, "the axis"), elem=call.output_type().elem)


def _cumsum(call: Call) -> None:
    exclusive, reverse = bool(call.option("exclusive")), bool(call.option("reverse"))
    call.emit("cumsum", (call.input(0),), axis=_one_axis(call, "the axis"), exclusive=exclusive, reverse=reverse)


def _top_k(call: Call) -> None:
    x, numbers = call.type(call.input(0)), call.integers(1, "k")
    if len(numbers) != 1 or x.rank == 0 or not 1 <= numbers[0] <= x.shape[-1]:
        raise call.refuse(f"takes the best {numbers} of {x}", "k is one number, within the last axis")
    elem = call.output_type(1).elem if call.output_count > 1 else Elem.S32
    call.emit("top_k", (call.input(0),), k=numbers[0], axis=x.rank - 1, elem=elem)


_REDUCTIONS = {
    "SUM": "reduce_sum",
    "MEAN": "mean",
    "REDUCE_PROD": "reduce_prod",
    "REDUCE_MAX": "reduce_max",
    "REDUCE_MIN": "reduce_min",
    "REDUCE_ANY": "reduce_any",
    "REDUCE_ALL": "reduce_all",
}
OPERATORS: dict[str, Callable[[Call], None]] = {
    **{kind: functools.partial(_reduce, operator) for kind, operator in _REDUCTIONS.items()},
    "ARG_MAX": functools.partial(_place, "arg_max"),
    "ARG_MIN": functools.partial(_place, "arg_min"),
    "CUMSUM": _cumsum,
    "TOPK_V2": _top_k,
}
