"""Walks the configuration of a Keras model: Sequential and Functional, of Keras 2 and 3, one inside the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.frontends import keras_layers, keras_simple_layers
from tinydeploy.frontends._common import Builder, checked_shape
from tinydeploy.frontends.keras_call import Call, Layer
from tinydeploy.frontends.keras_file import Ref, Weights, is_own_module, slot_stem
from tinydeploy.ir import Elem, Type

LAYERS: dict[str, Callable[[Call], str]] = {**keras_layers.LAYERS, **keras_simple_layers.LAYERS}
MODELS = ("Functional", "Model", "Sequential")
MAX_LAYERS = 2000
MAX_DEPTH = 8
MAX_NUMBER = 1e30
_INPUT_TYPES = {"float32": Elem.F32, "int8": Elem.S8, "uint8": Elem.U8, "int16": Elem.S16, "int32": Elem.S32}
_EXECUTES = {"Lambda": "Python byte code", "TFSMLayer": "a TensorFlow program"}


# (layer, number of its call, number of its output), or a number between layers as in `x * 2`
Operand: TypeAlias = "tuple[str, int, int] | float"


@dataclasses.dataclass(frozen=True)
class _LayerCall:
    layer: Layer
    node: int
    operands: list[Operand]


class Walker:
    """Turns a model's configuration into nodes. A value is None where something before it is not supported."""

    def __init__(self, builder: Builder, weights: Weights, shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
        self._builder = builder
        self._weights = weights
        self._shapes = shapes
        self._where = where
        self._cache: dict[str, str] = {}
        self.used_shapes: set[str] = set()

    def damaged(self, what: str) -> InputError:
        """An error for a configuration that makes no sense."""
        return InputError(Problem(self._where, f"the model's configuration is damaged: {what}"))

    def model(
        self, layer: Layer, inputs: list[str | None] | None = None, path: tuple[Ref, ...] = ()
    ) -> list[str | None]:
        """Translate a model; ``inputs`` None makes the graph's own. Returns its outputs.

        Raises: InputError if the configuration is damaged; what is not supported is noted in the builder.
        """
        if len(path) > MAX_DEPTH:
            raise self.damaged(f"more than {MAX_DEPTH} models are nested")
        if layer.class_name not in MODELS or "layers" not in layer.config:
            hint = "rebuild it with the Functional API, or export it to ONNX or TFLite"
            raise UnsupportedError(Problem(self._where, f"is a subclassed model ({layer.class_name[:80]})", hint=hint))
        layers = self._layers(layer.config, path)
        if layer.class_name == "Sequential":
            return self._sequential(layer, layers, inputs)
        return self._functional(layer.config, layers, inputs)

    def _layers(self, config: dict[str, Any], path: tuple[Ref, ...]) -> list[tuple[Layer, dict[str, Any]]]:
        raw = config.get("layers")
        if not isinstance(raw, list) or not raw or len(raw) > MAX_LAYERS:
            raise self.damaged(f"it lists no layers, or more than {MAX_LAYERS}")
        counts: dict[str, int] = {}
        layers: list[tuple[Layer, dict[str, Any]]] = []
        for entry in raw:
            settings = entry.get("config") if isinstance(entry, dict) else None
            class_name = entry.get("class_name") if isinstance(entry, dict) else None
            if not isinstance(settings, dict) or not isinstance(class_name, str):
                raise self.damaged("a layer has no class_name or no config")
            name = entry.get("name") or settings.get("name") or f"layer_{len(layers)}"
            module = str(entry.get("module") or "keras.layers")
            stem = slot_stem(class_name)
            if not _is_operation(module):
                counts[stem] = counts.get(stem, -1) + 1
            slot = f"{stem}_{counts[stem]}" if counts.get(stem) else stem
            layers.append((Layer(class_name, module, settings, (*path, Ref(str(name), slot))), entry))
        return layers

    def _sequential(
        self, model: Layer, layers: list[tuple[Layer, dict[str, Any]]], inputs: list[str | None] | None
    ) -> list[str | None]:
        first = layers[0][0]
        if inputs is None:
            shape = _batch_shape(first.config) or model.config.get("build_input_shape")
            if shape is None and first.class_name in MODELS:
                shape = _batch_shape(_dict(_head(first).get("config")))
            name = first.name if first.class_name == "InputLayer" else f"{first.name}_input"
            inputs = [self._input(name, shape, first.config.get("dtype"))]
        if len(inputs) != 1:
            raise self.damaged(f"a Sequential model is called with {len(inputs)} inputs")
        values: list[str | None] = inputs
        for layer, _ in layers:
            if layer.class_name != "InputLayer":
                values = self._call(layer, list(values))
        return values

    def _functional(
        self, config: dict[str, Any], layers: list[tuple[Layer, dict[str, Any]]], inputs: list[str | None] | None
    ) -> list[str | None]:
        by_name = {layer.path[-1].name: layer for layer, _ in layers}
        done: dict[tuple[str, int], list[str | None]] = {}
        heads = self._tensors(config.get("input_layers"))
        if inputs is not None and len(inputs) != len(heads):
            raise self.damaged(f"a model with {len(heads)} inputs is called with {len(inputs)}")
        for index, (name, _, _) in enumerate(heads):
            layer = by_name.get(name)
            if layer is None or layer.class_name != "InputLayer":
                raise self.damaged(f"input layer {name[:80]!r} does not exist")
            if inputs is None:
                done[name, 0] = [self._input(name, _batch_shape(layer.config), layer.config.get("dtype"))]
            else:
                done[name, 0] = [inputs[index]]
        waiting = [call for layer, entry in layers for call in self._calls(layer, entry)]
        modern = any(isinstance(node, dict) for _, entry in layers for node in _list(entry.get("inbound_nodes")))
        # Keras counts the creation of a nested model as its call 0: Keras 2 everywhere, Keras 3 where it names outputs.
        in_calls, in_outputs = ((), MODELS[:2]) if modern else (MODELS, MODELS)
        waiting = [
            dataclasses.replace(call, operands=[_from_0(item, by_name, in_calls) for item in call.operands])
            for call in waiting
        ]
        while waiting:
            left = []
            for call in waiting:
                if all(not isinstance(item, tuple) or item[:2] in done for item in call.operands):
                    operands = [self._pick(done, item) for item in call.operands]
                    done[call.layer.path[-1].name, call.node] = self._call(call.layer, operands)
                else:
                    left.append(call)
            if len(left) == len(waiting):
                raise self.damaged(f"{left[0].layer.origin} waits for something that never comes")
            waiting = left
        ends = self._tensors(config.get("output_layers"))
        return [self._pick(done, _from_0(tensor, by_name, in_outputs)) for tensor in ends]

    def _pick(self, done: dict[tuple[str, int], list[str | None]], item: Operand) -> Any:
        """A number, or the value that a tensor's name stands for."""
        if not isinstance(item, tuple):
            return item
        results = done.get(item[:2], [])
        if not 0 <= item[2] < len(results):
            raise self.damaged(f"{item[0][:80]!r} has no output {item[2]} of call {item[1]}")
        return results[item[2]]

    def _tensors(self, value: object) -> list[tuple[str, int, int]]:
        """``["a", 0, 0]``, a list of such, or a dict of such."""
        if isinstance(value, dict):
            value = list(value.values())
        if not isinstance(value, list) or not value:
            raise self.damaged("it names no inputs or no outputs")
        entries = [value] if isinstance(value[0], str) else value
        return [self._tensor(entry) for entry in entries]

    def _tensor(self, entry: object) -> tuple[str, int, int]:
        if isinstance(entry, list) and len(entry) >= 3:
            name, node, index = entry[:3]
            if isinstance(name, str) and type(node) is int and type(index) is int:
                return name, node, index
        raise self.damaged(f"{str(entry)[:80]} names no tensor")

    def _calls(self, layer: Layer, entry: dict[str, Any]) -> list[_LayerCall]:
        nodes = entry.get("inbound_nodes")
        if not isinstance(nodes, list) or len(nodes) > MAX_LAYERS:
            raise self.damaged(f"{layer.origin} does not say where its inputs come from")
        return [_LayerCall(layer, i, self._operands(layer, node)) for i, node in enumerate(nodes)]

    def _operands(self, layer: Layer, node: object) -> list[Operand]:
        operands: list[Operand] = []
        kwargs: dict[str, Any] = {}
        if isinstance(node, dict):  # Keras 3
            kwargs = _dict(node.get("kwargs"))
            args = [arg if isinstance(arg, list) else [arg] for arg in _list(node.get("args"))]
            for item in (item for arg in args for item in arg):
                history = _dict(_dict(item).get("config")).get("keras_history")
                if history is not None:
                    operands.append(self._tensor(history))
                elif type(item) in (int, float) and abs(item) < MAX_NUMBER:
                    operands.append(float(item))
                else:
                    raise self.damaged(f"{layer.origin} is called with {str(item)[:80]}")
        elif isinstance(node, list):  # Keras 2
            for item in [node] if node and isinstance(node[0], str) else node:
                operands.append(self._tensor(item))
                kwargs.update(_dict(item[3] if len(item) > 3 else None))
        else:
            raise self.damaged(f"{layer.origin} is called with {str(node)[:80]}")
        extra = sorted(key for key, value in kwargs.items() if key not in ("training", "mask") and value is not None)
        if extra and layer.class_name in LAYERS and not _is_operation(layer.module):
            self._builder.note(
                UnsupportedError(
                    Problem(layer.origin, f"is called with {', '.join(extra)[:80]}", "layers take tensors only")
                )
            )
        return operands

    def _input(self, name: str, shape: object, dtype: object) -> str:
        if isinstance(shape, list) and len(shape) == 1 and isinstance(shape[0], list):
            shape = shape[0]
        if (
            not isinstance(shape, list)
            or not 1 <= len(shape) <= 8
            or any(d is not None and type(d) is not int for d in shape)
        ):
            raise self.damaged(f"input {name[:80]!r} has no shape")
        where = f"input '{name}'"
        if name in self._shapes:
            self.used_shapes.add(name)
            dims = list(self._shapes[name])
            if len(dims) != len(shape) or any(d not in (None, g) for d, g in zip(shape[1:], dims[1:], strict=True)):
                raise InputError(Problem(f"--input-shape {name}", f"{dims} does not fit the model's {shape}"))
        elif None in shape[1:]:
            text = ",".join(str(d or 1) for d in shape)
            hint = f"--input-shape '{name}={text}' with the sizes you want"
            raise InputError(Problem(where, f"has the open shape {shape}", "only the batch may be open", hint))
        else:
            dims = [d or 1 for d in shape]
        elem = _INPUT_TYPES.get(str(dtype or "float32"))
        if elem is None:
            elem = Elem.F32
            self._builder.graph.warnings.append(f"{where} has type {str(dtype)[:40]}; it is read as float32")
        name = self._builder.value(name, Type(checked_shape(dims, where), elem))
        self._builder.graph.inputs.append(name)
        return name

    def _call(self, layer: Layer, operands: list[Any]) -> list[str | None]:
        try:
            refusal = _refusal(layer)
            if refusal is not None:
                raise UnsupportedError(refusal)
            if layer.class_name in MODELS:
                return self.model(layer, operands, layer.path)
            if any(operand is None for operand in operands):
                return [None]
            table = keras_simple_layers.OPERATIONS if _is_operation(layer.module) else LAYERS
            return [table[layer.class_name](Call(self._builder, layer, self._weights, tuple(operands), self._cache))]
        except TinydeployError as error:
            self._builder.note(error, layer.origin)
            return [None]


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _from_0(item: Operand, layers: Mapping[str, Layer], counted: tuple[str, ...]) -> Operand:
    """A tensor with its layer's calls counted from 0; those of nested models of the classes ``counted`` begin at 1."""
    layer = layers.get(item[0]) if isinstance(item, tuple) else None
    if not isinstance(item, tuple) or layer is None or layer.class_name not in counted:
        return item
    return (item[0], item[1] - int(_head(layer).get("class_name") == "InputLayer"), item[2])


def _head(model: Layer) -> dict[str, Any]:
    """The first layer of a nested model, as the file has it."""
    return _dict(next(iter(_list(model.config.get("layers"))), None))


def _batch_shape(config: dict[str, Any]) -> object:
    return config.get("batch_shape") or config.get("batch_input_shape")


def _is_operation(module: str) -> bool:
    return ".ops." in f"{module}."


def _refusal(layer: Layer) -> Problem | None:
    """Why a layer cannot be translated, by its name alone; None if it can."""
    if layer.class_name in _EXECUTES:
        what = f"holds {_EXECUTES[layer.class_name]}, which is never run"
        return Problem(layer.origin, what, hint="replace it by built-in layers, or export the model to ONNX or TFLite")
    if not is_own_module(layer.module) or ">" in layer.class_name:
        hint = "replace it by built-in layers, or export the model to ONNX or TFLite"
        return Problem(layer.origin, f"is a custom object of module {layer.module[:80]!r}", hint=hint)
    policy = layer.config.get("dtype")
    if isinstance(policy, dict):
        policy = _dict(policy.get("config")).get("name") or policy.get("class_name")
    if policy is not None and str(policy) not in ("float32", "mixed_float16", "mixed_bfloat16", *_INPUT_TYPES):
        return Problem(layer.origin, f"has the type policy {str(policy)[:80]!r}", "layers compute in float32")
    known = keras_simple_layers.OPERATIONS if _is_operation(layer.module) else LAYERS
    if layer.class_name not in known and layer.class_name not in MODELS:
        return Problem(layer.origin, "is not supported", hint="`tinydeploy ops` lists the layers; replace it by those")
    return None
