"""Recurrent layers and `Bidirectional`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call, flat, layer
from tinydeploy.frontends.keras_ops import _cells
from tinydeploy.ir import Array


@dataclasses.dataclass(frozen=True)
class _Direction:
    """A recurrent layer, or one of the two in a `Bidirectional`; ``stem`` tells their nodes apart."""

    class_name: str
    config: dict[str, Any]
    attribute: str
    stem: str = ""
    backwards: bool = False


@layer("LSTM", "GRU", "SimpleRNN", "RNN", mask="uses")
def _recurrent(call: Call) -> list[str]:
    config = call.config
    way = _Direction(call.layer.class_name, config, "cell", backwards=bool(config.get("go_backwards")))
    made = _cells.cells(call, way.class_name, config, "cell")
    arrays = call.parts({cell.attribute: cell.ranks for cell in made})
    x, initial = _inputs(call)
    sequence, states = _run(call, way, made, arrays, x, initial)
    result = _sequence(call, sequence, "") if config.get("return_sequences") else states[_last(made)]
    return [result, *states] if config.get("return_state") else [result]


@layer("Bidirectional", mask="uses")
def _bidirectional(call: Call) -> list[str]:
    forward = call.held(call.config.get("layer"), "forward_layer")
    other = call.config.get("backward_layer")
    backward = forward if other is None else call.held(other, "backward_layer")
    ahead = bool(forward.config.get("go_backwards"))
    back = not ahead if other is None else bool(backward.config.get("go_backwards"))
    ways = [
        _Direction(forward.class_name, forward.config, "forward_layer/cell", "forward", ahead),
        _Direction(backward.class_name, backward.config, "backward_layer/cell", "backward", back),
    ]
    made = [_cells.cells(call, way.class_name, way.config, way.attribute) for way in ways]
    arrays = call.parts({cell.attribute: cell.ranks for each in made for cell in each})
    x, initial = _inputs(call)
    counts = [sum(cell.states for cell in each) for each in made]
    if initial and len(initial) != sum(counts):
        raise call.damaged(f"is given {len(initial)} states, {sum(counts)} are needed")
    results, states = [], []
    whole = bool(forward.config.get("return_sequences"))
    for way, each in zip(ways, made, strict=True):
        own, arrays = arrays[: len(each)], arrays[len(each) :]
        given, initial = initial[: counts[0]], initial[counts[0] :]
        sequence, last = _run(call, way, each, own, x, given)
        if whole and way.stem == "backward":  # its first step is the last of the data
            sequence = call.slice(sequence, 0, call.type(sequence).shape[0] - 1, -1, -1, stem="backward/flip")
        results.append(_sequence(call, sequence, way.stem) if whole else last[_last(each)])
        states += last
    return [*_merged(call, results), *(states if forward.config.get("return_state") else [])]


def _merged(call: Call, results: list[str]) -> list[str]:
    mode = call.config.get("merge_mode", "concat")
    if mode is None:
        return results
    if mode == "concat":
        return [call.emit("concat", results, axis=call.type(results[0]).rank - 1)]
    if mode == "ave":
        total = call.emit("add", results, stem="sum")
        return [call.emit("mul", (total, call.constant("half", np.asarray(0.5))))]
    if mode in ("sum", "mul"):
        return [call.emit("add" if mode == "sum" else "mul", results)]
    raise call.damaged(f"merge_mode is {str(mode)[:80]!r}")


def _last(made: list[_cells.Cell]) -> int:
    """Which of all states is the last cell's output."""
    return sum(cell.states for cell in made[:-1])


def _inputs(call: Call) -> tuple[str, list[str]]:
    """X and the initial states: further inputs (Keras 2), or an argument of their name."""
    if call.kwargs.get("constants") is not None:
        raise call.refuse("is called with constants", "cells take the data and their states")
    given = call.kwargs.get("initial_state", [])
    states = [call.operand(i) for i in range(1, len(call.operands))]
    states += [call.real(item, "state") for item in flat([given])]
    x = call.operand(0)
    if call.type(x).rank != 3:
        raise call.damaged(f"its input is {call.type(x)}, not [batch, steps, features]")
    return x, states


def _run(
    call: Call, way: _Direction, made: list[_cells.Cell], arrays: list[list[Array]], x: str, initial: list[str]
) -> tuple[str, list[str]]:
    """All steps of the last cell, [steps, batch, units] in the order they are computed, and the last states."""
    batch, steps, _ = call.type(x).shape
    prefix = f"{way.stem}/" if way.stem else ""
    y = _swapped(call, x, f"{prefix}steps")
    if way.backwards:
        y = call.slice(y, 0, steps - 1, -1, -1, stem=f"{prefix}reverse")
    count = sum(cell.states for cell in made)
    if initial and len(initial) != count:
        raise call.damaged(f"is given {len(initial)} states, {count} are needed")
    kept: list[str] = []
    states: list[str | None] = list(initial) or [None] * count
    if way.config.get("stateful"):
        if f"{call.layer.name}/{prefix}stateful" in call.context.cache:
            raise call.refuse("keeps a state and is called more than once", "a stateful layer is called once")
        call.context.cache[f"{call.layer.name}/{prefix}stateful"] = ""
        if not initial:
            units = [a[1].shape[0] for a, cell in zip(arrays, made, strict=True) for _ in range(cell.states)]
            kept = [call.state(f"{prefix}state{i}", (batch, size)) for i, size in enumerate(units)]
            states = list(kept)
    final: list[str] = []
    for number, (cell, own) in enumerate(zip(made, arrays, strict=True)):
        stem = f"{prefix}cell{number}" if len(made) > 1 or way.stem else "sequence"
        first = states[len(final) : len(final) + cell.states]
        y, *last = _cells.run(call, cell, own, y, first, stem)
        final += last
    for read, write in zip(kept, final, strict=False):
        call.keep(read, write)
    return y, final


def _sequence(call: Call, y: str, stem: str) -> str:
    return _swapped(call, y, f"{stem}/batch".lstrip("/"))


def _swapped(call: Call, x: str, stem: str) -> str:
    """The first two axes exchanged; with a batch of one that is no work."""
    a, b, c = call.type(x).shape
    return call.reshape(x, (b, a, c), stem) if 1 in (a, b) else call.transpose(x, (1, 0, 2), stem)
