"""TFLite operators that exist for the file format's sake."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinydeploy.frontends.tflite_call import Call


def _densify(call: Call) -> None:
    data = call.data(0)
    if data is None:
        raise call.refuse("expands a tensor that is computed", "only constants are sparse")
    call.emit_constant(data)  # it was expanded when it was read


def _fake_quant(call: Call) -> None:
    """``round((clamp(x) - min) / scale) * scale + min`` with the range moved so that zero is one of its steps.

    Source: TensorFlow documentation, tf.quantization.fake_quant_with_min_max_args.
    """
    bits, low, high = int(call.option("num_bits")), np.float32(call.option("min")), np.float32(call.option("max"))
    if not 2 <= bits <= 16 or not low <= 0 <= high or not low < high or not np.isfinite(high - low):
        raise call.damaged(f"has {bits} bits for {low} to {high}")
    if call.option("narrow_range"):
        raise call.refuse("has a narrow range", "that is for weights, and LiteRT does not run it")
    most = np.float32(2**bits - 1)
    scale = (high - low) / most
    zero = np.clip(np.floor(-low / scale + np.float32(0.5)), 0, most).astype(np.float32)
    bottom, top = -zero * scale, (most - zero) * scale
    x = call.between("clamp", (call.input(0),), low=float(bottom), high=float(top))
    steps = call.between("sub", (x, call.scalar(bottom)))
    steps = call.between("mul", (steps, call.scalar(np.float32(1) / scale)))
    steps = call.between("floor", (call.between("add", (steps, call.scalar(np.float32(0.5)))),))
    x = call.between("mul", (steps, call.scalar(scale)))
    call.emit("add", (x, call.scalar(bottom)))


OPERATORS: dict[str, Callable[[Call], None]] = {
    "DENSIFY": _densify,
    "FAKE_QUANT": _fake_quant,
}
