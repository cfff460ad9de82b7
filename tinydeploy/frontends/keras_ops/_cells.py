"""Recurrent cells as operators over all steps: LSTM, GRU, the simple cell, and stacks of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tinydeploy.frontends.keras_call import Call
from tinydeploy.frontends.keras_file import slot_stem
from tinydeploy.ir import Array

MAX_CELLS = 32
_GATES = {"lstm": 4, "gru": 3, "rnn": 1}
_STATES = {"lstm": 2, "gru": 1, "rnn": 1}
# Where the operator wants a gate: Keras has i f c o, and z r h.
_ORDER = {"lstm": (0, 3, 1, 2), "gru": (0, 1, 2), "rnn": (0,)}
_CLASSES = {
    "LSTM": "lstm",
    "LSTMCell": "lstm",
    "CuDNNLSTM": "lstm",
    "GRU": "gru",
    "GRUCell": "gru",
    "SimpleRNN": "rnn",
    "SimpleRNNCell": "rnn",
}
# alpha and beta of each activation. Source: keras.activations.
_ACTIVATIONS = {
    "linear": ("affine", 1.0, 0.0),
    "sigmoid": ("sigmoid", 0.0, 0.0),
    "tanh": ("tanh", 0.0, 0.0),
    "relu": ("relu", 0.0, 0.0),
    "leaky_relu": ("leaky_relu", 0.2, 0.0),
    "elu": ("elu", 1.0, 0.0),
    "softsign": ("softsign", 0.0, 0.0),
    "softplus": ("softplus", 0.0, 0.0),
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """``kind``: the operator. ``attribute``: where the layer keeps the cell, for its weights."""

    kind: str
    config: dict[str, Any]
    attribute: str

    @property
    def states(self) -> int:
        """How many states it has."""
        return _STATES[self.kind]

    @property
    def reset_after(self) -> bool:
        """Whether a GRU applies its reset gate behind the product of matrices."""
        return self.kind == "gru" and bool(self.config.get("reset_after", False))

    @property
    def ranks(self) -> tuple[int, ...]:
        """Axes of kernel, recurrent kernel and bias."""
        bias = (2 if self.reset_after else 1,) if self.config.get("use_bias", True) else ()
        return (2, 2, *bias)


def cells(call: Call, class_name: str, config: dict[str, Any], attribute: str) -> list[Cell]:
    """The cells of a recurrent layer of the class ``class_name``; one feeds the next at every step."""
    if class_name != "RNN":
        return [_cell(call, class_name, config, attribute)]
    cell = config.get("cell")
    if not isinstance(cell, dict) or not isinstance(cell.get("config"), dict):
        raise call.damaged("has no cell")
    if cell.get("class_name") != "StackedRNNCells":
        return [_cell(call, str(cell.get("class_name")), cell["config"], attribute)]
    held = cell["config"].get("cells")
    if not isinstance(held, list) or not 1 <= len(held) <= MAX_CELLS:
        raise call.damaged("has no list of cells")
    counts: dict[str, int] = {}
    found = []
    for item in held:
        if not isinstance(item, dict) or not isinstance(item.get("config"), dict):
            raise call.damaged("has a cell without a configuration")
        stem = slot_stem(str(item.get("class_name")))
        counts[stem] = counts.get(stem, -1) + 1
        slot = f"{stem}_{counts[stem]}" if counts[stem] else stem
        found.append(_cell(call, str(item.get("class_name")), item["config"], f"{attribute}/cells/{slot}"))
    return found


def _cell(call: Call, class_name: str, config: dict[str, Any], attribute: str) -> Cell:
    if class_name not in _CLASSES:
        raise call.refuse(f"holds a cell of the class {class_name[:80]!r}", f"cells are {', '.join(sorted(_CLASSES))}")
    if config.get("time_major"):
        raise call.refuse("has the steps ahead of the batch", "time_major is False")
    return Cell(_CLASSES[class_name], config, attribute)


def run(call: Call, cell: Cell, arrays: list[Array], x: str, states: list[str | None], stem: str) -> list[str]:
    """Add a cell over all steps of x [steps, batch, features]: returns its results, [steps, batch, units] and the last
    states [batch, units].
    """
    gates, order = _GATES[cell.kind], _ORDER[cell.kind]
    kernel, recurrent = arrays[:2]
    units = recurrent.shape[0]
    if kernel.shape[1] != gates * units or recurrent.shape[1] != gates * units:
        raise call.damaged(f"has kernels of shapes {list(kernel.shape)} and {list(recurrent.shape)}")

    def sorted_gates(array: Array) -> Array:
        """Gates of the last axis in the operator's order, as rows."""
        rows = array.T.reshape(gates, units, *array.T.shape[1:])[list(order)]
        return np.asarray(rows.reshape(gates * units, *array.T.shape[1:]))

    bias = None
    if len(arrays) > 2:
        of_kernel = arrays[2][0] if cell.reset_after else arrays[2]
        of_recurrent = arrays[2][1] if cell.reset_after else np.zeros_like(of_kernel)
        if of_kernel.shape != (gates * units,):
            raise call.damaged(f"has a bias of shape {list(arrays[2].shape)}")
        both = np.concatenate([sorted_gates(of_kernel), sorted_gates(of_recurrent)])
        bias = call.constant(f"{stem}/bias".lstrip("/"), both)
    inputs = (
        x,
        call.constant(f"{stem}/kernel".lstrip("/"), sorted_gates(kernel)),
        call.constant(f"{stem}/recurrent".lstrip("/"), sorted_gates(recurrent)),
        bias,
        *states,
    )
    wanted = [_activation(call, cell.config, "activation", "tanh")]
    if cell.kind != "rnn":
        wanted.insert(0, _activation(call, cell.config, "recurrent_activation", "sigmoid"))
    if cell.kind == "lstm":
        wanted.append(wanted[-1])
    names, alphas, betas = zip(*wanted, strict=True)
    extra = {"linear_before_reset": cell.reset_after} if cell.kind == "gru" else {}
    return call.emit_all(cell.kind, inputs, stem=stem, activations=names, alphas=alphas, betas=betas, **extra)


def _activation(call: Call, config: dict[str, Any], key: str, default: str) -> tuple[str, float, float]:
    value = config.get(key, default)
    if isinstance(value, dict):
        value = value.get("config") if value.get("class_name") == "function" else value.get("class_name")
    name = "linear" if value is None else str(value)
    if name == "hard_sigmoid":
        return "hard_sigmoid", 1 / 6 if call.context.version >= 3 else 0.2, 0.5
    if name not in _ACTIVATIONS:
        known = ", ".join([*_ACTIVATIONS, "hard_sigmoid"])
        raise call.refuse(f"has the {key} {name[:80]!r}", f"gates have one of {known}")
    return _ACTIVATIONS[name]
