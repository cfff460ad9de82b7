"""Pooling over windows and over whole planes."""

from __future__ import annotations

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.frontends.onnx_ops.convolution import channels_first, channels_last, spatial_rank, window


@translates("MaxPool")
def max_pool(call: Call) -> Results:
    """Padding never wins. Source: ONNX MaxPool-22; the second output (indices) is not computed."""
    call.ignore("storage_order")  # it describes the indices only
    rank = spatial_rank(call)
    shape = window(call, tuple(call.attribute("kernel_shape")), ceil_mode=bool(call.attribute("ceil_mode", 0)))
    x = channels_last(call, call.float_value(0))
    y = call.emit(
        "max_pool2d", x, kernel=shape.kernel, stride=shape.stride, dilation=shape.dilation, padding=shape.padding
    )
    return (channels_first(call, y, rank),)


@translates("AveragePool")
def average_pool(call: Call) -> Results:
    """Source: ONNX AveragePool-22: with count_include_pad the padding counts, what ceil_mode adds never does."""
    rank = spatial_rank(call)
    kernel = tuple(call.attribute("kernel_shape"))
    plain = window(call, kernel)
    shape = window(call, kernel, ceil_mode=bool(call.attribute("ceil_mode", 0)))
    include = bool(call.attribute("count_include_pad", 0))
    if shape.dilation != (1, 1):
        raise refuse(f"dilations are {list(shape.dilation)}", "average pooling is not dilated")
    if include and shape.padding != plain.padding and any(plain.padding):
        raise refuse("ceil_mode and count_include_pad with padding", "at most two of the three")
    if shape.padding != plain.padding:
        include = False
    x = channels_last(call, call.float_value(0))
    y = call.emit(
        "average_pool2d",
        x,
        kernel=shape.kernel,
        stride=shape.stride,
        padding=shape.padding,
        count_include_pad=include,
    )
    return (channels_first(call, y, rank),)


@translates("GlobalAveragePool")
def global_average_pool(call: Call) -> Results:
    """The mean over all spatial axes, which stay with size 1."""
    x = call.float_value(0)
    rank = len(call.shape_of(0))
    if rank < 3:
        raise refuse(f"input has {rank} dimensions", "[N, C, ...] with at least one spatial dimension")
    return (call.emit("mean", x, axes=tuple(range(2, rank)), keep_dims=True),)


@translates("GlobalMaxPool")
def global_max_pool(call: Call) -> Results:
    """The maximum over all spatial axes, which stay with size 1."""
    rank = spatial_rank(call)
    x = channels_last(call, call.float_value(0))
    kernel = call.type(x).shape[1:3]
    y = call.emit("max_pool2d", x, kernel=kernel, stride=(1, 1), dilation=(1, 1), padding=(0, 0, 0, 0))
    return (channels_first(call, y, rank),)
