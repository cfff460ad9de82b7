"""One call of a Keras layer while it is translated: its configuration, its weights, and the nodes it becomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from tinydeploy.frontends._common import Builder, make
from tinydeploy.frontends.keras_file import Ref, Weights
from tinydeploy.frontends.keras_settings import Layer, Settings
from tinydeploy.ir import Array, Elem, State, Type

MAX_HELD = 16

Results: TypeAlias = "str | Sequence[str]"
Operation: TypeAlias = "Callable[[Call], Results]"
Mask = Literal["drops", "passes", "uses"]


class Tensor(str):
    """The name of a value, among the arguments of a call."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True)
class Translation:
    """How a layer is translated, and what it does with a mask of the data before it."""

    translate: Operation
    mask: Mask


LAYERS: dict[str, Translation] = {}
OPERATIONS: dict[str, Operation] = {}


def layer(*names: str, mask: Mask = "drops") -> Callable[[Operation], Operation]:
    """Register a translation of the layers ``names``."""

    def register(translate: Operation) -> Operation:
        LAYERS.update(dict.fromkeys(names, Translation(translate, mask)))
        return translate

    return register


def operation(*names: str) -> Callable[[Operation], Operation]:
    """Register a translation of Keras 3 operations."""

    def register(translate: Operation) -> Operation:
        OPERATIONS.update(dict.fromkeys(names, translate))
        return translate

    return register


def flat(items: Any) -> list[Any]:
    """The leaves of nested lists and dicts."""
    if isinstance(items, dict):
        items = list(items.values())
    return [leaf for item in items for leaf in flat(item)] if isinstance(items, list) else [items]


@dataclasses.dataclass
class Context:
    """What the calls of one file share. ``inner`` translates a layer that another one holds; ``masked``: values with
    a mask of Keras; ``version``: the main version of the Keras that wrote the file.
    """

    builder: Builder
    weights: Weights
    version: int
    inner: Callable[[Layer, list[Any], dict[str, Any]], list[str]]
    cache: dict[str, str] = dataclasses.field(default_factory=dict)
    masked: set[str] = dataclasses.field(default_factory=set)


