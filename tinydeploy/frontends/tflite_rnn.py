"""TFLite's simple recurrent layers and SVDF. States are variables: what one run writes the next one reads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinydeploy.frontends import tflite_gates as gates
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.ir import Elem


def _float_rnn(call: Call, x: str, first: int, state: int) -> str:
    """A simple recurrent layer over [steps, batch, features]; returns all its steps."""
    matrices = [gates.small(call, [first + i]) or call.hold(gates.weights(call, first + i)) for i in range(2)]
    gates.hybrid(call, *matrices)
    b = gates.weights(call, first + 2)
    inputs = (x, *matrices, call.hold(np.append(b, np.zeros_like(b))), call.input(state))
    y, h = call.between_many("rnn", inputs, (None, None), activations=(gates.activation(call),))
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
    gates.finish(call, _float_rnn(call, gates.steps_first(call, time_major), 1, 4), time_major)


def _bidirectional_rnn(call: Call) -> None:
    if any(call.optional(index) is not None for index in (9, 10, 11)):
        raise call.refuse("has an auxiliary input", "both directions read one input")
    time_major = bool(call.option("time_major"))
    x = gates.steps_first(call, time_major)
    forward = _float_rnn(call, x, 1, 4)
    backward = gates.backwards(call, _float_rnn(call, gates.backwards(call, x), 5, 8))
    gates.merge(call, forward, backward, time_major)


def _svdf(call: Call) -> None:
    (rank,), x = call.positive("rank"), call.type(call.input(0))
    if x.elem is Elem.S8:
        inputs = tuple(call.optional(index) for index in range(5))
        gates.check_scales(call, *(call.type(call.input(index)) for index in (0, 1, 2, 4)), call.output_type())
        clamp = (-math.inf, math.inf)  # the output's range alone limits it, as in TFLite
    else:
        held = {i: call.hold(gates.weights(call, i)) for i in (1, 2, 3) if call.optional(i) is not None}
        inputs, clamp = (call.input(0), *(held.get(i) for i in (1, 2, 3)), call.input(4)), call.clamp()
    (state,) = call.emit_with("svdf", inputs, (call.type(call.input(4)).quant,), rank=rank, clamp=clamp)
    call.assign(4, state)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "RNN": _rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _sequence_rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": _bidirectional_rnn,
    "SVDF": _svdf,
}
