"""Matrix products: MatMul and Gemm, with a constant on one side."""

from __future__ import annotations

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.ir import Array


@translates("MatMul")
def matmul(call: Call) -> Results:
    """Product of a [..., M, K] and b [..., K, N]; one of them is a constant matrix. Source: ONNX MatMul-13."""
    if call.is_constant(1):
        return (_times_matrix(call, call.float_value(0), _matrix(call, 1), call.node.inputs[1]),)
    if not call.is_constant(0):
        raise refuse("both operands are computed at run time", "one operand is a constant matrix")
    left = _matrix(call, 0)
    x = call.float_value(1)
    rank = len(call.shape_of(1))
    if rank < 2:
        (size,) = call.shape_of(1)
        y = call.emit("fully_connected", call.reshape(x, (1, size)), call.hold(left, call.node.inputs[0]), None)
        return (call.reshape(y, call.type(y).shape[1:] if len(call.shape_of(0)) > 1 else ()),)
    swap = (*range(rank - 2), rank - 1, rank - 2)
    y = call.emit("fully_connected", call.transpose(x, swap), call.hold(left, call.node.inputs[0]), None)
    y = call.transpose(y, swap)
    if len(call.shape_of(0)) == 1:  # a vector has no M axis
        y = call.reshape(y, (*call.type(y).shape[:-2], call.type(y).shape[-1]))
    return (y,)


def _matrix(call: Call, index: int) -> Array:
    """A constant operand as [M, K] (left) or [K, N] (right); a vector becomes a row or a column."""
    data = call.constant(index, "operand")
    while data.ndim > 2 and data.shape[0] == 1 and data.ndim > len(call.shape_of(1 - index)) - 1:
        data = data[0]
    if data.ndim == 1:
        data = data[np.newaxis] if index == 0 else data[:, np.newaxis]
    if data.ndim != 2 or data.dtype != np.float32 or len(call.shape_of(index)) > max(2, len(call.shape_of(1 - index))):
        raise refuse(f"the constant operand is {data.dtype}{list(data.shape)}", "a float32 matrix")
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


@translates("Gemm")
def gemm(call: Call) -> Results:
    """``alpha * A' B' + beta * C``; B is constant, alpha and beta go into the constants. Source: ONNX Gemm-13."""
    alpha, beta = np.float32(call.attribute("alpha", 1.0)), np.float32(call.attribute("beta", 1.0))
    weights = call.constant(1, "B")
    x = call.float_value(0)
    transposed = call.attribute("transB", 0)
    if call.attribute("transA", 0):
        x = call.transpose(x, (1, 0))
    if weights.ndim != 2 or weights.dtype != np.float32 or len(call.type(x).shape) != 2:
        raise refuse(
            f"A has {len(call.type(x).shape)} dimensions, B is {weights.dtype}{list(weights.shape)}", "matrices"
        )
    weights = (weights if transposed else weights.T) * alpha
    rows, columns = call.type(x).shape[0], weights.shape[0]
    bias: str | None = None
    rest: str | None = None
    if call.is_constant(2):
        c = call.constant(2, "C") * beta
        if c.dtype != np.float32 or np.broadcast_shapes(c.shape, (rows, columns)) != (rows, columns):
            raise refuse(f"C is {c.dtype}{list(c.shape)}", f"float32 that broadcasts to [{rows}, {columns}]")
        if rows == 1 or c.ndim < 2 or c.shape[0] == 1:
            bias = call.hold(np.broadcast_to(c, (rows, columns))[0], call.node.inputs[2])
        else:
            rest = call.hold(c, call.node.inputs[2])
    elif call.has(2):
        rest = call.float_value(2)
        if np.broadcast_shapes(call.shape_of(2), (rows, columns)) != (rows, columns):
            raise refuse(f"C is {list(call.shape_of(2))}", f"it broadcasts to [{rows}, {columns}]")
        if beta != 1:
            rest = call.emit("mul", rest, call.hold(np.asarray(beta)))
    y = call.emit("fully_connected", x, call.hold(weights, call.node.inputs[1]), bias)
    return (y if rest is None else call.emit("add", y, rest),)
