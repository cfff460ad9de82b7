"""TFLite's recurrent operators. States are variables: what one run writes the next one reads."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_hybrid import WARNING as HYBRID
from tinydeploy.frontends.tflite_schema import ACTIVATIONS
from tinydeploy.ir import Array, Elem, Quant, Type
from tinydeploy.ir.types import dequantise

_FUNCTIONS = {"NONE": "affine", "RELU": "relu", "TANH": "tanh"}
_ORDER = (0, 3, 1, 2)  # TFLite's gates i, f, g, o in the order of our lstm


def _activation(call: Call) -> str:
    number = int(call.option("activation"))
    word = ACTIVATIONS[number] if 0 <= number < len(ACTIVATIONS) else f"number {number}"
    if word not in _FUNCTIONS:
        raise call.refuse(f"has the activation {word}", f"activations are {', '.join(_FUNCTIONS)}")
    return _FUNCTIONS[word]


def _weights(call: Call, index: int) -> Array:
    """A constant of real numbers; integer weights beside float activations (a hybrid operator) become float."""
    name, data = call.input(index), call.data(index)
    if data is None:
        raise call.refuse(f"input {index} is computed at run time", "weights are constants")
    kind = call.type(name)
    return np.asarray(data if kind.quant is None else dequantise(data, kind), np.float32)


def _steps_first(call: Call, time_major: bool) -> str:
    """The input as [steps, batch, features]."""
    name = call.input(0)
    kind = call.type(name)
    if kind.rank != 3:
        raise call.damaged(f"its input is {kind}, not a sequence")
    return name if time_major else call.between("transpose", (name,), kind.quant, perm=(1, 0, 2))


def _finish(call: Call, name: str, time_major: bool) -> None:
    """Write the operator's output from [steps, batch, features]."""
    if time_major:
        call.emit("reshape", (name,), shape=call.type(name).shape)
    else:
        call.emit("transpose", (name,), perm=(1, 0, 2))


def _clip(call: Call) -> float:
    clip = float(call.option("cell_clip"))
    if not 0 <= clip < math.inf:
        raise call.damaged(f"has cell_clip {clip}")
    return clip


@dataclasses.dataclass(frozen=True)
class _Lstm:
    """Where an LSTM has its inputs: the first weight, the states of h and of c."""

    first: int
    h: int
    c: int


_FORWARD, _BOTH = _Lstm(1, 18, 19), (_Lstm(1, 35, 36), _Lstm(18, 37, 38))


def _check_scales(call: Call, *kinds: Type) -> None:
    for kind in kinds:
        if kind.quant is None or kind.quant.axis is not None:
            raise call.damaged(f"takes or makes {kind}, which has no scale of its own")


def _check_alike(call: Call, arrays: Sequence[Array]) -> None:
    """What is put together has one shape, of at least one dimension."""
    shapes = [array.shape for array in arrays]
    if not shapes[0] or len(set(shapes)) > 1:
        raise call.damaged(f"has weights of the shapes {', '.join(str(list(shape)) for shape in shapes)}")


def _gates(call: Call, first: int, coupled: bool) -> Array:
    """Gates i, f, g, o from input ``first`` on as one, in the order of our lstm.

    Where i is coupled, it is ``1 - sigmoid(f) = sigmoid(-f)``.
    """
    given = [_weights(call, first + gate) for gate in range(1, 4)]
    parts = [-given[0] if coupled else _weights(call, first), *given]
    _check_alike(call, parts)
    return np.concatenate([parts[gate] for gate in _ORDER])


def _matrix(call: Call, first: int, coupled: bool) -> str:
    """The same of weights, which stay small where they are int8 without zero points."""
    if coupled:
        return call.hold(_gates(call, first, coupled))
    held = _small(call, [first + gate for gate in _ORDER])
    return call.hold(_gates(call, first, coupled)) if held is None else held


