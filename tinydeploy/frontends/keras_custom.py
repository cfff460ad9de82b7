"""What a user's own function sees of a layer that is not Keras': how a custom layer is mapped to our operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.frontends.keras_call import Call
from tinydeploy.frontends.keras_file import Ref
from tinydeploy.ir import Array


class CustomLayer:
    """A call of a custom layer, given to the function that ``load(..., custom_layers={"Name": function})`` names.

    ``name``: the layer's; ``config``: what its ``get_config`` wrote (JSON, nothing of it is executed); ``inputs``:
    the values it is called with. The function adds operators and returns the value, or the list of values, that the
    layer gives::

        def scale(layer):
            return layer.add("mul", layer.inputs[0], layer.constant(layer.weights()[0]))
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.name = call.layer.name
        self.config: dict[str, Any] = dict(call.config)
        self.inputs = [call.tensor(item) for item in call.operands]

    def shape(self, value: str) -> tuple[int, ...]:
        """Shape of a value; its first axis is the batch, of 1."""
        return self._call.type(value).shape

    def weights(self, inside: str = "") -> list[Array]:
        """The layer's float32 weights in the order it made them; ``inside``: those of a layer it holds ("a/b")."""
        path = self._call.layer.path
        if inside:
            path = (*path, *(Ref("", step, attribute=True) for step in inside.split("/")))
        return self._call.context.weights.of(path)

    def constant(self, array: Any) -> str:
        """A constant, as a value; real numbers become float32."""
        data = np.asarray(array)
        return self._call.tensor(data.astype(np.float32) if data.dtype.kind == "f" else data, "constant")

    def add(self, operator: str, *inputs: str | None, **attributes: Any) -> str:
        """Add an operator (`tinydeploy ops` lists them with their rules) and return its first result."""
        return self._call.emit(operator, inputs, **attributes)

    def add_all(self, operator: str, *inputs: str | None, **attributes: Any) -> list[str]:
        """As `add`, with all results."""
        return self._call.emit_all(operator, inputs, **attributes)


CustomLayers: TypeAlias = "Mapping[str, Callable[[CustomLayer], str | Sequence[str]]]"


def run(call: Call, function: Callable[[CustomLayer], str | Sequence[str]]) -> list[str]:
    """The results of a user's function.

    Raises: InputError if it returns anything but values.
    """
    made = function(CustomLayer(call))
    names = [made] if isinstance(made, str) else list(made)
    values = call.context.builder.graph.values
    if not names or any(name not in values for name in names):
        raise call.damaged(f"the function for it returned {str(made)[:80]!r}, which is no value")
    return names
