"""Layers around other layers, and convolutional recurrence, which is unrolled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.frontends._common import same_padding
from tinydeploy.frontends.keras_call import Call, Tensor, layer
from tinydeploy.frontends.keras_ops._planes import channels_first
from tinydeploy.frontends.keras_ops.activations import activate
from tinydeploy.ir import Array

MAX_STEPS = 256


@layer("TimeDistributed", mask="uses")
def _time_distributed(call: Call) -> list[str]:
    """The steps are samples of the inner layer: its batch."""
    if len(call.operands) != 1:
        raise call.damaged(f"has {len(call.operands)} inputs, not 1")
    x = call.tensor(call.operands[0])
    shape = call.type(x).shape
    if len(shape) < 3:
        raise call.damaged(f"its input is {call.type(x)}; a batch, steps and features are needed")
    lead = shape[:2]
    inner = call.reshape(x, (lead[0] * lead[1], *shape[2:]), "samples")
    results = call.inner(call.config.get("layer"), "layer", [Tensor(inner)])
    return [call.reshape(y, (*lead, *call.type(y).shape[1:]), f"steps{i}") for i, y in enumerate(results)]


def _conv_lstm(dims: int) -> Callable[[Call], list[str]]:
    def translate(call: Call) -> list[str]:
        x = call.input()
        if call.type(x).rank != dims + 3 or call.kwargs.get("initial_state") is not None:
            raise call.refuse(f"is given {call.type(x)}, or states", f"one input of rank {dims + 3}")
        if call.config.get("stateful") or channels_first(call):
            raise call.refuse("keeps its state, or has channels first", "stateful is False, channels are last")
        steps = call.type(x).shape[1]
        if steps > MAX_STEPS:
            raise call.refuse(f"has {steps} steps", f"it is unrolled, {MAX_STEPS} steps at most")
        biased = bool(call.config.get("use_bias", True))
        ((kernel, recurrent, *bias),) = call.parts({"cell": (dims + 2, dims + 2, *([1] * biased))})
        weights = [call.constant(stem, _ohwi(a)) for stem, a in (("kernel", kernel), ("recurrent", recurrent))]
        offset = call.constant("bias", bias[0]) if biased else None
        order = range(steps - 1, -1, -1) if call.config.get("go_backwards") else range(steps)
        h: str | None = None
        c: str | None = None
        outputs: list[str] = []
        for number, step in enumerate(order):
            h, c = _conv_step(call, dims, (x, step), weights, offset, h, c, f"step{number}")
            outputs.append(h)
        assert h is not None
        assert c is not None
        shapes = {name: _line(call.type(name).shape, dims) for name in (h, c)}
        if call.config.get("return_sequences"):
            wide = [call.reshape(y, (1, 1, *shapes[h][1:]), f"wide{i}") for i, y in enumerate(outputs)]
            result = call.emit("concat", wide, axis=1) if len(wide) > 1 else wide[0]
        else:
            result = call.reshape(h, shapes[h])
        states = [call.reshape(name, shapes[name], stem) for name, stem in ((h, "h"), (c, "c"))]
        return [result, *states] if call.config.get("return_state") else [result]

    return translate


def _ohwi(kernel: Array) -> Array:
    wide: Array = kernel if kernel.ndim == 4 else kernel[np.newaxis]
    return np.asarray(wide.transpose(3, 0, 1, 2))


def _line(shape: tuple[int, ...], dims: int) -> tuple[int, ...]:
    return shape if dims == 2 else (shape[0], *shape[2:])


def _conv_step(
    call: Call,
    dims: int,
    where: tuple[str, int],
    weights: list[str],
    bias: str | None,
    h: str | None,
    c: str | None,
    stem: str,
) -> tuple[str, str]:
    """One step: gates i f c o are channels of one convolution of x and one of h."""
    x, step = where
    shape = call.type(x).shape
    if shape[0] != 1:
        raise call.refuse(f"has a batch of {shape[0]}", "the batch is 1")
    part = call.slice(x, 1, step, step + 1, stem=f"{stem}/slice")
    image = call.reshape(part, (1, *((1,) * (2 - dims)), *shape[2:]), f"{stem}/image")
    stride, dilation = call.integers("strides", dims, 1), call.integers("dilation_rate", dims, 1)
    kernel = call.type(weights[0]).shape[1:3][-dims:]
    pads = call.padding(shape[2:-1], kernel, stride, dilation)
    lead = ((0, 0),) * (2 - dims)
    gates = call.emit(
        "conv2d",
        (image, weights[0], bias),
        stem=f"{stem}/x",
        stride=(1,) * (2 - dims) + stride,
        dilation=(1,) * (2 - dims) + dilation,
        padding=tuple(end for pair in (*lead, *pads) for end in pair),
    )
    if h is not None:
        plane = call.type(h).shape[1:3]
        taps = call.type(weights[1]).shape[1:3]
        around = tuple(e for size, k in zip(plane, taps, strict=True) for e in same_padding(size, k, 1))
        of_h = call.emit("conv2d", (h, weights[1], None), stem=f"{stem}/h", padding=around)
        gates = call.emit("add", (gates, of_h), stem=f"{stem}/gates")
    count = call.type(gates).shape[-1] // 4
    parts = call.emit_all("split", (gates,), stem=f"{stem}/split", axis=3, sizes=(count,) * 4)
    gate, act = call.config.get("recurrent_activation", "hard_sigmoid"), call.config.get("activation", "tanh")
    i, f, o = (activate(call, parts[n], gate, f"{stem}/{word}") for n, word in ((0, "i"), (1, "f"), (3, "o")))
    new = call.emit("mul", (i, activate(call, parts[2], act, f"{stem}/new")), stem=f"{stem}/add")
    c = new if c is None else call.emit("add", (call.emit("mul", (f, c), stem=f"{stem}/keep"), new), stem=f"{stem}/c")
    return call.emit("mul", (o, activate(call, c, act, f"{stem}/act")), stem=f"{stem}/out"), c


layer("ConvLSTM1D", mask="uses")(_conv_lstm(1))
layer("ConvLSTM2D", mask="uses")(_conv_lstm(2))