class Call(Settings):
    """What a translation sees of its layer. ``args``, ``kwargs``: as in Python, with a `Tensor` for each tensor."""

    def __init__(self, context: Context, layer: Layer, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.context = context
        super().__init__(layer)
        self.args = list(args)
        self.kwargs = {key: value for key, value in kwargs.items() if value is not None}
        self.operands = flat(self.args)

    # Inputs

    def input(self) -> str:
        """The one input, as float32."""
        if len(self.operands) != 1:
            raise self.damaged(f"has {len(self.operands)} inputs, not 1")
        name = self.operand(0)
        if not self.type(name).rank:
            raise self.damaged("its input has no batch axis")
        return name

    def first(self) -> Any:
        """The first argument."""
        if not self.args:
            raise self.damaged("has no input")
        return self.args[0]

    def operand(self, index: int) -> str:
        """An input as float32: integers (images of bytes) are converted, numbers become constants."""
        if index >= len(self.operands):
            raise self.damaged(f"has {len(self.operands)} inputs, {index + 1} are needed")
        return self.real(self.operands[index], f"operand{index}")

    def real(self, item: Any, stem: str = "operand") -> str:
        """An argument as a float32 value."""
        name = self.tensor(item, stem)
        return name if self.type(name).elem is Elem.F32 else self.emit("cast", (name,), stem="cast", elem=Elem.F32)

    def tensor(self, item: Any, stem: str = "operand", elem: Elem | None = None) -> str:
        """An argument as a value of its own type; ``elem``: that of a number, which has none."""
        if isinstance(item, Tensor):
            return item
        if isinstance(item, np.ndarray):
            array: Array = item.astype(np.float32) if item.dtype.kind == "f" else item
        elif isinstance(item, (bool, int, float)):
            array = np.asarray(item, np.float32 if elem is None else elem.dtype)
        else:
            raise self.damaged(f"is called with {str(item)[:80]!r}, not a tensor")
        return self.context.builder.constant(f"{self.layer.name}/{stem}", array)

    def type(self, name: str) -> Type:
        """Type of a value."""
        return self.context.builder.graph.type(name)

    def data(self, name: str) -> Array | None:
        """Content of a constant, else None."""
        return self.context.builder.graph.constant(name)

    # Weights

    def weights(self, *ranks: int) -> list[Array]:
        """All weights of the layer; there must be as many as ``ranks``, each with that many axes."""
        return self._checked(self.context.weights.of(self.layer.path), ranks)

    def parts(self, ranks: Mapping[str, tuple[int, ...]]) -> list[list[Array]]:
        """Weights of the layers inside this one, by attribute in their order of creation: the ranks of each."""
        counts = {attribute: len(each) for attribute, each in ranks.items()}
        found = self.context.weights.parts(self.layer.path, counts)
        return [self._checked(arrays, each) for arrays, each in zip(found, ranks.values(), strict=True)]

    def _checked(self, arrays: list[Array], ranks: tuple[int, ...]) -> list[Array]:
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
        """Add a constant once, however often the layer is called; floats become float32."""
        key = f"{self.layer.name}/{stem}"
        if key not in self.context.cache:
            kind = data.dtype if data.dtype.kind in "iub" else np.float32
            self.context.cache[key] = self.context.builder.constant(key, np.array(data, kind, order="C"))
        return self.context.cache[key]

    # Nodes

    def emit(self, operator: str, inputs: Sequence[str | None], *, stem: str = "", **attributes: Any) -> str:
        """Add a node, named after the layer (and ``stem``), and return its first result."""
        return self.emit_all(operator, inputs, stem=stem, **attributes)[0]

    def emit_all(self, operator: str, inputs: Sequence[str | None], *, stem: str = "", **attributes: Any) -> list[str]:
        """As `emit`, with all results."""
        name = f"{self.layer.name}/{stem}" if stem else self.layer.name
        made = self.context.builder.node(make(operator, **attributes), inputs, stem=name, origin=self.layer.origin)
        return list(made)

    def reshape(self, x: str, shape: Sequence[int], stem: str = "") -> str:
        """A reshape, if there is anything to do."""
        shape = tuple(shape)
        return x if self.type(x).shape == shape else self.emit("reshape", (x,), stem=stem, shape=shape)

    def transpose(self, x: str, perm: Sequence[int], stem: str = "") -> str:
        """A transpose, if there is anything to do."""
        perm = tuple(perm)
        return x if perm == tuple(range(len(perm))) else self.emit("transpose", (x,), stem=stem, perm=perm)

    def slice(self, x: str, axis: int, begin: int, end: int, step: int = 1, stem: str = "") -> str:
        """Elements ``range(begin, end, step)`` of one axis."""
        shape = self.type(x).shape
        bounds = [(0, size, 1) for size in shape]
        if bounds[axis] == (begin, end, step):
            return x
        bounds[axis] = (begin, end, step)
        first, last, steps = zip(*bounds, strict=True)
        return self.emit("strided_slice", (x,), stem=stem, begin=first, end=last, stride=steps)

    def state(self, stem: str, shape: tuple[int, ...]) -> str:
        """A float value kept between runs, 0 at first; `keep` says what is written to it."""
        name = self.context.builder.value(f"{self.layer.name}/{stem}", Type(shape, Elem.F32))
        return name

    def keep(self, read: str, write: str) -> None:
        """At the end of a run ``write`` becomes the content of the state ``read``."""
        initial = np.zeros(self.type(read).shape, np.float32)
        self.context.builder.graph.states.append(State(read, read, write, initial))

    def inner(self, entry: object, attribute: str, args: list[Any], kwargs: dict[str, Any] | None = None) -> list[str]:
        """Translate a layer that this one holds in ``attribute``, from its configuration; returns its results."""
        held = self.held(entry, attribute)
        return self.context.inner(held, args, kwargs or {})

    def held(self, entry: object, attribute: str) -> Layer:
        """The layer that this one holds in ``attribute``."""
        if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
            raise self.damaged(f"holds no layer in {attribute}")
        if len(self.layer.path) > MAX_HELD:
            raise self.damaged("is held by layers that hold layers, too deeply")
        config = entry["config"]
        name = str(config.get("name") or attribute)
        path = (*self.layer.path, Ref(name, attribute, attribute=True))
        registered = str(entry.get("registered_name") or "")
        module = str(entry.get("module") or ("" if registered else "keras.layers"))
        return Layer(str(entry.get("class_name")), module, config, path, registered)
