"""Operations of Keras 3 between layers (`x * 2`, `keras.ops.mean`): arithmetic, comparisons and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call, Tensor, operation
from tinydeploy.frontends.keras_ops._einsum import einsum
from tinydeploy.ir import Elem

_ELEMS = {elem.value: elem for elem in Elem if elem not in (Elem.S4, Elem.F16, Elem.F64)}


def setting(call: Call, key: str, position: int | None = None, default: Any = None) -> Any:
    """A setting of an operation: of its own, or an argument that is no tensor."""
    if key in call.kwargs:
        return call.kwargs[key]
    if position is not None and position < len(call.args) and not isinstance(call.args[position], Tensor):
        return call.args[position]
    value = call.config.get(key)
    return default if value is None else value


def same_elem(call: Call, items: list[Any]) -> list[str]:
    """Arguments as values of one element type: that of the tensors, float32 where these differ."""
    if not items:
        raise call.damaged("has no input")
    elems = {call.type(item).elem for item in items if isinstance(item, Tensor)}
    elems |= {
        Elem.F32
        for item in items
        if isinstance(item, float) or (isinstance(item, np.ndarray) and item.dtype.kind == "f")
    }
    elem = next(iter(elems)) if len(elems) == 1 else Elem.F32
    names = []
    for index, item in enumerate(items):
        if isinstance(item, np.ndarray):
            item = item.astype(elem.dtype)
        name = call.tensor(item, f"operand{index}", elem)
        names.append(name if call.type(name).elem is elem else call.emit("cast", (name,), stem="cast", elem=elem))
    return names


def _binary(operator: str, *, real: bool = False, **attributes: Any) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        if len(call.operands) != 2:
            raise call.damaged(f"has {len(call.operands)} inputs, not 2")
        names = [call.operand(0), call.operand(1)] if real else same_elem(call, call.operands)
        return call.emit(operator, names, **attributes)

    return translate


for _class, _operator in {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "FloorDivide": "floor_div",
    "Equal": "equal",
    "NotEqual": "not_equal",
    "Less": "less",
    "LessEqual": "less_equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
    "LogicalXor": "logical_xor",
}.items():
    operation(_class)(_binary(_operator))
operation("TrueDivide", "Divide")(_binary("div", real=True))
operation("Power")(_binary("pow", real=True))
operation("Arctan2")(_binary("atan2", real=True))
operation("Mod")(_binary("mod", fmod=False))


def _unary(operator: str, *, real: bool = True) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        if len(call.operands) != 1:
            raise call.damaged(f"has {len(call.operands)} inputs, not 1")
        return call.emit(operator, (call.operand(0) if real else call.tensor(call.operands[0]),))

    return translate


for _class, _operator in {
    "Sqrt": "sqrt",
    "Rsqrt": "rsqrt",
    "Reciprocal": "reciprocal",
    "Square": "square",
    "Log": "log",
    "Log1p": "log1p",
    "Expm1": "expm1",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Arcsin": "asin",
    "Arccos": "acos",
    "Arctan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Arcsinh": "asinh",
    "Arccosh": "acosh",
    "Arctanh": "atanh",
    "Erf": "erf",
    "Floor": "floor",
    "Ceil": "ceil",
    "Sign": "sign",
    "Isnan": "is_nan",
}.items():
    operation(_class)(_unary(_operator))
for _class, _operator in {"Absolute": "abs", "Abs": "abs", "Negative": "neg", "LogicalNot": "logical_not"}.items():
    operation(_class)(_unary(_operator, real=False))


@operation("Round")
def _round(call: Call) -> str:
    if setting(call, "decimals", 1, 0) != 0:
        raise call.refuse("rounds to decimals", "decimals is 0")
    return call.emit("round", (call.operand(0),))


@operation("Clip")
def _clip(call: Call) -> str:
    low, high = setting(call, "x_min", 1), setting(call, "x_max", 2)
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in (low, high)) or not low <= high:
        raise call.refuse(f"clips to {str(low)[:40]} .. {str(high)[:40]}", "both are numbers")
    return call.emit("clamp", (call.real(call.first()),), low=float(low), high=float(high))


@operation("Where")
def _where(call: Call) -> str:
    if len(call.operands) != 3:
        raise call.refuse(f"has {len(call.operands)} inputs", "a condition and two values")
    condition = call.tensor(call.operands[0], "condition")
    if call.type(condition).elem is not Elem.BOOL:
        condition = call.emit("cast", (condition,), stem="condition", elem=Elem.BOOL)
    return call.emit("select", (condition, *same_elem(call, call.operands[1:])))


@operation("Cast")
def _cast(call: Call) -> str:
    wanted = str(setting(call, "dtype", 1))
    elem = Elem.F32 if wanted in ("float16", "bfloat16", "float64") else _ELEMS.get(wanted)
    if elem is None:
        raise call.refuse(f"casts to {wanted[:80]!r}", f"types are {', '.join(sorted(_ELEMS))}")
    x = call.tensor(call.first())
    return x if call.type(x).elem is elem else call.emit("cast", (x,), elem=elem)


def _reduction(operator: str, *, real: bool = False) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        x = call.real(call.first()) if real else call.tensor(call.first())
        if operator in ("reduce_any", "reduce_all") and call.type(x).elem is not Elem.BOOL:
            x = call.emit("cast", (x,), stem="flags", elem=Elem.BOOL)
        axes = call.axes(setting(call, "axis"), call.type(x).rank)
        return call.emit(operator, (x,), axes=axes, keep_dims=bool(setting(call, "keepdims", None, False)))

    return translate


operation("Mean")(_reduction("mean", real=True))
for _class, _operator in {
    "Sum": "reduce_sum",
    "Prod": "reduce_prod",
    "Max": "reduce_max",
    "Min": "reduce_min",
    "Amax": "reduce_max",
    "Amin": "reduce_min",
    "Any": "reduce_any",
    "All": "reduce_all",
}.items():
    operation(_class)(_reduction(_operator))


def _spread(call: Call, root: bool) -> str:
    """Variance, or its root."""
    x = call.real(call.first())
    axes = call.axes(setting(call, "axis"), call.type(x).rank)
    off = call.emit("sub", (x, call.emit("mean", (x,), stem="mean", axes=axes, keep_dims=True)), stem="off")
    square = call.emit("mul", (off, off), stem="square")
    keep = bool(setting(call, "keepdims", None, False))
    y = call.emit("mean", (square,), stem="variance" if root else "", axes=axes, keep_dims=keep)
    return call.emit("sqrt", (y,)) if root else y


operation("Var")(lambda call: _spread(call, root=False))
operation("Std")(lambda call: _spread(call, root=True))


@operation("Argmax", "Argmin")
def _arg(call: Call) -> str:
    x = call.tensor(call.first())
    axis = setting(call, "axis", 1)
    if axis is None:
        x, axis = call.reshape(x, (call.type(x).size,), "flat"), 0
    return call.emit(
        "arg_max" if call.layer.class_name == "Argmax" else "arg_min",
        (x,),
        axis=call.axis(axis, call.type(x).rank),
        keep_dims=bool(setting(call, "keepdims", None, False)),
        last=False,
        elem=Elem.S32,
    )


@operation("Cumsum")
def _cumsum(call: Call) -> str:
    x = call.tensor(call.first())
    axis = setting(call, "axis", 1)
    if axis is None:
        x, axis = call.reshape(x, (call.type(x).size,), "flat"), 0
    return call.emit("cumsum", (x,), axis=call.axis(axis, call.type(x).rank), exclusive=False, reverse=False)


@operation("Normalize", "UnitNormalize")
def _normalize(call: Call) -> str:
    x = call.real(call.first())
    if setting(call, "order", 2, 2) != 2:
        raise call.refuse(f"has the order {str(setting(call, 'order', 2))[:40]}", "the order is 2")
    axes = call.axes(setting(call, "axis", 1, -1), call.type(x).rank)
    epsilon = call.number("epsilon", 1e-7, config={"epsilon": setting(call, "epsilon", 3)})
    return call.emit("l2_normalize", (x,), axes=axes, epsilon=epsilon * epsilon)


@operation("Matmul")
def _matmul(call: Call) -> str:
    if len(call.operands) != 2:
        raise call.damaged(f"has {len(call.operands)} inputs, not 2")
    a, b = call.operand(0), call.operand(1)
    if min(call.type(a).rank, call.type(b).rank) < 2:
        raise call.refuse(f"multiplies {call.type(a)} by {call.type(b)}", "both have two axes or more")
    table = call.data(b)
    if table is not None and table.ndim == 2:
        return call.emit("fully_connected", (a, call.constant("matrix", table.T), None))
    return call.emit("batch_matmul", (a, b))


@operation("Dot")
def _dot(call: Call) -> str:
    """Sums over the last axis of the first and the last but one of the second."""
    a, b = call.operand(0), call.operand(1)
    ranks = call.type(a).rank, call.type(b).rank
    if ranks[1] > 2 or not all(ranks):
        raise call.refuse(f"multiplies {call.type(a)} by {call.type(b)}", "the second has one or two axes")
    lead = "abcdefgh"[: ranks[0] - 1]
    return einsum(call, f"{lead}z,z{'y' * (ranks[1] - 1)}->{lead}{'y' * (ranks[1] - 1)}", [a, b], "")


@operation("Einsum")
def _einsum(call: Call) -> str:
    names = [call.operand(i) for i in range(len(call.operands))]
    return einsum(call, str(setting(call, "subscripts", default="")), names, "")


@operation("Hypot")
def _hypot(call: Call) -> str:
    squares = [call.emit("mul", (call.operand(i),) * 2, stem=f"square{i}") for i in range(2)]
    return call.emit("sqrt", (call.emit("add", squares, stem="sum"),))


@operation("SquaredDifference")
def _squared_difference(call: Call) -> str:
    return call.emit("squared_difference", same_elem(call, call.operands))


@operation("Log2", "Log10")
def _logarithm(call: Call) -> str:
    y = call.emit("log", (call.operand(0),), stem="log")
    base = math.log(2 if call.layer.class_name == "Log2" else 10)
    return call.emit("mul", (y, call.constant("factor", np.asarray(1 / base))))