def _small(call: Call, indices: Sequence[int]) -> str | None:
    """Weights of int8 with one scale each and no zero point, as one tensor with a scale a row; else None."""
    kinds = [call.type(call.input(index)) for index in indices]
    if any(k.elem is not Elem.S8 or k.quant is None or k.quant.axis is not None or k.zero_point for k in kinds):
        return None
    parts = [_integers(call, index) for index in indices]
    _check_alike(call, parts)
    data = np.concatenate(parts)
    scales = tuple(kind.scale for kind in kinds for _ in range(kind.shape[0]))
    return call.hold(data, Quant(scales, (0,) * len(scales), 0))


def _hybrid(call: Call, *names: str) -> None:
    if any(call.type(name).quant is not None for name in names):
        call.warn(HYBRID)


def _float_lstm(call: Call, at: _Lstm, x: str) -> str:
    """An LSTM in float32 over [steps, batch, features]; returns all its steps."""
    coupled = call.optional(at.first) is None
    w, r = _matrix(call, at.first, coupled), _matrix(call, at.first + 4, coupled)
    _hybrid(call, w, r)
    b = _gates(call, at.first + 11, coupled)
    p, peepholes = None, [at.first + 8 + gate for gate in range(3)]
    if call.optional(peepholes[2]) is not None:
        of_f, of_o = _weights(call, peepholes[1]), _weights(call, peepholes[2])
        parts = [-of_f if coupled else _weights(call, peepholes[0]), of_o, of_f]
        _check_alike(call, parts)
        p = call.hold(np.concatenate(parts))
    function = _activation(call)
    y, h, c = call.between_many(
        "lstm",
        (x, w, r, call.hold(np.append(b, np.zeros_like(b))), call.input(at.h), call.input(at.c), p),
        (None, None, None),
        activations=("sigmoid", function, function),
        cell_clip=_clip(call),
    )
    call.assign(at.h, h)
    call.assign(at.c, c)
    return y


def _check_plain(call: Call, at: _Lstm, last: int) -> None:
    """Refuse what no kernel of ours does."""
    if call.optional(at.first + 15) is not None:
        raise call.refuse("has a projection", "LSTMs have no projection")
    if any(call.optional(index) is not None for index in range(last, last + 4)):
        raise call.refuse("normalises its gates", "LSTMs have no layer normalisation inside")


def _lstm(call: Call) -> None:
    _check_plain(call, _FORWARD, 20)
    time_major = bool(call.option("time_major"))
    x = _steps_first(call, time_major)
    integer = call.type(x).elem is Elem.S8
    _finish(call, _integer_lstm(call, x) if integer else _float_lstm(call, _FORWARD, x), time_major)


def _integer_lstm(call: Call, x: str) -> str:
    """An LSTM of int8 with an int16 cell state over [steps, batch, features]; returns all its steps."""
    if any(call.optional(index) is not None for index in (9, 10, 11)) or call.optional(1) is None:
        raise call.refuse("has peepholes or coupled gates", "LSTMs in int8 have four gates and no peepholes")
    if _activation(call) != "tanh":
        raise call.refuse("has another activation than TANH", "LSTMs in int8 have TANH")
    w, r = _integer_gates(call, 1), _integer_gates(call, 5)
    biases = [_integers(call, index) for index in range(12, 16)]
    _check_alike(call, biases)
    b = call.hold(np.concatenate(biases))
    hidden, cell = call.intermediate_type(4), call.type(call.input(19))
    _check_scales(call, call.type(x), call.type(call.input(18)), cell, hidden, call.output_type())
    quants = (call.output_type().quant, call.type(call.input(18)).quant, cell.quant)
    y, h, c = call.between_many(
        "unidirectional_sequence_lstm",
        (x, w, r, b, call.input(18), call.input(19)),
        quants,
        cell_clip=_clip(call),
        hidden_scale=hidden.scale,
        hidden_zero_point=hidden.zero_point,
    )
    call.assign(18, h)
    call.assign(19, c)
    return y


def _integers(call: Call, index: int) -> Array:
    data = call.data(index)
    if data is None:
        raise call.refuse(f"input {index} is computed at run time", "weights are constants")
    return data


def _integer_gates(call: Call, first: int) -> str:
    """The weights of four gates as one tensor with a scale a row."""
    held = _small(call, range(first, first + 4))
    if held is None:
        kind = call.type(call.input(first))
        raise call.refuse(f"has weights {kind}", "a gate's weights are int8 with one scale and the zero point 0")
    return held


