"""Normalisations."""

from __future__ import annotations

import math

import numpy as np

from tinydeploy.frontends.keras_call import Call, Tensor, layer
from tinydeploy.ir import Array


@layer("BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2", "SyncBatchNormalization", mask="passes")
def _batch_normalization(call: Call) -> str:
    x = call.input()
    rank = call.type(x).rank
    axis = call.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    last = call.axis(axis, rank)
    if rank < 2 or not last:
        raise call.refuse(f"normalises axis {axis} of {call.type(x)}", "the channels are an axis but the batch")
    perm = [i for i in range(rank) if i != last] + [last]
    scale, center = bool(call.config.get("scale", True)), bool(call.config.get("center", True))
    arrays = call.weights(*[1] * (2 + scale + center))
    gamma = arrays.pop(0) if scale else np.ones_like(arrays[-1])
    beta = arrays.pop(0) if center else np.zeros_like(arrays[-1])
    parts = {"gamma": gamma, "beta": beta, "moving_mean": arrays[0], "moving_variance": arrays[1]}
    names = [call.constant(stem, array) for stem, array in parts.items()]
    y = call.emit("batch_norm", (call.transpose(x, perm, "last"), *names), epsilon=call.number("epsilon", 1e-3))
    return call.transpose(y, np.argsort(perm).tolist(), "back")


@layer("LayerNormalization", mask="passes")
def _layer_normalization(call: Call) -> str:
    """``rms_scaling`` divides by the deviation without taking the mean off: x / d = (x - m) / d + m / d."""
    x = call.input()
    axes = call.axes(call.config.get("axis", -1), call.type(x).rank)
    if call.config.get("rms_scaling"):
        return _deviation_scaling(call, x, axes)
    scale, center = bool(call.config.get("scale", True)), bool(call.config.get("center", True))
    arrays = call.weights(*[len(axes)] * (scale + center))
    gamma = call.constant("gamma", arrays[0]) if scale else None
    beta = call.constant("beta", arrays[-1]) if center else None
    return call.emit("layer_norm", (x, gamma, beta), axes=axes, epsilon=call.number("epsilon", 1e-3), rms=False)


def _deviation_scaling(call: Call, x: str, axes: tuple[int, ...]) -> str:
    mean = call.emit("mean", (x,), stem="mean", axes=axes, keep_dims=True)
    off = call.emit("sub", (x, mean), stem="off")
    square = call.emit("mul", (off, off), stem="square")
    variance = call.emit("mean", (square,), stem="variance", axes=axes, keep_dims=True)
    epsilon = call.constant("epsilon", np.asarray(call.number("epsilon", 1e-3)))
    deviation = call.emit("rsqrt", (call.emit("add", (variance, epsilon), stem="raised"),), stem="deviation")
    # Weights without a use (beta) are in the file all the same.
    arrays = call.context.weights.of(call.layer.path)
    wide = [d if i in axes else 1 for i, d in enumerate(call.type(x).shape)]
    if not arrays or arrays[0].size != math.prod(wide):
        raise call.damaged("has no gamma of the shape of its axes")
    gamma = call.constant("gamma", arrays[0].reshape(wide))
    return call.emit("mul", (call.emit("mul", (x, deviation), stem="scaled"), gamma))


@layer("RMSNormalization", mask="passes")
def _rms_normalization(call: Call) -> str:
    x = call.input()
    axes = call.axes(call.config.get("axis", -1), call.type(x).rank)
    (scale,) = call.weights(len(axes))
    inputs = (x, call.constant("scale", scale), None)
    return call.emit("layer_norm", inputs, axes=axes, epsilon=call.number("epsilon", 1e-6), rms=True)


