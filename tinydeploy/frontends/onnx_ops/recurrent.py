"""LSTM, GRU and RNN: one of our operators a direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.ops._recurrent import ACTIVATIONS

_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_WITH_ALPHA = ("affine", "leaky_relu", "thresholded_relu", "scaled_tanh", "hard_sigmoid", "elu")
_WITH_BETA = ("affine", "scaled_tanh", "hard_sigmoid")
_WITHOUT_DEFAULT = ("affine", "scaled_tanh")  # no ONNX operator of that name says what it would be
_BY_NAME = {name.replace("_", ""): name for name in ACTIVATIONS}


@dataclasses.dataclass(frozen=True)
class _Functions:
    """Activations of one direction and their constants."""

    activations: tuple[str, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]


@translates("LSTM", "GRU", "RNN")
def recurrent(call: Call) -> Results:
    """Forward, reverse or both; layout 1 has the batch before the steps. Source: ONNX LSTM-22, GRU-22, RNN-22."""
    kind = call.node.op_type
    direction, batch_first = call.attribute("direction", "forward"), bool(call.attribute("layout", 0))
    backward = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(direction)
    if backward is None:
        raise refuse(f"direction is {direction!r}", "forward, reverse or bidirectional")
    x = call.float_value(0)
    if len(call.shape_of(0)) != 3:
        raise refuse(f"input has shape {list(call.shape_of(0))}", "three dimensions: steps, batch and features")
    x = call.transpose(x, (1, 0, 2)) if batch_first else x
    _check_lengths(call, call.type(x).shape[0])
    functions = list(_functions(call, kind, len(backward)))
    call.ignore("hidden_size")  # the weights tell
    options: dict[str, Any] = {"clip": float(call.attribute("clip", 0.0))}
    if kind == "LSTM":
        options["input_forget"] = bool(call.attribute("input_forget", 0))
    if kind == "GRU":
        options["linear_before_reset"] = bool(call.attribute("linear_before_reset", 0))
    found = []
    for number, reverse in enumerate(backward):
        weights = [_part(call, index, number, len(backward)) for index in (1, 2, 3)]
        states = [_part(call, i, number, len(backward), batch_first) for i in ((5, 6) if kind == "LSTM" else (5,))]
        more = [_part(call, 7, number, len(backward))] if kind == "LSTM" else []
        source = _backwards(call, x) if reverse else x
        chosen = dataclasses.asdict(functions[number])
        y, *last = call.emit_many(kind.lower(), source, *weights, *states, *more, **chosen, **options)
        found.append((_backwards(call, y) if reverse else y, *last))
    return tuple(_join(call, names, batch_first) for names in zip(*found, strict=True))


def _check_lengths(call: Call, steps: int) -> None:
    lengths = call.optional(4, "sequence_lens")
    if lengths is not None and np.any(lengths != steps):
        rule = f"every sequence has all {steps} steps of the input"
        raise refuse(f"sequence_lens are {lengths.ravel().tolist()[:8]}", rule, "export without sequence_lens")


def _functions(call: Call, kind: str, directions: int) -> Iterator[_Functions]:
    """Activations of each direction; alphas and betas are taken in order by those functions that have them."""
    count = len(_DEFAULTS[kind])
    names = list(call.attribute("activations", _DEFAULTS[kind] * directions))
    if len(names) == count and directions == 2:
        names *= 2
    if kind == "RNN" and directions == 1:
        names = names[:1]  # its default lists two
    if len(names) != count * directions:
        raise refuse(f"has {len(names)} activations", f"{count} a direction")
    alphas, betas = iter(call.attribute("activation_alpha", ())), iter(call.attribute("activation_beta", ()))
    for first in range(0, len(names), count):
        chosen: list[tuple[str, float, float]] = []
        for name in names[first : first + count]:
            ours = _BY_NAME.get(str(name).lower())
            if ours is None:
                raise refuse(f"has the activation {name!r}", f"activations are {', '.join(ACTIVATIONS)}")
            known = ACTIVATIONS[ours]
            alpha = next(alphas, None) if ours in _WITH_ALPHA else 0.0
            beta = next(betas, None) if ours in _WITH_BETA else 0.0
            if ours in _WITHOUT_DEFAULT and (alpha is None or beta is None):
                rule = "activation_alpha and activation_beta are given"
                raise refuse(f"the activation {name} has no constants", rule)
            chosen.append((ours, known.alpha if alpha is None else alpha, known.beta if beta is None else beta))
        activations, of_alpha, of_beta = zip(*chosen, strict=True)
        yield _Functions(activations, of_alpha, of_beta)


def _part(call: Call, index: int, number: int, directions: int, batch_first: bool = False) -> str | None:
    """A direction's part of an input that has an axis of directions: the first one, or the second after the batch."""
    source = call.sources[index] if call.has(index) else None
    if source is None:
        return None
    shape, axis = call.shape_of(index), int(batch_first)
    if len(shape) < 2 or shape[axis] != directions:
        raise refuse(f"input {index} has shape {list(shape)}", f"axis {axis} has length {directions}, the directions")
    if isinstance(source, np.ndarray):
        return call.hold(np.take(source, number, axis=axis), call.node.inputs[index])
    rest = (*shape[:axis], *shape[axis + 1 :])
    if directions > 1:
        begin = [number if i == axis else 0 for i in range(len(shape))]
        end = [number + 1 if i == axis else size for i, size in enumerate(shape)]
        source = call.emit("strided_slice", source, begin=tuple(begin), end=tuple(end), stride=(1,) * len(shape))
    return call.reshape(source, rest)


def _backwards(call: Call, name: str) -> str:
    """[T, ...] from the last step to the first."""
    steps, *rest = call.type(name).shape
    begin, end = (steps - 1, *(0,) * len(rest)), (-1, *rest)
    return call.emit("strided_slice", name, begin=begin, end=end, stride=(-1, *(1,) * len(rest)))


def _join(call: Call, names: tuple[str, ...], batch_first: bool) -> str:
    """The directions' results as one, with an axis of directions before the batch or, if ``batch_first``, after it."""
    shape = call.type(names[0]).shape
    axis = len(shape) - 2
    parts = [call.reshape(name, (*shape[:axis], 1, *shape[axis:])) for name in names]
    whole = parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=axis)
    if not batch_first:
        return whole
    return call.transpose(whole, (2, 0, 1, 3) if axis == 1 else (1, 0, 2))
