"""What is computed while importing: constants, shapes, and arithmetic on them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinydeploy.frontends._geometry import broadcast
from tinydeploy.frontends.onnx_call import Call, Results, folds, normal_axis, refuse, translates
from tinydeploy.frontends.onnx_ops.shapes import new_shape, squeezed, target_elem, unsqueezed
from tinydeploy.frontends.onnx_ops.slicing import slices
from tinydeploy.ir import Array

MAX_ELEMENTS = 1 << 26  # of a result: a few nodes could otherwise ask for more memory than there is


def bounded(shape: tuple[int, ...]) -> tuple[int, ...]:
    """``shape``, if a result may have it.

    Raises: UnsupportedError above `MAX_ELEMENTS`, at a negative dimension and above rank 6.
    """
    if min(shape, default=0) < 0 or math.prod(shape) > MAX_ELEMENTS or len(shape) > 6:
        raise refuse(f"makes a constant of shape {list(shape)}", f"constants have at most {MAX_ELEMENTS} elements")
    return shape


def _all(call: Call) -> list[Array]:
    return [call.constant(i, "input") for i in range(len(call.sources))]


@folds("Constant")
def constant(call: Call) -> Results:
    """A value in an attribute. Source: ONNX Constant-13."""
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        data = call.attribute(name)
        if data is not None:
            dtype = {"value": None, "value_int": np.int64, "value_ints": np.int64}.get(name, np.float32)
            return (np.asarray(data, dtype),)
    raise refuse("has no value of a known kind", "value, value_float(s) or value_int(s)")


@translates("Shape")
@folds("Shape")
def shape(call: Call) -> Results:
    """Shapes are known while importing. Source: ONNX Shape-21 (start and end from opset 15)."""
    start, end = call.attribute("start", 0), call.attribute("end")
    return (np.asarray(call.shape_of(0)[slice(start, end)], np.int64),)


@translates("Size")
@folds("Size")
def size(call: Call) -> Results:
    """The number of elements, known while importing."""
    return (np.asarray(math.prod(call.shape_of(0)), np.int64),)


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Equal": np.equal,
    "Greater": np.greater,
    "Less": np.less,
    "And": np.logical_and,
    "Or": np.logical_or,
}


@folds(*_BINARY)
def binary(call: Call) -> Results:
    """Two constants that broadcast."""
    a, b = _all(call)
    bounded(np.broadcast_shapes(a.shape, b.shape))
    return (np.asarray(_BINARY[call.node.op_type](a, b)),)


@folds("Div")
def div(call: Call) -> Results:
    """Integers are divided towards zero, as C does. Source: ONNX Div-14."""
    a, b = _all(call)
    bounded(np.broadcast_shapes(a.shape, b.shape))
    if a.dtype.kind == "f":
        return (np.divide(a, b),)
    if np.any(b == 0):
        raise refuse("divides an integer by 0")
    quotient = np.floor_divide(np.abs(a), np.abs(b)) * np.sign(a) * np.sign(b)
    return (quotient.astype(a.dtype),)


_UNARY: dict[str, Callable[[Array], Array]] = {
    "Identity": np.asarray,
    "Neg": np.negative,
    "Abs": np.abs,
    "Sqrt": np.sqrt,
    "Exp": np.exp,
    "Log": np.log,
    "Reciprocal": np.reciprocal,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Not": np.logical_not,
}


@folds(*_UNARY)
def unary(call: Call) -> Results:
    """A function of each element of a constant."""
    (x,) = _all(call)
    return (np.asarray(_UNARY[call.node.op_type](x)),)


@folds("Min", "Max")
def extremum(call: Call) -> Results:
    """The least or the largest of constants that broadcast."""
    operands = _all(call)
    bounded(np.broadcast_shapes(*(x.shape for x in operands)))
    function = np.minimum if call.node.op_type == "Min" else np.maximum
    result = operands[0]
    for other in operands[1:]:
        result = function(result, other)
    return (result,)


@folds("Where")
def where(call: Call) -> Results:
    """One of two constants, by a third."""
    condition, a, b = _all(call)
    bounded(np.broadcast_shapes(condition.shape, a.shape, b.shape))
    return (np.where(condition, a, b),)


@folds("Cast")
def cast(call: Call) -> Results:
    """A constant in another element type."""
    return (_all(call)[0].astype(target_elem(call).dtype),)


@folds("Gather")
def gather(call: Call) -> Results:
    """Entries of a constant. Source: ONNX Gather-13."""
    x, indices = _all(call)
    axis = normal_axis(call.attribute("axis", 0), x.ndim)
    bounded((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
    return (np.asarray(np.take(x, indices, axis=axis)),)


@folds("Slice")
def slice_(call: Call) -> Results:
    """Ranges of a constant."""
    x = call.constant(0, "data")
    return (x[np.ix_(*slices(call))] if x.ndim else x,)


@folds("Concat")
def concat(call: Call) -> Results:
    """Constants one after the other."""
    parts = _all(call)
    return (np.concatenate(parts, axis=normal_axis(call.attribute("axis"), parts[0].ndim)),)


@folds("Reshape")
def reshape(call: Call) -> Results:
    """A constant in another shape."""
    return (call.constant(0, "data").reshape(bounded(new_shape(call))),)


@folds("Squeeze")
def squeeze(call: Call) -> Results:
    """A constant without axes of size 1."""
    return (call.constant(0, "data").reshape(squeezed(call)),)


@folds("Unsqueeze")
def unsqueeze(call: Call) -> Results:
    """A constant with axes of size 1 put in."""
    return (call.constant(0, "data").reshape(bounded(unsqueezed(call))),)


@folds("Transpose")
def transpose(call: Call) -> Results:
    """A constant with its axes in another order."""
    (x,) = _all(call)
    return (np.transpose(x, call.attribute("perm", tuple(reversed(range(x.ndim))))),)


@folds("ConstantOfShape")
def constant_of_shape(call: Call) -> Results:
    """One value in a given shape. Source: ONNX ConstantOfShape-21."""
    filler = call.attribute("value")
    filler = np.zeros(1, np.float32) if filler is None else filler
    return (np.full(bounded(call.integers(0, "shape") or ()), filler.ravel()[0], filler.dtype),)


@translates("EyeLike")
@folds("EyeLike")
def eye_like(call: Call) -> Results:
    """Ones on a diagonal of the input's shape. Source: ONNX EyeLike-22."""
    wanted, k = bounded(call.shape_of(0)), call.attribute("k", 0)
    if len(wanted) != 2:
        raise refuse(f"its input has shape {list(wanted)}", "matrices")
    source = call.sources[0]
    default = source.dtype if isinstance(source, np.ndarray) else call.type(str(source)).elem.dtype
    dtype = default if call.attribute("dtype") is None else target_elem(call, "dtype").dtype
    return (np.eye(*wanted, k=k, dtype=dtype),)


