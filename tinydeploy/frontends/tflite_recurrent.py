"""TFLite's LSTMs. States are variables: what one run writes the next one reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from tinydeploy.frontends import tflite_gates as gates
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Array, Elem

_ORDER = (0, 3, 1, 2)  # TFLite's gates i, f, g, o in the order of our lstm


@dataclasses.dataclass(frozen=True)
class _Lstm:
    """Where an LSTM has its inputs: the first weight, the states of h and of c."""

    first: int
    h: int
    c: int


_FORWARD, _BOTH = _Lstm(1, 18, 19), (_Lstm(1, 35, 36), _Lstm(18, 37, 38))


def _gates(call: Call, first: int, coupled: bool) -> Array:
    """Gates i, f, g, o from input ``first`` on as one, in the order of our lstm.

    Where i is coupled, it is ``1 - sigmoid(f) = sigmoid(-f)``.
    """
    given = [gates.weights(call, first + gate) for gate in range(1, 4)]
    parts = [-given[0] if coupled else gates.weights(call, first), *given]
    gates.check_alike(call, parts)
    return np.concatenate([parts[gate] for gate in _ORDER])


def _matrix(call: Call, first: int, coupled: bool) -> str:
    """The same of weights, which stay small where they are int8 without zero points."""
    if coupled:
        return call.hold(_gates(call, first, coupled))
    held = gates.small(call, [first + gate for gate in _ORDER])
    return call.hold(_gates(call, first, coupled)) if held is None else held


def _float_lstm(call: Call, at: _Lstm, x: str) -> str:
    """An LSTM in float32 over [steps, batch, features]; returns all its steps."""
    coupled = call.optional(at.first) is None
    w, r = _matrix(call, at.first, coupled), _matrix(call, at.first + 4, coupled)
    gates.hybrid(call, w, r)
    b = _gates(call, at.first + 11, coupled)
    p, peepholes = None, [at.first + 8 + gate for gate in range(3)]
    if call.optional(peepholes[2]) is not None:
        of_f, of_o = gates.weights(call, peepholes[1]), gates.weights(call, peepholes[2])
        parts = [-of_f if coupled else gates.weights(call, peepholes[0]), of_o, of_f]
        gates.check_alike(call, parts)
        p = call.hold(np.concatenate(parts))
    function = gates.activation(call)
    y, h, c = call.between_many(
        "lstm",
        (x, w, r, call.hold(np.append(b, np.zeros_like(b))), call.input(at.h), call.input(at.c), p),
        (None, None, None),
        activations=("sigmoid", function, function),
        cell_clip=gates.clip(call),
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
    x = gates.steps_first(call, time_major)
    integer = call.type(x).elem is Elem.S8
    gates.finish(call, _integer_lstm(call, x) if integer else _float_lstm(call, _FORWARD, x), time_major)


def _one_step_lstm(call: Call) -> None:
    """LSTM in its full form, for one step: [batch, features]."""
    if int(call.option("kernel_type")):
        raise call.refuse(
            "is an LSTM of the basic kind", "LSTM has the full kernel, or is UNIDIRECTIONAL_SEQUENCE_LSTM"
        )
    _check_plain(call, _FORWARD, 20)
    kind = call.type(call.input(0))
    if kind.rank != 2:
        raise call.damaged(f"its input is {kind}")
    if kind.elem is not Elem.F32:
        raise call.refuse(f"takes {kind}", "LSTM is float32; in int8 it is UNIDIRECTIONAL_SEQUENCE_LSTM")
    y = _float_lstm(call, _FORWARD, call.between("reshape", (call.input(0),), shape=(1, *kind.shape)))
    call.emit("reshape", (y,), shape=call.type(y).shape[1:])


def _integer_lstm(call: Call, x: str) -> str:
    """An LSTM of int8 with an int16 cell state over [steps, batch, features]; returns all its steps."""
    if any(call.optional(index) is not None for index in (9, 10, 11)) or call.optional(1) is None:
        raise call.refuse("has peepholes or coupled gates", "LSTMs in int8 have four gates and no peepholes")
    if gates.activation(call) != "tanh":
        raise call.refuse("has another activation than TANH", "LSTMs in int8 have TANH")
    w, r = _integer_gates(call, 1), _integer_gates(call, 5)
    biases = [gates.integers(call, index) for index in range(12, 16)]
    gates.check_alike(call, biases)
    b = call.hold(np.concatenate(biases))
    hidden, cell = call.intermediate_type(4), call.type(call.input(19))
    gates.check_scales(call, call.type(x), call.type(call.input(18)), cell, hidden, call.output_type())
    quants = (call.output_type().quant, call.type(call.input(18)).quant, cell.quant)
    y, h, c = call.between_many(
        "unidirectional_sequence_lstm",
        (x, w, r, b, call.input(18), call.input(19)),
        quants,
        cell_clip=gates.clip(call),
        hidden_scale=hidden.scale,
        hidden_zero_point=hidden.zero_point,
    )
    call.assign(18, h)
    call.assign(19, c)
    return y


def _integer_gates(call: Call, first: int) -> str:
    """The weights of four gates as one tensor with a scale a row."""
    held = gates.small(call, range(first, first + 4))
    if held is None:
        kind = call.type(call.input(first))
        raise call.refuse(f"has weights {kind}", "a gate's weights are int8 with one scale and the zero point 0")
    return held


def _bidirectional_lstm(call: Call) -> None:
    if any(call.optional(index) is not None for index in range(39, 48)):
        raise call.refuse("has an auxiliary input", "both directions read one input")
    time_major = bool(call.option("time_major"))
    x = gates.steps_first(call, time_major)
    for at in _BOTH:
        if call.optional(at.first + 15) is not None:
            raise call.refuse("has a projection", "LSTMs have no projection")
    forward = _float_lstm(call, _BOTH[0], x)
    backward = gates.backwards(call, _float_lstm(call, _BOTH[1], gates.backwards(call, x)))
    gates.merge(call, forward, backward, time_major)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "LSTM": _one_step_lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional_lstm,
}
