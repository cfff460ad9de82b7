"""TFLite's transposed convolutions, convolutions of volumes, products of matrices and L2 pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tinydeploy.frontends._common import same_padding
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_hybrid import WARNING as HYBRID
from tinydeploy.frontends.tflite_schema import PADDINGS
from tinydeploy.ir import Elem
from tinydeploy.ops._op import NO_CLAMP

Sizes = tuple[int, ...]


def _is_same(call: Call) -> bool:
    number = int(call.option("padding"))
    if not 0 <= number < len(PADDINGS):
        raise call.damaged(f"has padding {number}")
    return PADDINGS[number] == "SAME"


def _transposed(call: Call, sizes: Sizes, kernel: Sizes, stride: Sizes, dilation: Sizes) -> tuple[Sizes, Sizes]:
    """What is cut off each axis, (before, after), and what is added at its end, so that the file's size comes out.

    Source: TFLite ComputePaddingHeightWidth with the result's size in the place of the input's.
    """
    if call.data(0) is None and call.states_shape():
        wanted = list(call.output_type().shape)
        call.warn("its output's shape is computed at run time: the one stated in the file is used")
    else:
        wanted = call.integers(0, "output shape")
    same = _is_same(call)
    if len(wanted) != len(sizes) + 2:
        raise call.damaged(f"its output shape is {wanted}")
    cut, extra = [], []
    for size, k, s, d, out in zip(sizes, kernel, stride, dilation, wanted[1:-1], strict=True):
        before = same_padding(out, k, s, d)[0] if same else 0
        after = (size - 1) * s + (k - 1) * d + 1 - before - out
        cut += [before, max(after, 0)]
        extra.append(max(-after, 0))
    return tuple(cut), tuple(extra)


def _transpose_conv(call: Call) -> None:
    x, weights = call.type(call.input(2)), call.type(call.input(1))
    if x.rank != 4 or weights.rank != 4:
        raise call.damaged(f"takes {x} with weights {weights}")
    if x.elem is Elem.F32 and weights.quant is not None:
        call.warn(HYBRID)
    stride = call.positive("stride_h", "stride_w")
    cut, extra = _transposed(call, x.shape[1:3], weights.shape[1:3], stride, (1, 1))
    call.emit(
        "transpose_conv2d",
        (call.input(2), call.input(1), call.optional(3)),
        stride=stride,
        padding=cut,
        output_padding=extra,
        clamp=call.clamp(),
        int32_sums=call.int32_sums(x),
    )


def _volume_weights(call: Call, perm: Sizes) -> str:
    """Weights of a volume as ODHWI, in float32."""
    name = call.input(1)
    if call.type(name).rank != 5:
        raise call.damaged(f"has weights {call.type(name)}")
    if call.type(name).quant is not None:
        call.warn(HYBRID)
        name = call.between("dequantize", (name,))
    return call.between("transpose", (name,), perm=perm)


def _conv_3d(call: Call) -> None:
    x = call.type(call.input(0))
    weights = _volume_weights(call, (4, 0, 1, 2, 3))
    shape = call.type(weights).shape
    if x.rank != 5 or x.shape[4] % shape[4]:
        raise call.damaged(f"takes {x} with weights {call.type(call.input(1))}")
    stride = call.positive("stride_d", "stride_h", "stride_w")
    dilation = call.positive("dilation_d", "dilation_h", "dilation_w")
    padding: list[int] = []
    for size, k, s, d in zip(x.shape[1:4], shape[1:4], stride, dilation, strict=True):
        padding += same_padding(size, k, s, d) if _is_same(call) else (0, 0)
    call.emit(
        "conv3d",
        (call.input(0), weights, call.optional(2)),
        stride=stride,
        dilation=dilation,
        padding=tuple(padding),
        groups=x.shape[4] // shape[4],
        clamp=call.clamp(),
    )


def _conv_3d_transpose(call: Call) -> None:
    x = call.type(call.input(2))
    weights = _volume_weights(call, (3, 0, 1, 2, 4))
    if x.rank != 5:
        raise call.damaged(f"takes {x}")
    stride = call.positive("stride_d", "stride_h", "stride_w")
    dilation = call.positive("dilation_d", "dilation_h", "dilation_w")
    cut, extra = _transposed(call, x.shape[1:4], call.type(weights).shape[1:4], stride, dilation)
    call.emit(
        "transpose_conv3d",
        (call.input(2), weights, call.optional(3)),
        stride=stride,
        dilation=dilation,
        padding=cut,
        output_padding=extra,
        clamp=call.clamp(),
    )


def _batch_matmul(call: Call) -> None:
    a, b = call.input(0), call.input(1)
    if call.type(a).elem is Elem.F32 and call.type(b).quant is not None:
        call.warn(HYBRID)
        b = call.between("dequantize", (b,))
    if min(call.type(a).rank, call.type(b).rank) < 2:
        raise call.damaged(f"takes {call.type(a)} and {call.type(b)}")
    if call.option("adj_x"):
        a = _swapped(call, a)
    constant = call.data(1) is not None and call.type(b).elem is Elem.F32 and call.type(b).rank == 2
    if constant:  # the same product as a layer with weights, which quantise better
        weights = b if call.option("adj_y") else _swapped(call, b)
        call.emit("fully_connected", (a, weights, None))
        return
    call.emit("batch_matmul", (a, _swapped(call, b) if call.option("adj_y") else b))


def _swapped(call: Call, name: str) -> str:
    """A value with its last two axes in the other order."""
    kind = call.type(name)
    axes: Sequence[int] = range(kind.rank)
    return call.between("transpose", (name,), kind.quant, perm=(*axes[:-2], axes[-1], axes[-2]))


def _l2_pool(call: Call) -> None:
    """``sqrt(mean of x * x)``. Source: TFLite L2_POOL_2D."""
    kernel, stride = call.positive("filter_height", "filter_width"), call.positive("stride_h", "stride_w")
    name = call.input(0)
    if call.type(name).elem is not Elem.F32:
        raise call.refuse(f"takes {call.type(name)}", "float32", "TFLite has no other form of it")
    squares = call.between("mul", (name, name))
    means = call.between(
        "average_pool2d",
        (squares,),
        kernel=kernel,
        stride=stride,
        padding=call.padding(call.type(name), kernel, stride, (1, 1)),
    )
    low, high = call.clamp()
    if (low, high) == NO_CLAMP:
        call.emit("sqrt", (means,))
    else:
        call.emit("clamp", (call.between("sqrt", (means,)),), low=low, high=high)


OPERATORS: dict[str, Callable[[Call], None]] = {
    "TRANSPOSE_CONV": _transpose_conv,
    "CONV_3D": _conv_3d,
    "CONV_3D_TRANSPOSE": _conv_3d_transpose,
    "BATCH_MATMUL": _batch_matmul,
    "L2_POOL_2D": _l2_pool,
}
