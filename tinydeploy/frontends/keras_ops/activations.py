"""Activations: as functions by name (`activate`), as layers, and as operations of Keras 3; all share one table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.frontends._common import RELU6_CLAMP, RELU_CLAMP
from tinydeploy.frontends.keras_call import LAYERS, Call, Tensor
from tinydeploy.ops._op import NO_CLAMP

Settings: TypeAlias = "dict[str, Any]"
Function: TypeAlias = "Callable[[Call, str, str, Settings], str]"
FUNCTIONS: dict[str, Function] = {}
CLAMPS = {"linear": NO_CLAMP, "relu": RELU_CLAMP, "relu6": RELU6_CLAMP, "hard_tanh": (-1.0, 1.0)}
# Keras 3's own numbers of the scaled exponential linear unit. Source: keras.activations.selu.
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}


@dataclasses.dataclass(frozen=True)
class Activation:
    """What follows a layer: a clamp that the layer's operator can carry, or a function of its own."""

    clamp: tuple[float, float] = NO_CLAMP
    function: Callable[[str, str], str] | None = None


def activation(call: Call, value: object) -> Activation:
    """An activation given by name, or as the configuration of a function or an activation layer."""
    if isinstance(value, dict) and isinstance(value.get("config"), dict):
        held = call.held(value, "activation")
        if held.class_name == "ReLU" and not _is_bent(call, held.config):
            return Activation(clamp=(0.0, _top(call, held.config)))
        if held.class_name not in LAYERS:
            raise call.refuse(f"has the activation {held.class_name[:80]!r}", _known())
        return Activation(function=lambda x, _: call.inner(value, "activation", [Tensor(x)])[0])
    if isinstance(value, dict):
        value = value.get("config") if value.get("class_name") == "function" else value.get("class_name")
    name = "linear" if value is None else str(value)
    if name in CLAMPS:
        return Activation(CLAMPS[name])
    if name not in FUNCTIONS:
        raise call.refuse(f"has the activation {name[:80]!r}", _known())
    return Activation(function=lambda x, stem: FUNCTIONS[name](call, x, stem, {}))


def activate(call: Call, x: str, value: object, stem: str = "activation") -> str:
    """Add an activation as nodes of its own."""
    wanted = activation(call, value)
    return wanted.function(x, stem) if wanted.function else clamp(call, x, stem, wanted.clamp)


def finish(call: Call, x: str, wanted: Activation) -> str:
    """Add what the layer's own operator could not carry."""
    return wanted.function(x, "activation") if wanted.function else x


def _known() -> str:
    return f"activations are {', '.join(sorted({*CLAMPS, *FUNCTIONS}))}"


def clamp(call: Call, x: str, stem: str, bounds: tuple[float, float]) -> str:
    """A clamp, if there is anything to do."""
    return x if bounds == NO_CLAMP else call.emit("clamp", (x,), stem=stem, low=bounds[0], high=bounds[1])