@folds("NonZero")
def non_zero(call: Call) -> Results:
    """Places of the elements of a constant that are not zero, one row an axis. Source: ONNX NonZero-13."""
    (x,) = _all(call)
    return (np.stack(np.nonzero(x)).astype(np.int64),)


@folds("Unique")
def unique(call: Call) -> Results:
    """Different elements or slices of a constant, and where they are. Source: ONNX Unique-11."""
    x, axis = call.constant(0, "data"), call.attribute("axis")
    x = x.ravel() if axis is None else x
    values, first, back, counts = np.unique(x, True, True, True, axis=axis)
    order = np.arange(len(first)) if call.attribute("sorted", 1) else np.argsort(first)
    places = np.argsort(order)[back.ravel()]
    others = (first[order], places, counts[order])
    return (np.take(values, order, axis=axis or 0), *(part.astype(np.int64) for part in others))


@folds("Expand")
def expand(call: Call) -> Results:
    """A constant broadcast to a shape. Source: ONNX Expand-13."""
    x = call.constant(0, "data")
    wanted = bounded(broadcast(x.shape, call.integers(1, "shape") or ()))
    return (np.broadcast_to(x, wanted).copy(),)


@folds("Range")
def range_(call: Call) -> Results:
    """Numbers from start up to limit. Source: ONNX Range-11."""
    start, limit, delta = (x.ravel()[0] for x in _all(call))
    if delta == 0:
        raise refuse("delta is 0")
    bounded((max(math.ceil((float(limit) - float(start)) / float(delta)), 0),))
    return (np.arange(start, limit, delta, dtype=start.dtype),)
