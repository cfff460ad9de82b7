"""One call of a Keras layer while it is translated: its configuration, its weights, and the nodes it becomes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends._common import RELU6_CLAMP, RELU_CLAMP, Builder, make, same_padding
from tinydeploy.frontends.keras_file import Ref, Weights
from tinydeploy.ir import Array, Elem, Type
from tinydeploy.ops._op import NO_CLAMP

MAX_SIZE = 1 << 20
_CLAMPS = {"linear": NO_CLAMP, "relu": RELU_CLAMP, "relu6": RELU6_CLAMP}
_OPERATORS = {"sigmoid": "logistic", "tanh": "tanh", "softmax": "softmax"}


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of the file. ``path`` leads to its weights; its last name is the layer's own."""

    class_name: str
    module: str
    config: dict[str, Any]
    path: tuple[Ref, ...]

    @property
    def name(self) -> str:
        """What the user calls it; layers of nested models are told apart by the models' names."""
        return "/".join(ref.name for ref in self.path)

    @property
    def origin(self) -> str:
        """For messages."""
        return f"layer '{self.name}' ({self.class_name})"


@dataclasses.dataclass(frozen=True)
class Activation:
    """What follows a layer: a clamp that the layer's operator can carry, or an operator of its own."""

    clamp: tuple[float, float] = NO_CLAMP
    operator: str = ""
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)