def _function(*names: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return register


def _plain(operator: str, **attributes: Any) -> Function:
    return lambda call, x, stem, settings: call.emit(operator, (x,), stem=stem, **attributes)


for _name, _operator in {
    "sigmoid": "logistic",
    "tanh": "tanh",
    "exponential": "exp",
    "softplus": "softplus",
    "softsign": "softsign",
    "mish": "mish",
    "hard_swish": "hard_swish",
    "hard_silu": "hard_swish",
}.items():
    FUNCTIONS[_name] = _plain(_operator)
FUNCTIONS["silu"] = FUNCTIONS["swish"] = _plain("swish", alpha=1.0)
FUNCTIONS["selu"] = _plain("selu", **_SELU)
FUNCTIONS["hard_shrink"] = lambda call, x, stem, s: call.emit(
    "shrink", (x,), stem=stem, lambd=call.number("threshold", 0.5, config=s), bias=0.0
)


@_function("soft_shrink")
def _soft_shrink(call: Call, x: str, stem: str, settings: Settings) -> str:
    edge = call.number("threshold", 0.5, config=settings)
    return call.emit("shrink", (x,), stem=stem, lambd=edge, bias=edge)


@_function("elu")
def _elu(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("elu", (x,), stem=stem, alpha=call.number("alpha", 1.0, config=settings))


@_function("celu")
def _celu(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("celu", (x,), stem=stem, alpha=call.number("alpha", 1.0, config=settings))


@_function("gelu")
def _gelu(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("gelu", (x,), stem=stem, approximate=bool(settings.get("approximate", False)))


@_function("leaky_relu")
def _leaky(call: Call, x: str, stem: str, settings: Settings) -> str:
    alpha = call.number("negative_slope", call.number("alpha", 0.2, config=settings), config=settings)
    return call.emit("leaky_relu", (x,), stem=stem, alpha=alpha)


@_function("hard_sigmoid")
def _hard_sigmoid(call: Call, x: str, stem: str, settings: Settings) -> str:
    """Keras 3 made it less steep: x / 6 + 1 / 2; before it was x / 5 + 1 / 2."""
    alpha = 1 / 6 if call.context.version >= 3 else 0.2
    return call.emit("hard_sigmoid", (x,), stem=stem, alpha=alpha, beta=0.5)


@_function("softmax")
def _softmax(call: Call, x: str, stem: str, settings: Settings) -> str:
    """Several axes are one: they are brought to the end and made flat."""
    kind = call.type(x)
    axes = call.axes(settings.get("axis", -1), kind.rank)
    if len(axes) == 1:
        return call.emit("softmax", (x,), stem=stem, axis=axes[0], beta=1.0)
    kept = [axis for axis in range(kind.rank) if axis not in axes]
    perm = (*kept, *axes)
    moved = call.transpose(x, perm, f"{stem}/last")
    shape = call.type(moved).shape
    flat = call.reshape(moved, (*shape[: len(kept)], math.prod(shape[len(kept) :])), f"{stem}/flat")
    y = call.emit("softmax", (flat,), stem=stem, axis=len(kept), beta=1.0)
    return call.transpose(call.reshape(y, shape, f"{stem}/unflat"), np.argsort(perm).tolist(), f"{stem}/back")


@_function("log_softmax")
def _log_softmax(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("log_softmax", (x,), stem=stem, axis=call.axis(settings.get("axis", -1), call.type(x).rank))


@_function("log_sigmoid")
def _log_sigmoid(call: Call, x: str, stem: str, settings: Settings) -> str:
    """-softplus(-x)."""
    y = call.emit("softplus", (call.emit("neg", (x,), stem=f"{stem}/neg"),), stem=f"{stem}/softplus")
    return call.emit("neg", (y,), stem=stem)


@_function("tanh_shrink")
def _tanh_shrink(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("sub", (x, call.emit("tanh", (x,), stem=f"{stem}/tanh")), stem=stem)


@_function("glu")
def _glu(call: Call, x: str, stem: str, settings: Settings) -> str:
    kind = call.type(x)
    axis = call.axis(settings.get("axis", -1), kind.rank)
    size = kind.shape[axis]
    if size % 2:
        raise call.damaged(f"halves an axis of {size}")
    gate = call.emit("logistic", (call.slice(x, axis, size // 2, size, stem=f"{stem}/gate"),), stem=f"{stem}/logistic")
    return call.emit("mul", (call.slice(x, axis, 0, size // 2, stem=f"{stem}/value"), gate), stem=stem)


@_function("sparse_plus")
def _sparse_plus(call: Call, x: str, stem: str, settings: Settings) -> str:
    """(x + 1)^2 / 4 within -1..1, continued by 0 and x: the square of half the clamped sum, and what is above 1."""
    inner = call.emit("clamp", (x,), stem=f"{stem}/inner", low=-1.0, high=1.0)
    half = call.emit("mul", (inner, call.constant("half", np.asarray(0.5))), stem=f"{stem}/half")
    root = call.emit("add", (half, call.constant("half", np.asarray(0.5))), stem=f"{stem}/root")
    curve = call.emit("mul", (root, root), stem=f"{stem}/curve")
    above = call.emit("sub", (x, call.constant("one", np.asarray(1.0))), stem=f"{stem}/above")
    above = call.emit("clamp", (above,), stem=f"{stem}/line", low=0.0, high=math.inf)
    return call.emit("add", (curve, above), stem=stem)


@_function("sparse_sigmoid")
def _sparse_sigmoid(call: Call, x: str, stem: str, settings: Settings) -> str:
    return call.emit("hard_sigmoid", (x,), stem=stem, alpha=0.5, beta=0.5)


@_function("squareplus")
def _squareplus(call: Call, x: str, stem: str, settings: Settings) -> str:
    """(x + sqrt(x^2 + b)) / 2."""
    b = call.constant("b", np.asarray(call.number("b", 4.0, config=settings)))
    root = call.emit("add", (call.emit("mul", (x, x), stem=f"{stem}/square"), b), stem=f"{stem}/sum")
    root = call.emit("sqrt", (root,), stem=f"{stem}/root")
    y = call.emit("add", (x, root), stem=f"{stem}/twice")
    return call.emit("mul", (y, call.constant("half", np.asarray(0.5))), stem=stem)


@_function("threshold")
def _threshold(call: Call, x: str, stem: str, settings: Settings) -> str:
    edge = call.number("threshold", call.number("threshold_value", 0.0, config=settings), config=settings)
    other = call.number("value", call.number("default_value", 0.0, config=settings), config=settings)
    above = call.emit("greater", (x, call.constant("threshold", np.asarray(edge))), stem=f"{stem}/above")
    return call.emit("select", (above, x, call.constant("default", np.asarray(other))), stem=stem)


def _is_bent(call: Call, settings: Settings) -> bool:
    """True for a ReLU with a negative slope or a threshold."""
    numbers = (call.number(key, 0.0, config=settings) for key in ("negative_slope", "threshold"))
    return any(numbers)


def _top(call: Call, settings: Settings) -> float:
    return math.inf if settings.get("max_value") is None else call.number("max_value", config=settings)


@_function("relu")
def _relu(call: Call, x: str, stem: str, settings: Settings) -> str:
    """X between threshold and max_value, max_value above, negative_slope * (x - threshold) below."""
    slope, edge = (call.number(key, 0.0, config=settings) for key in ("negative_slope", "threshold"))
    top = _top(call, settings)
    if not slope and not edge:
        return clamp(call, x, stem, (0.0, top))
    if not edge and top == math.inf:
        return call.emit("leaky_relu", (x,), stem=stem, alpha=slope)
    upper = x
    if edge:
        limit, zero = call.constant("threshold", np.asarray(edge)), call.constant("zero", np.asarray(0.0))
        above = call.emit("greater", (x, limit), stem=f"{stem}/above")
        upper = call.emit("select", (above, x, zero), stem=f"{stem}/upper" if slope or top < math.inf else stem)
    if not edge or top < math.inf:
        upper = clamp(call, upper, f"{stem}/clip" if slope else stem, (0.0, top))
    if not slope:
        return upper
    lower = call.emit("sub", (call.constant("threshold", np.asarray(edge)), x), stem=f"{stem}/below")
    lower = clamp(call, lower, f"{stem}/lower", RELU_CLAMP)
    lower = call.emit("mul", (lower, call.constant("slope", np.asarray(slope))), stem=f"{stem}/slope")
    return call.emit("sub", (upper, lower), stem=stem)
