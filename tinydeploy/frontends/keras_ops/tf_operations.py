"""TensorFlow functions between the layers of Keras 2 models: the file names them, and they are Keras 3's operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import OPERATIONS, Call, Tensor, flat, layer
from tinydeploy.frontends.keras_settings import Layer

# The function's name in the file: the operation, and the arguments that have other names in it.
_FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "math.add": ("Add", {}),
    "__operators__.add": ("Add", {}),
    "math.subtract": ("Subtract", {}),
    "math.multiply": ("Multiply", {}),
    "math.divide": ("TrueDivide", {}),
    "math.truediv": ("TrueDivide", {}),
    "math.maximum": ("Maximum", {}),
    "math.minimum": ("Minimum", {}),
    "math.floordiv": ("FloorDivide", {}),
    "compat.v1.floor_div": ("FloorDivide", {}),
    "math.pow": ("Power", {}),
    "math.negative": ("Negative", {}),
    "math.abs": ("Absolute", {}),
    "math.sqrt": ("Sqrt", {}),
    "math.rsqrt": ("Rsqrt", {}),
    "math.square": ("Square", {}),
    "math.exp": ("Exp", {}),
    "math.log": ("Log", {}),
    "math.sigmoid": ("Sigmoid", {}),
    "math.tanh": ("Tanh", {}),
    "nn.relu": ("Relu", {}),
    "nn.relu6": ("Relu6", {}),
    "nn.elu": ("Elu", {}),
    "nn.selu": ("Selu", {}),
    "nn.silu": ("Silu", {}),
    "nn.swish": ("Silu", {}),
    "nn.gelu": ("Gelu", {}),
    "nn.leaky_relu": ("LeakyRelu", {"alpha": "negative_slope"}),
    "nn.softmax": ("Softmax", {}),
    "compat.v1.nn.softmax": ("Softmax", {}),
    "math.reduce_mean": ("Mean", {}),
    "math.reduce_sum": ("Sum", {}),
    "math.reduce_max": ("Max", {}),
    "math.reduce_min": ("Min", {}),
    "math.argmax": ("Argmax", {}),
    "concat": ("Concatenate", {}),
    "stack": ("Stack", {}),
    "reshape": ("Reshape", {"shape": "newshape"}),
    "transpose": ("Transpose", {"perm": "axes"}),
    "compat.v1.transpose": ("Transpose", {"perm": "axes"}),
    "expand_dims": ("ExpandDims", {}),
    "squeeze": ("Squeeze", {}),
    "compat.v1.squeeze": ("Squeeze", {}),
    "clip_by_value": ("Clip", {"clip_value_min": "x_min", "clip_value_max": "x_max"}),
    "linalg.matmul": ("Matmul", {}),
    "cast": ("Cast", {}),
    "tile": ("Tile", {"multiples": "repeats"}),
}
_OBEYED = (
    "axis",
    "keepdims",
    "negative_slope",
    "newshape",
    "axes",
    "x_min",
    "x_max",
    "dtype",
    "repeats",
    "approximate",
)
_OPERANDS = ("x", "y", "a", "b", "features")


@layer("TFOpLambda")
def _function(call: Call) -> Any:
    name = str(call.config.get("function"))
    if name not in _FUNCTIONS:
        raise call.refuse(f"is the TensorFlow function {name[:80]!r}", f"functions are {', '.join(sorted(_FUNCTIONS))}")
    operation, renamed = _FUNCTIONS[name]
    kwargs = {renamed.get(key, key): value for key, value in call.kwargs.items() if key != "name"}
    operands = [*call.args, *(_numbers(call, kwargs.pop(key)) for key in _OPERANDS if key in kwargs)]
    other = sorted(key for key, value in kwargs.items() if key not in _OBEYED and value is not False)
    if other:
        raise call.refuse(f"calls {name} with {', '.join(other)[:80]}", f"of these, {', '.join(_OBEYED)} are obeyed")
    return _as(call, operation, operands, kwargs)


def _numbers(call: Call, value: Any) -> Any:
    """An operand; a list that holds no tensor is an array of numbers."""
    if not isinstance(value, list) or any(isinstance(leaf, Tensor) for leaf in flat(value)):
        return value
    try:
        return np.asarray(value, np.float32)
    except (ValueError, TypeError, OverflowError):
        raise call.damaged(f"is called with {str(value)[:80]}, not numbers") from None


@layer("SlicingOpLambda")
def _slicing(call: Call) -> Any:
    spec = call.kwargs.get("slice_spec")
    keys: list[Any] = []
    for item in spec if isinstance(spec, list) else [spec]:
        if isinstance(item, dict) and set(item) <= {"start", "stop", "step"}:
            keys.append(slice(item.get("start"), item.get("stop"), item.get("step")))
        elif (isinstance(item, dict) and item.get("value") == "Ellipsis") or item == "...":
            keys.append(Ellipsis)
        else:
            keys.append(item)
    return _as(call, "GetItem", [call.first(), keys], {})


def _as(call: Call, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    translate: Callable[[Call], Any] = OPERATIONS[operation]
    old = call.layer
    return translate(Call(call.context, Layer(operation, old.module, {}, old.path), args, kwargs))