def _backwards(call: Call, name: str) -> str:
    """[steps, ...] from the last step to the first."""
    steps, *rest = call.type(name).shape
    begin, end = (steps - 1, *(0,) * len(rest)), (-1, *rest)
    return call.between("strided_slice", (name,), begin=begin, end=end, stride=(-1, *(1,) * len(rest)))


def _merge(call: Call, forward: str, backward: str, time_major: bool) -> None:
    """The outputs of both directions, as one or as two."""
    if bool(call.option("merge_outputs")):
        _finish(call, call.between("concat", (forward, backward), axis=2), time_major)
        return
    both = call.between("concat", (forward, backward), axis=2)
    if not time_major:
        both = call.between("transpose", (both,), perm=(1, 0, 2))
    sizes = (call.type(forward).shape[2], call.type(backward).shape[2])
    call.emit("split", (both,), axis=2, sizes=sizes)


def _bidirectional_lstm(call: Call) -> None:
    if any(call.optional(index) is not None for index in range(39, 48)):
        raise call.refuse("has an auxiliary input", "both directions read one input")
    time_major = bool(call.option("time_major"))
    x = _steps_first(call, time_major)
    for at in _BOTH:
        if call.optional(at.first + 15) is not None:
            raise call.refuse("has a projection", "LSTMs have no projection")
    forward = _float_lstm(call, _BOTH[0], x)
    backward = _backwards(call, _float_lstm(call, _BOTH[1], _backwards(call, x)))
    _merge(call, forward, backward, time_major)


def _float_rnn(call: Call, x: str, first: int, state: int) -> str:
    """A simple recurrent layer over [steps, batch, features]; returns all its steps."""
    matrices = [_small(call, [first + i]) or call.hold(_weights(call, first + i)) for i in range(2)]
    _hybrid(call, *matrices)
    b = _weights(call, first + 2)
    inputs = (x, *matrices, call.hold(np.append(b, np.zeros_like(b))), call.input(state))
    y, h = call.between_many("rnn", inputs, (None, None), activations=(_activation(call),))
    call.assign(state, h)
    return y


def _rnn(call: Call) -> None:
    kind = call.type(call.input(0))
    if kind.rank != 2:
        raise call.damaged(f"its input is {kind}")
    x = call.between("reshape", (call.input(0),), shape=(1, *kind.shape))
    y = _float_rnn(call, x, 1, 4)
    call.emit("reshape", (y,), shape=call.type(y).shape[1:])


def _sequence_rnn(call: Call) -> None:
    time_major = bool(call.option("time_major"))
    _finish(call, _float_rnn(call, _steps_first(call, time_major), 1, 4), time_major)


def _bidirectional_rnn(call: Call) -> None:
    if any(call.optional(index) is not None for index in (9, 10, 11)):
        raise call.refuse("has an auxiliary input", "both directions read one input")
    time_major = bool(call.option("time_major"))
    x = _steps_first(call, time_major)
    forward = _float_rnn(call, x, 1, 4)
    backward = _backwards(call, _float_rnn(call, _backwards(call, x), 5, 8))
    _merge(call, forward, backward, time_major)


def _svdf(call: Call) -> None:
    (rank,), x = call.positive("rank"), call.type(call.input(0))
    if x.elem is Elem.S8:
        inputs = tuple(call.optional(index) for index in range(5))
        _check_scales(call, *(call.type(call.input(index)) for index in (0, 1, 2, 4)), call.output_type())
        clamp = (-math.inf, math.inf)  # the output's range alone limits it, as in TFLite
    else:
        held = {i: call.hold(_weights(call, i)) for i in (1, 2, 3) if call.optional(i) is not None}
        inputs, clamp = (call.input(0), *(held.get(i) for i in (1, 2, 3)), call.input(4)), call.clamp()
    (state,) = call.emit_with("svdf", inputs, (call.type(call.input(4)).quant,), rank=rank, clamp=clamp)
    call.assign(4, state)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional_lstm,
    "RNN": _rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _sequence_rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": _bidirectional_rnn,
    "SVDF": _svdf,
}