@layer("GroupNormalization", mask="passes")
def _group_normalization(call: Call) -> str:
    """On [batch, positions, group, channel] all but the group is normalised."""
    x = call.input()
    kind = call.type(x)
    axis = call.axis(call.config.get("axis", -1), kind.rank)
    perm = [i for i in range(kind.rank) if i != axis] + [axis]
    moved = call.transpose(x, perm, "last")
    shape = call.type(moved).shape
    channels = shape[-1]
    groups = call.config.get("groups", 32)
    groups = channels if groups == -1 else call.whole("groups", 32)
    if channels % groups or not axis:
        raise call.damaged(f"makes {groups} groups of {channels} channels")
    positions = math.prod(shape[1:-1])
    split = call.reshape(moved, (shape[0], positions, groups, channels // groups), "groups")
    epsilon = call.number("epsilon", 1e-3)
    y = call.emit("layer_norm", (split, None, None), stem="norm", axes=(1, 3), epsilon=epsilon, rms=False)
    y = call.reshape(y, shape, "channels")
    scale, center = bool(call.config.get("scale", True)), bool(call.config.get("center", True))
    arrays = call.weights(*[1] * (scale + center))
    if scale:
        y = call.emit("mul", (y, call.constant("gamma", arrays[0])), stem="scaled" if center else "")
    if center:
        y = call.emit("add", (y, call.constant("beta", arrays[-1])))
    return call.transpose(y, np.argsort(perm).tolist(), "back")


@layer("UnitNormalization", mask="passes")
def _unit_normalization(call: Call) -> str:
    x = call.input()
    axes = call.axes(call.config.get("axis", -1), call.type(x).rank)
    return call.emit("l2_normalize", (x,), axes=axes, epsilon=1e-12)


@layer("SpectralNormalization")
def _spectral_normalization(call: Call) -> list[str]:
    """Only training changes the weights of the layer inside."""
    return call.inner(call.config.get("layer"), "layer", [Tensor(call.input())])


@layer("Normalization", mask="passes")
def _normalization(call: Call) -> str:
    """Mean and variance are in the configuration, or they were learnt and are weights."""
    x = call.input()
    kind = call.type(x)
    value = call.config.get("axis", -1)
    axes = () if value is None else call.axes(value, kind.rank)
    wide = [d if i in axes else 1 for i, d in enumerate(kind.shape)]
    mean, variance = given(call, "mean", "input_mean"), given(call, "variance", "input_variance")
    if mean is None or variance is None:
        arrays = call.context.weights.of(call.layer.path)
        if len(arrays) < 2:
            raise call.damaged("has no mean and variance")
        mean, variance = arrays[:2]
    shapes = [array.size for array in (mean, variance)]
    if any(size not in (1, math.prod(wide)) for size in shapes):
        raise call.damaged(f"has means and variances of {shapes} numbers for {kind}")
    if np.any(variance < 0):
        raise call.damaged("has a variance below 0")
    mean, variance = (np.broadcast_to(a.reshape(wide if a.size > 1 else ()), wide) for a in (mean, variance))
    deviation = np.maximum(np.sqrt(variance, dtype=np.float32), np.float32(1e-7))
    if call.config.get("invert"):
        y = call.emit("mul", (x, call.constant("deviation", deviation)), stem="scaled")
        return call.emit("add", (y, call.constant("mean", mean)))
    y = call.emit("sub", (x, call.constant("mean", mean)), stem="centred")
    return call.emit("mul", (y, call.constant("scale", 1 / deviation)))


def given(call: Call, *keys: str) -> Array | None:
    """Numbers of the configuration, nested in lists; None if there are none."""
    value = next((call.config[key] for key in keys if call.config.get(key) is not None), None)
    if isinstance(value, dict):
        config = value.get("config")
        value = config.get("value") if isinstance(config, dict) else value.get("value")
    if value is None:
        return None
    try:
        array = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise call.damaged(f"{keys[0]} is {str(value)[:80]}, not numbers") from None
    if not array.size or not np.isfinite(array).all():
        raise call.damaged(f"{keys[0]} is {str(value)[:80]}, not numbers")
    return array.astype(np.float32)
