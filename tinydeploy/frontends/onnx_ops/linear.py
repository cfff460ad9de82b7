"""Matrix products: MatMul, Gemm and MatMulInteger."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.convolution import without_zero_point
from tinydeploy.ir import Array, Elem


@translates("MatMul")
def matmul(call: Call) -> Results:
    """Product of a [..., M, K] and b [..., K, N], of which a vector has no M or N. Source: ONNX MatMul-13."""
    if call.is_constant(1) and not call.is_constant(0):
        right = _matrix(call, 1)
        if right is not None:
            return (_times_matrix(call, call.float_value(0), right, call.node.inputs[1]),)
    if call.is_constant(0) and not call.is_constant(1):
        left = _matrix(call, 0)
        if left is not None:
            return (_matrix_times(call, left),)
    return (product(call, _number(call, 0), _number(call, 1)),)


def _number(call: Call, index: int) -> str:
    name = call.value(index)
    if call.type(name).elem not in (Elem.F32, Elem.S32):
        raise refuse(f"input {index} is {call.type(name).elem.value}", "float32 or int32")
    return name


def product(call: Call, a: str, b: str) -> str:
    """The product of two values of any rank from 1 on, as NumPy's matmul."""
    left, right = call.type(a).shape, call.type(b).shape
    if not left or not right:
        raise refuse(f"takes {list(left)} and {list(right)}", "operands have at least one dimension")
    if len(left) == 1:
        a = call.reshape(a, (1, *left))
    if len(right) == 1:
        b = call.reshape(b, (*right, 1))
    y = call.emit("batch_matmul", a, b)
    lead = call.type(y).shape[:-2]
    rows, columns = call.type(y).shape[-2:]
    return call.reshape(y, (*lead, *((rows,) if len(left) > 1 else ()), *((columns,) if len(right) > 1 else ())))


def _matrix(call: Call, index: int) -> Array | None:
    """A constant float operand as [M, K] (left) or [K, N] (right), a vector as a row or column; None if it is none."""
    data = call.constant(index, "operand")
    if not call.shape_of(1 - index) or not data.ndim:
        return None
    while data.ndim > 2 and data.shape[0] == 1 and data.ndim > len(call.shape_of(1 - index)) - 1:
        data = data[0]
    if data.ndim == 1:
        data = data[np.newaxis] if index == 0 else data[:, np.newaxis]
    if data.ndim != 2 or data.dtype != np.float32 or len(call.shape_of(index)) > max(2, len(call.shape_of(1 - index))):
        return None
    return data


def _times_matrix(call: Call, x: str, matrix: Array, stem: str) -> str:
    vector = len(call.shape_of(0)) == 1
    if vector:
        x = call.reshape(x, (1, *call.shape_of(0)))
    y = call.emit("fully_connected", x, call.hold(matrix.T, stem), None)
    shape = call.type(y).shape
    if len(call.shape_of(1)) == 1:
        shape = shape[:-1]
    return call.reshape(y, shape[1:] if vector else shape)


def _matrix_times(call: Call, left: Array) -> str:
    x = call.float_value(1)
    rank = len(call.shape_of(1))
    if rank < 2:
        (size,) = call.shape_of(1)
        y = call.emit("fully_connected", call.reshape(x, (1, size)), call.hold(left, call.node.inputs[0]), None)
        return call.reshape(y, call.type(y).shape[1:] if len(call.shape_of(0)) > 1 else ())
    swap = (*range(rank - 2), rank - 1, rank - 2)
    y = call.emit("fully_connected", call.transpose(x, swap), call.hold(left, call.node.inputs[0]), None)
    y = call.transpose(y, swap)
    if len(call.shape_of(0)) == 1:  # a vector has no M axis
        y = call.reshape(y, (*call.type(y).shape[:-2], call.type(y).shape[-1]))
    return y


@translates("Gemm")
def gemm(call: Call) -> Results:
    """``alpha * A' B' + beta * C``; alpha and beta go into constants where they can. Source: ONNX Gemm-13."""
    alpha, beta = np.float32(call.attribute("alpha", 1.0)), np.float32(call.attribute("beta", 1.0))
    turned_a, turned_b = call.attribute("transA", 0), call.attribute("transB", 0)
    for index in (0, 1):
        if len(call.shape_of(index)) != 2:
            raise refuse(f"{'AB'[index]} has {len(call.shape_of(index))} dimensions", "matrices")
    x = call.float_value(0)
    if turned_a:
        x = call.transpose(x, (1, 0))
    rows = call.type(x).shape[0]
    columns = call.shape_of(1)[0 if turned_b else 1]
    bias, rest = _addend(call, rows, columns, beta)
    if call.is_constant(1):
        weights = call.constant(1, "B")
        if weights.dtype != np.float32:
            raise refuse(f"B is {weights.dtype}", "float32")
        weights = (weights if turned_b else weights.T) * alpha
        held_bias = None if bias is None else call.hold(bias, call.node.inputs[2])
        y = call.emit("fully_connected", x, call.hold(weights, call.node.inputs[1]), held_bias)
    else:
        right = call.float_value(1)
        y = call.emit("batch_matmul", x, call.transpose(right, (1, 0)) if turned_b else right)
        if alpha != 1:
            y = call.emit("mul", y, call.hold(np.asarray(alpha)))
        rest = rest if bias is None else call.hold(bias, call.node.inputs[2])
    return (y if rest is None else call.emit("add", y, rest),)


def _addend(call: Call, rows: int, columns: int, beta: np.float32) -> tuple[Array | None, str | None]:
    """``beta * C`` as a vector of one value a column, or as a value that is to be added."""
    if not call.has(2):
        return None, None
    shape = call.shape_of(2)
    try:
        fits = np.broadcast_shapes(shape, (rows, columns)) == (rows, columns)
    except ValueError:
        fits = False
    if not fits:
        raise refuse(f"C is {list(shape)}", f"it broadcasts to [{rows}, {columns}]")
    if not call.is_constant(2):
        rest = call.float_value(2)
        return None, rest if beta == 1 else call.emit("mul", rest, call.hold(np.asarray(beta)))
    c = call.constant(2, "C")
    if c.dtype != np.float32:
        raise refuse(f"C is {c.dtype}", "float32")
    c = np.asarray(c * beta)
    if rows == 1 or c.ndim < 2 or c.shape[0] == 1:
        return np.array(np.broadcast_to(c, (rows, columns))[0]), None
    return None, call.hold(c, call.node.inputs[2])


@translates("MatMulInteger")
def matmul_integer(call: Call) -> Results:
    """The product of integers less their zero points, int32. Source: ONNX MatMulInteger-10."""
    a = without_zero_point(call, 0, 2, (-1, 1))
    if not call.is_constant(1):
        return (product(call, a, without_zero_point(call, 1, 3, (-1,))),)
    right = call.constant(1, "B").astype(np.int32)
    zero = call.optional(3, "zero point of B")
    if zero is not None:
        right = right - zero.astype(np.int32)
    return (product(call, a, call.hold(right, call.node.inputs[1])),)
