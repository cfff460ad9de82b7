"""Walks the configuration of a Keras model: Sequential and Functional, of Keras 2 and 3, one inside the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping, Sequence
from typing import Any

from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.frontends import keras_custom, keras_nodes, keras_ops, keras_rules
from tinydeploy.frontends._common import Builder, checked_shape
from tinydeploy.frontends.keras_call import Call, Context, Tensor, flat
from tinydeploy.frontends.keras_file import KerasFile, Ref, slot_stem
from tinydeploy.frontends.keras_nodes import History, LayerCall, Unreadable
from tinydeploy.frontends.keras_rules import INPUT_TYPES, ROUNDED, is_operation, policy_name
from tinydeploy.frontends.keras_settings import Layer
from tinydeploy.ir import Elem, Type

LAYERS, OPERATIONS = keras_ops.tables()
MODELS = ("Functional", "Model", "Sequential")
MAX_LAYERS = 2000
MAX_DEPTH = 8
_SUBCLASSED = "rebuild it with the Functional API, or export it to ONNX or TFLite"
LOST = Tensor()
_IGNORED = ("training", "mask")  # arguments of layers; a mask is told by what made it


class Walker:
    """Turns a model's configuration into nodes. A value is `LOST` where something before it is not supported."""

    def __init__(
        self,
        builder: Builder,
        file: KerasFile,
        shapes: Mapping[str, tuple[int, ...]],
        where: str,
        custom: keras_custom.CustomLayers,
    ) -> None:
        self._builder = builder
        self._shapes = shapes
        self._where = where
        self._custom = custom
        self._context = Context(builder, file.weights, file.version, self._inner)
        self.used_shapes: set[str] = set()

    def damaged(self, what: object) -> InputError:
        """An error for a configuration that makes no sense."""
        return InputError(Problem(self._where, f"the model's configuration is damaged: {what}"))

    def model(self, layer: Layer, inputs: list[Any] | None = None, path: tuple[Ref, ...] = ()) -> list[Any]:
        """Translate a model; ``inputs`` None makes the graph's own. Returns its outputs.

        Raises: InputError if the configuration is damaged; what is not supported is noted in the builder.
        """
        if len(path) > MAX_DEPTH:
            raise self.damaged(f"more than {MAX_DEPTH} models are nested")
        if layer.class_name not in MODELS or "layers" not in layer.config:
            what = f"is a subclassed model ({layer.class_name[:80]})"
            raise UnsupportedError(Problem(self._where, what, hint=_SUBCLASSED))
        layers = self._layers(layer.config, path)
        try:
            if layer.class_name == "Sequential":
                return self._sequential(layer, layers, inputs)
            return self._functional(layer.config, layers, inputs)
        except Unreadable as error:
            raise self.damaged(error) from None

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
            registered = str(entry.get("registered_name") or "")
            # A class that is registered and in no module is the user's own.
            module = str(entry.get("module") or ("" if registered else _module(class_name, entry)))
            stem = slot_stem(class_name)
            if not is_operation(module):
                counts[stem] = counts.get(stem, -1) + 1
            slot = f"{stem}_{counts[stem]}" if counts.get(stem) else stem
            layers.append((Layer(class_name, module, settings, (*path, Ref(str(name), slot)), registered), entry))
        return layers

    def _sequential(
        self, model: Layer, layers: list[tuple[Layer, dict[str, Any]]], inputs: list[Any] | None
    ) -> list[Any]:
        first = layers[0][0]
        if inputs is None:
            shape = _batch_shape(first.config) or model.config.get("build_input_shape")
            if shape is None and first.class_name in MODELS:
                shape = _batch_shape(_dict(_head(first).get("config")))
            name = first.name if first.class_name == "InputLayer" else f"{first.name}_input"
            inputs = [self._input(name, shape, first.config.get("dtype"))]
        if len(inputs) != 1:
            raise self.damaged(f"a Sequential model is called with {len(inputs)} inputs")
        values: list[Any] = inputs
        for layer, _ in layers:
            if layer.class_name != "InputLayer":
                values = self._call(layer, list(values), {})
        return values

    def _functional(
        self, config: dict[str, Any], layers: list[tuple[Layer, dict[str, Any]]], inputs: list[Any] | None
    ) -> list[Any]:
        by_name = {layer.path[-1].name: layer for layer, _ in layers}
        done: dict[tuple[str, int], list[Any]] = {}
        heads = keras_nodes.tensors(config.get("input_layers"))
        if inputs is not None and len(inputs) != len(heads):
            raise self.damaged(f"a model with {len(heads)} inputs is called with {len(inputs)}")
        for index, head in enumerate(heads):
            layer = by_name.get(head.layer)
            if layer is None or layer.class_name != "InputLayer":
                raise self.damaged(f"input layer {head.layer[:80]!r} does not exist")
            if inputs is None:
                done[head.layer, 0] = [self._input(head.layer, _batch_shape(layer.config), layer.config.get("dtype"))]
            else:
                done[head.layer, 0] = [inputs[index]]
        waiting = [call for layer, entry in layers for call in keras_nodes.calls(layer, entry.get("inbound_nodes"))]
        modern = any(isinstance(node, dict) for _, entry in layers for node in _list(entry.get("inbound_nodes")))
        # Keras counts the creation of a nested model as its call 0: Keras 2 everywhere, Keras 3 where it names outputs.
        in_calls, in_outputs = ((), MODELS[:2]) if modern else (MODELS, MODELS)
        waiting = [
            dataclasses.replace(
                call,
                args=keras_nodes.replaced(call.args, lambda item: _from_0(item, by_name, in_calls)),
                kwargs=keras_nodes.replaced(call.kwargs, lambda item: _from_0(item, by_name, in_calls)),
            )
            for call in waiting
        ]
        while waiting:
            left: list[LayerCall] = []
            for call in waiting:
                needed = [*keras_nodes.histories(call.args), *keras_nodes.histories(call.kwargs)]
                if any((item.layer, item.node) not in done for item in needed):
                    left.append(call)
                    continue
                args, kwargs = (
                    keras_nodes.replaced(part, lambda item: self._pick(done, item)) for part in (call.args, call.kwargs)
                )
                done[call.layer.path[-1].name, call.node] = self._call(call.layer, args, kwargs)
            if len(left) == len(waiting):
                raise self.damaged(f"{left[0].layer.origin} waits for something that never comes")
            waiting = left
        ends = keras_nodes.tensors(config.get("output_layers"))
        return [self._pick(done, _from_0(end, by_name, in_outputs)) for end in ends]

    def _pick(self, done: dict[tuple[str, int], list[Any]], item: History) -> Any:
        """The value that a tensor stands for."""
        results = done.get((item.layer, item.node), [])
        if results == [LOST]:
            return LOST
        if not 0 <= item.index < len(results):
            raise self.damaged(f"{item.layer[:80]!r} has no output {item.index} of call {item.node}")
        return results[item.index]

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
        policy = policy_name(dtype)
        elem = INPUT_TYPES.get(policy or "float32")
        if elem is None:
            elem = Elem.F32
            self._builder.graph.warnings.append(f"{where} has type {str(policy)[:40]}; it is read as float32")
        name = self._builder.value(name, Type(checked_shape(dims, where), elem))
        self._builder.graph.inputs.append(name)
        return Tensor(name)

    def _inner(self, layer: Layer, args: list[Any], kwargs: dict[str, Any]) -> list[str]:
        """A layer held by another; an error that is noted already is raised without a text."""
        results = self._call(layer, args, kwargs)
        if LOST in results:
            raise UnsupportedError([])
        return results

    def _call(self, layer: Layer, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Translate one call; [LOST] if it is not possible, and the builder knows why."""
        try:
            custom = self._own_function(layer)
            refusal = None if custom else keras_rules.refusal(layer, self._known(layer))
            if refusal is not None:
                raise UnsupportedError(refusal)
            if layer.class_name in MODELS and not custom:
                return self.model(layer, flat(args), layer.path)
            if any(item is LOST for item in flat([args, kwargs])):
                return [LOST]
            self._warn_rounded(layer)
            if not is_operation(layer.module):
                kwargs = {key: value for key, value in kwargs.items() if key not in _IGNORED or isinstance(value, str)}
            call = Call(self._context, layer, args, kwargs)
            made = keras_custom.run(call, custom) if custom else self._translated(call)
            names: Sequence[str] = [made] if isinstance(made, str) else made
            return [Tensor(name) for name in names]
        except TinydeployError as error:
            self._builder.note(error, layer.origin)
            return [LOST]

    def _translated(self, call: Call) -> str | Sequence[str]:
        if is_operation(call.layer.module):
            return OPERATIONS[call.layer.class_name](call)
        entry = LAYERS[call.layer.class_name]
        masked = any(item in self._context.masked for item in flat([call.args, call.kwargs]) if isinstance(item, str))
        if masked and entry.mask == "uses":
            hint = "remove the Masking layer or mask_zero: on a microcontroller every run has all its steps"
            raise call.refuse("would leave out what a mask covers", "no mask reaches a layer that uses it", hint)
        made = entry.translate(call)
        if masked and entry.mask == "passes":
            self._context.masked.update([made] if isinstance(made, str) else made)
        return made

    def _known(self, layer: Layer) -> Container[str]:
        return OPERATIONS if is_operation(layer.module) else {*LAYERS, *MODELS}

    def _own_function(self, layer: Layer) -> Any:
        """The user's function for a layer, by its class, its registered name or its own name."""
        keys = (layer.registered, layer.class_name, layer.class_name.split(">")[-1], layer.path[-1].name)
        return next((self._custom[key] for key in keys if key in self._custom), None)

    def _warn_rounded(self, layer: Layer) -> None:
        policy = policy_name(layer.config.get("dtype"))
        text = f"layers with the type policy {policy} compute in float32"
        if policy in ROUNDED and text not in self._builder.graph.warnings:
            self._builder.graph.warnings.append(text)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _from_0(item: History, layers: Mapping[str, Layer], counted: tuple[str, ...]) -> History:
    """A tensor with its layer's calls counted from 0; those of nested models of the classes ``counted`` begin at 1."""
    layer = layers.get(item.layer)
    if layer is None or layer.class_name not in counted:
        return item
    return dataclasses.replace(item, node=item.node - int(_head(layer).get("class_name") == "InputLayer"))


def _head(model: Layer) -> dict[str, Any]:
    """The first layer of a nested model, as the file has it."""
    return _dict(next(iter(_list(model.config.get("layers"))), None))


def _batch_shape(config: dict[str, Any]) -> object:
    return config.get("batch_shape") or config.get("batch_input_shape")


def _module(class_name: str, entry: dict[str, Any]) -> str:
    """What an .h5 file of Keras 3 leaves out: operations are called with Keras 3's arguments and cannot be trained."""
    modern = any(isinstance(node, dict) for node in _list(entry.get("inbound_nodes")))
    operation = modern and class_name in OPERATIONS and "trainable" not in entry["config"]
    return "keras.ops" if operation else "keras.layers"