class Call:
    """What a translation sees of its layer."""

    def __init__(
        self, builder: Builder, layer: Layer, weights: Weights, inputs: tuple[str | float, ...], cache: dict[str, str]
    ) -> None:
        self._builder = builder
        self._weights = weights
        self._cache = cache
        self.layer = layer
        self.config = layer.config
        self.operands = inputs

    def refuse(self, what: str, rule: str = "", hint: str = "") -> UnsupportedError:
        """An error for something the file may ask for but we do not do."""
        return UnsupportedError(Problem(self.layer.origin, what, rule, hint))

    def damaged(self, what: str) -> InputError:
        """An error for something no valid file asks for."""
        return InputError(Problem(self.layer.origin, what))

    def input(self) -> str:
        """The one input."""
        if len(self.operands) != 1:
            raise self.damaged(f"has {len(self.operands)} inputs, not 1")
        name = self.operand(0)
        if not self.type(name).rank:
            raise self.damaged("its input has no batch axis")
        return name

    def operand(self, index: int) -> str:
        """An input as float32: integers (images of bytes) are converted, numbers become constants."""
        item = self.operands[index]
        if not isinstance(item, str):
            return self.constant(f"operand{index}", np.asarray(item, np.float32))
        return item if self.type(item).elem is Elem.F32 else self.emit("cast", (item,), stem="cast", elem=Elem.F32)

    def image(self, rank: int) -> tuple[str, Type]:
        """The one input and its type, which has ``rank`` axes with the channels last."""
        name = self.input()
        kind = self.type(name)
        if kind.rank != rank:
            raise self.damaged(f"its input is {kind}, not of rank {rank}")
        if self.config.get("data_format") == "channels_first":
            hint = "build the model with data_format='channels_last', or export it to ONNX, where layouts are converted"
            raise self.refuse("works on channels-first data", "data_format is channels_last", hint)
        return name, kind

    def type(self, name: str) -> Type:
        """Type of a value."""
        return self._builder.graph.type(name)

    def weights(self, *ranks: int) -> list[Array]:
        """All weights of the layer; there must be as many as ``ranks``, each with that many axes."""
        arrays = self._weights.of(self.layer.path)
        found = [list(array.shape) for array in arrays]
        if [len(shape) for shape in found] != list(ranks) or any(d < 1 for shape in found for d in shape):
            raise self.damaged(f"has weights of shapes {found}; {len(ranks)} of ranks {list(ranks)} are needed")
        return arrays

    def kernel_and_bias(self, rank: int) -> tuple[Array, str | None]:
        """The kernel, and the bias as a value or None."""
        if not self.config.get("use_bias", True):
            return self.weights(rank)[0], None
        kernel, bias = self.weights(rank, 1)
        return kernel, self.constant("bias", bias)

    def constant(self, stem: str, data: Array) -> str:
        """Add a constant once, however often the layer is called."""
        key = f"{self.layer.name}/{stem}"
        if key not in self._cache:
            self._cache[key] = self._builder.constant(key, np.array(data, np.float32, order="C"))
        return self._cache[key]

    def emit(self, operator: str, inputs: tuple[str | None, ...], *, stem: str = "", **attributes: Any) -> str:
        """Add a node, named after the layer (and ``stem``), and return its one result."""
        name = f"{self.layer.name}/{stem}" if stem else self.layer.name
        return self._builder.node(make(operator, **attributes), inputs, stem=name, origin=self.layer.origin)[0]

    def reshape(self, x: str, shape: tuple[int, ...], stem: str = "") -> str:
        """A reshape, if there is anything to do."""
        return x if self.type(x).shape == shape else self.emit("reshape", (x,), stem=stem, shape=shape)

    def number(self, key: str, default: float | None = None, *, config: dict[str, Any] | None = None) -> float:
        """A finite number of the configuration."""
        value = (self.config if config is None else config).get(key)
        if isinstance(value, dict):  # a NumPy scalar as Keras 2 wrote it
            value = value.get("value")
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.damaged(f"{key} is {str(value)[:80]!r}, not a number")
        return float(value)

    def integers(self, key: str, count: int, default: int | None = None) -> tuple[int, ...]:
        """``count`` integers from 1; one number stands for all."""
        value = self.config.get(key)
        value = default if value is None else value
        items = value if isinstance(value, list) else [value] * count
        whole = [item for item in items if type(item) is int and 1 <= item <= MAX_SIZE]
        if len(items) != count or len(whole) != count:
            raise self.damaged(f"{key} is {str(value)[:80]!r}; {count} whole numbers from 1 to {MAX_SIZE} are needed")
        return tuple(whole)

    def axis(self, value: object, rank: int) -> int:
        """An axis that may count from the end."""
        if type(value) is not int or not -rank <= value < rank:
            raise self.damaged(f"axis {str(value)[:80]} does not exist in {rank} dimensions")
        return value % rank

    def padding(
        self, sizes: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        """(before, after) an axis for "valid", "same" or, in one dimension, "causal"."""
        word = self.config.get("padding", "valid")
        if word == "valid":
            return [(0, 0)] * len(sizes)
        if word == "same":
            return [same_padding(*args) for args in zip(sizes, kernel, stride, dilation, strict=True)]
        if word == "causal" and len(sizes) == 1:
            return [((kernel[0] - 1) * dilation[0], 0)]
        raise self.damaged(f"padding is {str(word)[:80]!r}")

    def activation(self, value: object) -> Activation:
        """An activation given by name, or as the configuration of an activation layer."""
        if isinstance(value, dict):
            config = value.get("config")
            if value.get("class_name") == "ReLU" and isinstance(config, dict):
                return self.relu(config)
            value = config if value.get("class_name") == "function" else value.get("class_name")
        name = "linear" if value is None else str(value)
        if name in _CLAMPS:
            return Activation(_CLAMPS[name])
        if name == "softmax":
            return Activation(operator="softmax", attributes={"axis": -1, "beta": 1.0})
        if name in _OPERATORS:
            return Activation(operator=_OPERATORS[name])
        known = ", ".join([*_CLAMPS, *_OPERATORS])
        raise self.refuse(f"has the activation {name[:80]!r}", f"activations are {known}")

    def relu(self, config: dict[str, Any]) -> Activation:
        """ReLU with its three numbers."""
        if self.number("negative_slope", 0.0, config=config) or self.number("threshold", 0.0, config=config):
            raise self.refuse("is a ReLU with a negative slope or a threshold", "both are 0")
        top = math.inf if config.get("max_value") is None else self.number("max_value", config=config)
        return Activation((0.0, top))

    def activate(self, x: str, activation: Activation, stem: str) -> str:
        """Add the activation as nodes of its own."""
        if activation.operator:
            attributes = dict(activation.attributes)
            if "axis" in attributes:
                attributes["axis"] = self.axis(attributes["axis"], self.type(x).rank)
            return self.emit(activation.operator, (x,), stem=stem, **attributes)
        if activation.clamp == NO_CLAMP:
            return x
        return self.emit("clamp", (x,), stem=stem, low=activation.clamp[0], high=activation.clamp[1])
