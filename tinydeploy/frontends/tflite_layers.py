"""TFLite operators with weights or windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_hybrid import WARNING as HYBRID
from tinydeploy.ir import Elem, Type


def _weights(call: Call) -> Type:
    weights = call.type(call.input(1))
    x = call.type(call.input(0))
    if x.elem is Elem.F32 and weights.quant is not None:
        call.warn(HYBRID)
    return weights


def _conv(call: Call) -> None:
    x, weights = call.type(call.input(0)), _weights(call)
    if x.rank != 4 or weights.rank != 4 or x.shape[3] % weights.shape[3]:
        raise call.damaged(f"takes {x} with weights {weights}")
    stride, dilation = call.positive("stride_h", "stride_w"), call.positive("dilation_h", "dilation_w")
    call.emit(
        "conv2d",
        (call.input(0), call.input(1), call.optional(2)),
        stride=stride,
        dilation=dilation,
        padding=call.padding(x, weights.shape[1:3], stride, dilation),
        groups=x.shape[3] // weights.shape[3],
        clamp=call.clamp(),
        int32_sums=call.int32_sums(x),
    )


def _depthwise(call: Call) -> None:
    x, weights = call.type(call.input(0)), _weights(call)
    if x.rank != 4 or weights.rank != 4 or weights.shape[0] != 1 or weights.shape[3] % x.shape[3]:
        raise call.damaged(f"takes {x} with weights {weights}")
    stride, dilation = call.positive("stride_h", "stride_w"), call.positive("dilation_h", "dilation_w")
    call.emit(
        "depthwise_conv2d",
        (call.input(0), call.input(1), call.optional(2)),
        stride=stride,
        dilation=dilation,
        padding=call.padding(x, weights.shape[1:3], stride, dilation),
        multiplier=weights.shape[3] // x.shape[3],  # the option of that name is ignored by TFLite too
        clamp=call.clamp(),
    )


def _fully_connected(call: Call) -> None:
    name = call.input(0)
    x, weights = call.type(name), _weights(call)
    if call.option("weights_format"):
        raise call.refuse("has shuffled weights", "weights are stored in their natural order", "convert again")
    if weights.rank != 2 or x.size % weights.shape[1]:
        raise call.damaged(f"takes {x} with weights {weights}")
    if not call.option("keep_num_dims") and x.rank != 2:
        shape = (x.size // weights.shape[1], weights.shape[1])
        name = call.between("reshape", (name,), x.quant, shape=shape)
    call.emit("fully_connected", (name, call.input(1), call.optional(2)), clamp=call.clamp())


def _average_pool(call: Call) -> None:
    kernel, stride = call.positive("filter_height", "filter_width"), call.positive("stride_h", "stride_w")
    x = call.type(call.input(0))
    attributes: dict[str, Any] = {
        "kernel": kernel,
        "stride": stride,
        "padding": call.padding(x, kernel, stride, (1, 1)),
        "count_include_pad": False,
        "clamp": call.clamp(),
    }
    whole = not any(attributes["padding"]) and kernel[0] * kernel[1] % 2
    if not call.is_shifted(0) or whole:
        call.emit("average_pool2d", (call.input(0),), **attributes)
        return
    # Means of uint8 round halves up, those of signed integers away from zero: kept above zero, in int16, they agree.
    assert x.quant is not None
    raised = dataclasses.replace(x.quant, zero_point=tuple(z + 128 for z in x.quant.zero_point))
    wide = call.between("quantize", (call.input(0),), raised, elem=Elem.S16)
    mean = call.between("average_pool2d", (wide,), raised, **attributes)
    call.emit("quantize", (mean,), elem=Elem.S8)


def _max_pool(call: Call) -> None:
    kernel, stride = call.positive("filter_height", "filter_width"), call.positive("stride_h", "stride_w")
    call.emit(
        "max_pool2d",
        (call.input(0),),
        kernel=kernel,
        stride=stride,
        dilation=(1, 1),
        padding=call.padding(call.type(call.input(0)), kernel, stride, (1, 1)),
        clamp=call.clamp(),
    )


OPERATORS: dict[str, Callable[[Call], None]] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _fully_connected,
    "AVERAGE_POOL_2D": _average_pool,
    "MAX_POOL_2D": _max_pool,
}
