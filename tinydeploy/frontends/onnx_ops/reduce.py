"""Reductions over axes, and what works along one axis: orders, places of extremes, running sums."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, normal_axis, refuse, translates
from tinydeploy.ir import Elem

_FLOAT32_MAX = float(np.finfo(np.float32).max)


def _axes(call: Call) -> tuple[int, ...]:
    """The axes to reduce: an attribute or an input by opset, all of them by default."""
    rank = len(call.shape_of(0))
    axes = call.attribute("axes")
    if axes is None:
        axes = call.integers(1, "axes")
    noop = bool(call.attribute("noop_with_empty_axes", 0))
    if not axes:
        return () if noop else tuple(range(rank))
    return tuple(sorted({normal_axis(axis, rank) for axis in axes}))


def _reduce(call: Call, operator: str, x: str, axes: tuple[int, ...], keep: bool) -> str:
    """``x`` reduced; over no axes it is as it was."""
    return call.emit(operator, x, axes=axes, keep_dims=keep) if axes else x


def _keep(call: Call) -> bool:
    return bool(call.attribute("keepdims", 1))


_PLAIN = {"ReduceSum": "reduce_sum", "ReduceProd": "reduce_prod", "ReduceMean": "mean"}
_EXTREMES = {"ReduceMax": ("reduce_max", "reduce_any"), "ReduceMin": ("reduce_min", "reduce_all")}


@translates(*_PLAIN)
def plain(call: Call) -> Results:
    """Sum, product and mean. Source: ONNX ReduceSum-13, ReduceProd-18, ReduceMean-18."""
    return (_reduce(call, _PLAIN[call.node.op_type], call.value(0), _axes(call), _keep(call)),)


@translates(*_EXTREMES)
def extremes(call: Call) -> Results:
    """Largest and smallest. Source: ONNX ReduceMax-20, ReduceMin-20."""
    x, (number, truth) = call.value(0), _EXTREMES[call.node.op_type]
    operator = truth if call.type(x).elem is Elem.BOOL else number
    return (_reduce(call, operator, x, _axes(call), _keep(call)),)


@translates("ReduceL1")
def l1(call: Call) -> Results:
    """Sum of magnitudes. Source: ONNX ReduceL1-18."""
    return (_reduce(call, "reduce_sum", call.emit("abs", call.value(0)), _axes(call), _keep(call)),)


@translates("ReduceSumSquare")
def sum_square(call: Call) -> Results:
    """Sum of squares. Source: ONNX ReduceSumSquare-18."""
    return (_reduce(call, "reduce_sum", call.emit("square", call.value(0)), _axes(call), _keep(call)),)


@translates("ReduceL2", "ReduceLogSum")
def of_sum(call: Call) -> Results:
    """Square root of the sum of squares, logarithm of the sum; integers go through float32.

    Source: ONNX ReduceL2-18, ReduceLogSum-18.
    """
    x, elem = _real(call)
    if call.node.op_type == "ReduceL2":
        y = call.emit("sqrt", _reduce(call, "reduce_sum", call.emit("square", x), _axes(call), _keep(call)))
    else:
        y = call.emit("log", _reduce(call, "reduce_sum", x, _axes(call), _keep(call)))
    return (y if elem is Elem.F32 else call.emit("cast", y, elem=elem),)


@translates("ReduceLogSumExp")
def log_sum_exp(call: Call) -> Results:
    """``m + log(sum(exp(x - m)))``, m the largest element: nothing overflows. Source: ONNX ReduceLogSumExp-18."""
    (x, elem), axes, keep = _real(call), _axes(call), _keep(call)
    if not axes:
        return (x if elem is Elem.F32 else call.emit("cast", x, elem=elem),)
    # An infinite m would give infinity less infinity.
    largest = call.emit("reduce_max", x, axes=axes, keep_dims=True)
    largest = call.emit("clamp", largest, low=-_FLOAT32_MAX, high=_FLOAT32_MAX)
    total = call.emit("reduce_sum", call.emit("exp", call.emit("sub", x, largest)), axes=axes, keep_dims=True)
    y = call.emit("add", call.emit("log", total), largest)
    if not keep:
        y = call.reshape(y, tuple(d for i, d in enumerate(call.type(y).shape) if i not in axes))
    return (y if elem is Elem.F32 else call.emit("cast", y, elem=elem),)


def _real(call: Call) -> tuple[str, Elem]:
    """Input 0 as float32, and its own element type."""
    x = call.value(0)
    elem = call.type(x).elem
    return (x if elem is Elem.F32 else call.emit("cast", x, elem=Elem.F32)), elem


@translates("ArgMax", "ArgMin")
def place(call: Call) -> Results:
    """Place of the largest or smallest element, int64. Source: ONNX ArgMax-13, ArgMin-13."""
    operator = "arg_max" if call.node.op_type == "ArgMax" else "arg_min"
    axis = normal_axis(call.attribute("axis", 0), len(call.shape_of(0)))
    last = bool(call.attribute("select_last_index", 0))
    return (call.emit(operator, call.value(0), axis=axis, keep_dims=_keep(call), last=last),)


@translates("TopK")
def top_k(call: Call) -> Results:
    """The best elements, best first even where any order would do; k is constant. Source: ONNX TopK-24, 11, 10, 1."""
    shape = call.shape_of(0)
    axis = normal_axis(call.attribute("axis", -1), len(shape))
    if call.opset < 10:
        k = call.attribute("k")
    else:
        (k,) = call.integers(1, "k") or (0,)
    call.ignore("sorted")
    if not 1 <= k <= shape[axis]:
        raise refuse(f"k is {k} of {shape[axis]} elements", "from 1 to the length of the axis")
    largest = bool(call.attribute("largest", 1))
    return call.emit_many("top_k", call.value(0), k=k, axis=axis, largest=largest)


@translates("CumSum", "CumProd")
def running(call: Call) -> Results:
    """Running sums and products along a constant axis. Source: ONNX CumSum-14, CumProd-26."""
    axis = call.integers(1, "axis") or (0,)
    if len(axis) != 1:
        raise refuse(f"axes are {list(axis)}", "one axis")
    exclusive, reverse = bool(call.attribute("exclusive", 0)), bool(call.attribute("reverse", 0))
    place = normal_axis(axis[0], len(call.shape_of(0)))
    product = call.node.op_type == "CumProd"
    return (call.emit("cumsum", call.value(0), axis=place, exclusive=exclusive, reverse=reverse, product=product),)
