"""Pooling of any type, batch and number of axes; int8 where the kernels of one sample do not apply."""

from __future__ import annotations

from typing import Any

from tinydeploy.ir import Elem
from tinydeploy.lower._axes import axes_access, axes_fields
from tinydeploy.lower._contract import Argument, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower.kernels.average_pool2d import MAX_COUNT
from tinydeploy.ops import _pool
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.average_pool2d import AveragePool2d
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.max_pool2d_indices import MaxPool2dIndices
from tinydeploy.ops.pool3d import AveragePool3d, MaxPool3d

OPERATORS = ("average_pool2d", "max_pool2d", "average_pool3d", "max_pool3d", "max_pool2d_indices")
_SUFFIX = {Elem.F32: "f32", Elem.S8: "s8", Elem.U8: "u8", Elem.S16: "s16"}
_MAX_TAPS = {"s16": 2**15, "s8": 2**23}  # values whose sum stays in int32


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer, or none where a row kernel takes the node."""
    op, sig = ctx.node.op, ctx.signature
    x = sig.input(0)
    if is_s8(x) and x.shape[0] == 1 and _has_row_kernel(op):
        return []
    suffix = _SUFFIX.get(x.elem)
    if suffix is None or (x.elem is Elem.F32) != (sig.outputs[0].elem is Elem.F32):
        return []
    if isinstance(op, (AveragePool2d, AveragePool3d)):
        return _average(ctx, op, suffix)
    if isinstance(op, (MaxPool2d, MaxPool3d)):
        if x.elem is Elem.F32:
            return [_offer(ctx, f"max_pool_nd_{suffix}", _float_params(ctx, False))]
        low, high = x.elem.limits if x.quant is None else clamp_limits(op.clamp, sig.outputs[0])
        fields = (*_axes(ctx), ("act_min", low), ("act_max", high))
        return [_offer(ctx, f"max_pool_nd_{suffix}", Params("td_max_pool_nd_params", fields))]
    if isinstance(op, MaxPool2dIndices) and suffix != "s16":
        _, height, width, _ = x.shape
        row, column = (1, height) if op.storage_order else (width, 1)
        fields = (*_axes(ctx), ("row_step", row), ("column_step", column))
        return [_offer(ctx, f"max_pool_nd_indices_{suffix}", Params("td_max_pool_nd_indices_params", fields))]
    return []


def _has_row_kernel(op: Any) -> bool:
    if isinstance(op, AveragePool2d):
        return op.dilation == (1, 1) and op.kernel[0] * op.kernel[1] < MAX_COUNT
    return isinstance(op, MaxPool2d)


def _average(ctx: LowerContext, op: AveragePool2d | AveragePool3d, suffix: str) -> list[Offer]:
    sig, taps = ctx.signature, 1
    for size in op.kernel:
        taps *= size
    if suffix == "f32":
        return [_offer(ctx, "average_pool_nd_f32", _float_params(ctx, op.count_include_pad))]
    if suffix == "u8" or sig.input(0).quant is None or taps >= _MAX_TAPS[suffix]:
        return []
    low, high = clamp_limits(op.clamp, sig.outputs[0])
    fields = (
        ("zero_point", sig.outputs[0].zero_point),
        ("count_pad", int(op.count_include_pad)),
        ("act_min", low),
        ("act_max", high),
    )
    params = Params("td_average_pool_nd_params", (*_axes(ctx), *fields))
    return [_offer(ctx, f"average_pool_nd_{suffix}", params)]


def _float_params(ctx: LowerContext, count_pad: bool) -> Params:
    low, high = ctx.node.op.clamp
    fields = (("low", float(low)), ("high", float(high)), ("count_pad", int(count_pad)))
    return Params("td_pool_nd_f32_params", (*_axes(ctx), *fields))


def _axes(ctx: LowerContext) -> tuple[tuple[str, int], ...]:
    shape = ctx.signature.input(0).shape
    return axes_fields(_pool.axes_of(ctx.node.op, shape), shape[0], shape[-1], shape[-1], 1)


def _offer(ctx: LowerContext, name: str, params: Params) -> Offer:
    sig, shape = ctx.signature, ctx.signature.input(0).shape
    taps = 1
    for size in ctx.node.op.kernel:
        taps *= size
    instructions = sig.outputs[0].size * (taps * 6 + 10) + sig.outputs[0].size // shape[-1] * taps * 60
    results: tuple[Argument, ...] = tuple(Out(i) for i in range(len(sig.outputs)))
    return Offer(
        kernel=name,
        call=Call(f"td_{name}", (ParamsArg(), In(0), *results)),
        access=axes_access(ctx, _pool.axes_of(ctx.node.op, shape), shape[0], [False]),
        headers=("td_pool_nd.h",),
        sources=(f"td_{name}.c",),
        params=params,
        cost=Cost(instructions, int(instructions * 1.4)),
    )
