"""What translations of TFLite's recurrent operators share: weights, sequences, both directions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_hybrid import WARNING as HYBRID
from tinydeploy.frontends.tflite_schema import ACTIVATIONS
from tinydeploy.ir import Array, Elem, Quant, Type
from tinydeploy.ir.types import dequantise

_FUNCTIONS = {"NONE": "affine", "RELU": "relu", "TANH": "tanh"}


def activation(call: Call) -> str:
    """The fused activation as one of ours."""
    number = int(call.option("activation"))
    word = ACTIVATIONS[number] if 0 <= number < len(ACTIVATIONS) else f"number {number}"
    if word not in _FUNCTIONS:
        raise call.refuse(f"has the activation {word}", f"activations are {', '.join(_FUNCTIONS)}")
    return _FUNCTIONS[word]


def weights(call: Call, index: int) -> Array:
    """A constant of real numbers; integer weights beside float activations (a hybrid operator) become float."""
    name, data = call.input(index), call.data(index)
    if data is None:
        raise call.refuse(f"input {index} is computed at run time", "weights are constants")
    kind = call.type(name)
    return np.asarray(data if kind.quant is None else dequantise(data, kind), np.float32)


def steps_first(call: Call, time_major: bool) -> str:
    """The input as [steps, batch, features]."""
    name = call.input(0)
    kind = call.type(name)
    if kind.rank != 3:
        raise call.damaged(f"its input is {kind}, not a sequence")
    return name if time_major else call.between("transpose", (name,), kind.quant, perm=(1, 0, 2))


def finish(call: Call, name: str, time_major: bool) -> None:
    """Write the operator's output from [steps, batch, features]."""
    if time_major:
        call.emit("reshape", (name,), shape=call.type(name).shape)
    else:
        call.emit("transpose", (name,), perm=(1, 0, 2))


def clip(call: Call) -> float:
    """The limit of the cell state, 0 for none."""
    clip = float(call.option("cell_clip"))
    if not 0 <= clip < math.inf:
        raise call.damaged(f"has cell_clip {clip}")
    return clip


def check_scales(call: Call, *kinds: Type) -> None:
    """Refuse types without one scale."""
    for kind in kinds:
        if kind.quant is None or kind.quant.axis is not None:
            raise call.damaged(f"takes or makes {kind}, which has no scale of its own")


def check_alike(call: Call, arrays: Sequence[Array]) -> None:
    """What is put together has one shape, of at least one dimension."""
    shapes = [array.shape for array in arrays]
    if not shapes[0] or len(set(shapes)) > 1:
        raise call.damaged(f"has weights of the shapes {', '.join(str(list(shape)) for shape in shapes)}")


def small(call: Call, indices: Sequence[int]) -> str | None:
    """Weights of int8 with one scale each and no zero point, as one tensor with a scale a row; else None."""
    kinds = [call.type(call.input(index)) for index in indices]
    if any(k.elem is not Elem.S8 or k.quant is None or k.quant.axis is not None or k.zero_point for k in kinds):
        return None
    parts = [integers(call, index) for index in indices]
    check_alike(call, parts)
    data = np.concatenate(parts)
    scales = tuple(kind.scale for kind in kinds for _ in range(kind.shape[0]))
    return call.hold(data, Quant(scales, (0,) * len(scales), 0))


def hybrid(call: Call, *names: str) -> None:
    """Warn where weights are small beside float activations."""
    if any(call.type(name).quant is not None for name in names):
        call.warn(HYBRID)


def integers(call: Call, index: int) -> Array:
    """A constant as it is stored."""
    data = call.data(index)
    if data is None:
        raise call.refuse(f"input {index} is computed at run time", "weights are constants")
    return data


def backwards(call: Call, name: str) -> str:
    """[steps, ...] from the last step to the first."""
    steps, *rest = call.type(name).shape
    begin, end = (steps - 1, *(0,) * len(rest)), (-1, *rest)
    return call.between("strided_slice", (name,), begin=begin, end=end, stride=(-1, *(1,) * len(rest)))


def merge(call: Call, forward: str, backward: str, time_major: bool) -> None:
    """The outputs of both directions, as one or as two."""
    if bool(call.option("merge_outputs")):
        finish(call, call.between("concat", (forward, backward), axis=2), time_major)
        return
    both = call.between("concat", (forward, backward), axis=2)
    if not time_major:
        both = call.between("transpose", (both,), perm=(1, 0, 2))
    sizes = (call.type(forward).shape[2], call.type(backward).shape[2])
    call.emit("split", (both,), axis=2, sizes=sizes)
