"""Layers with weights in the kernels that take any batch: which types they take, their tables, arguments and cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tinydeploy.ir import Array, Elem
from tinydeploy.lower import requantise
from tinydeploy.lower._axes import axes_access, axes_fields
from tinydeploy.lower._contract import Argument, Call, Cost, In, LowerContext, Offer, Out, Params, ParamsArg, Tab, Table
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._weighted16 import int16_offers
from tinydeploy.lower.requantise import Rounding, Scaling
from tinydeploy.ops import _linear
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops._windows_nd import Axis
from tinydeploy.target.cpu import CPUS


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer with weights as the general kernels see it. ``family``: "conv_nd" or "depthwise_nd"."""

    ctx: LowerContext
    family: str
    axes: tuple[Axis, ...]
    batch: int
    in_channels: int
    out_channels: int
    groups: int
    rounding: Rounding = "double"

    def offers(self) -> list[Offer]:
        """The one offer for the node's types, or none."""
        sig = self.ctx.signature
        kinds = (sig.input(0), sig.input(1), sig.outputs[0])
        elems = tuple(kind.elem for kind in kinds)
        plain = all(kind.quant is None for kind in kinds)
        bias = sig.inputs[2] if len(sig.inputs) > 2 else None
        if elems == (Elem.F32,) * 3 and plain and _is(bias, Elem.F32):
            return [self._float()]
        if elems == (Elem.F32, Elem.S8, Elem.F32) and _is(bias, Elem.F32):
            return self._float_w8()
        if elems == (Elem.S32,) * 3 and plain and _is(bias, Elem.S32) and self.family == "conv_nd":
            return [self._int32()]
        if elems == (Elem.S8,) * 3 and is_s8(kinds[0]) and is_s8(kinds[2]) and _is(bias, Elem.S32):
            return self._int8()
        if elems == (Elem.S16, Elem.S8, Elem.S16):
            return int16_offers(self, self._centred())
        return []

    def _float(self) -> Offer:
        arguments, tables = self._operands(("weights", "bias"))
        return self.offer("f32", arguments, tables, self._float_params())

    def _float_params(self) -> Params:
        low, high = self.ctx.node.op.clamp
        return Params("td_conv_nd_f32_params", (*self.axes_fields(), ("low", float(low)), ("high", float(high))))

    def _float_w8(self) -> list[Offer]:
        kind, weights = self.ctx.signature.input(1), self._centred()
        if kind.quant is None or weights is None:
            return []
        scales = np.broadcast_to(kind.quant.scales().astype(np.float32), self.out_channels)
        arguments, tables = self._operands(("", "bias"))
        tables = [Table("weights", "int8_t", weights), Table("scales", "float", scales.copy()), *tables]
        return [self.offer("f32_w8", [Tab("weights"), Tab("scales"), *arguments], tables, self._float_params())]

    def _int32(self) -> Offer:
        arguments, tables = self._operands(("weights", "bias"))
        return self.offer("s32", arguments, tables, Params("td_axes", self.axes_fields("")))

    def _int8(self) -> list[Offer]:
        """Any int8 layer whose bias is constant; weights with one zero point a tensor need not be."""
        sig, kind = self.ctx.signature, self.ctx.signature.input(1)
        if kind.quant is None or (kind.quant.axis is not None and self.ctx.constant(1) is None):
            return []
        offset, weights = 0, self._centred()
        if weights is None and kind.quant.axis is not None:
            return []
        if weights is None:
            offset = -kind.zero_point
            arguments, tables = self._operands(("weights", ""))
        else:
            arguments, tables = [Tab("weights")], [Table("weights", "int8_t", weights)]
        bias = self.ctx.constant(2) if len(sig.inputs) > 2 and sig.inputs[2] is not None else None
        if bias is None and len(sig.inputs) > 2 and sig.inputs[2] is not None:
            return []
        low, high = clamp_limits(self.ctx.node.op.clamp, sig.outputs[0])
        scaling = self._scaling(bias, low, high, weights)
        form = requantise.exact(scaling) if self.rounding == "double" else requantise.wide(scaling)
        if form is None:
            return []
        arguments.append(Tab("requant"))
        tables.append(form.table())
        if form.form == "wide":
            arguments.append(0 if bias is None else Tab("bias"))
            tables += [] if bias is None else [Table("bias", "int32_t", bias.astype(np.int32).ravel())]
        fields = (
            ("x_offset", -sig.input(0).zero_point),
            ("w_offset", offset),
            ("zero_point", sig.outputs[0].zero_point),
            ("act_min", low),
            ("act_max", high),
        )
        params = Params("td_conv_nd_s8_params", (*self.axes_fields(), *fields))
        return [self.offer("s8" if form.form == "exact" else "s8_wide", arguments, tables, params)]

    def _scaling(self, bias: Array | None, low: int, high: int, weights: Array | None) -> Scaling:
        """Of the sums that can occur; the wide kernel adds the bias itself, as the sum wraps with it."""
        own = bias is not None and self.rounding == "double"
        least, most = self._ends(None if own else bias, weights)
        return Scaling(
            bias=np.asarray(bias, np.int64).ravel() if own else np.zeros(self.out_channels, np.int64),
            ratio=np.array(np.broadcast_to(_linear.channel_scales(self.ctx.signature), (self.out_channels,))),
            low=least,
            high=most,
            zero_point=self.ctx.signature.outputs[0].zero_point,
            act_min=low,
            act_max=high,
            rounding=self.rounding,
        )

    def _ends(self, bias: Array | None, weights: Array | None) -> tuple[Array, Array]:
        """The lowest and highest sum of each output, with ``bias``; all of int32 where they are unknown or wrap."""
        ends = np.full(self.out_channels, 2**31, np.int64)
        if weights is None:
            return -ends, ends - 1
        kind = self.ctx.signature.input(0)
        first = self.family == "conv_nd"
        rows = weights.astype(np.int64).reshape((self.out_channels, -1) if first else (-1, self.out_channels))
        inputs = [limit - kind.zero_point for limit in kind.elem.limits]
        products = np.sort(np.stack([rows * x for x in inputs]), axis=0).sum(axis=2 if first else 1)
        least, most = products + (0 if bias is None else bias.astype(np.int64).ravel())
        wraps = bool((np.abs(np.stack([least, most])) >= 2**31).any())
        return (-ends, ends - 1) if wraps else (np.minimum(least, 0), np.maximum(most, 0))

    def _centred(self) -> Array | None:
        """Constant int8 weights less their zero points, None where there are none or they leave int8."""
        weights, kind = self.ctx.constant(1), self.ctx.signature.input(1)
        if weights is None or kind.quant is None:
            return None
        centred = _linear.centred_weights(weights, kind)
        if centred.min(initial=0) < -128 or centred.max(initial=0) > 127:
            return None
        return centred.astype(np.int8).ravel()

    def _operands(self, names: Sequence[str]) -> tuple[list[Argument], list[Table]]:
        """Arguments and tables of the inputs from 1 on that have a name here; an absent one is a null pointer."""
        sig = self.ctx.signature
        arguments: list[Argument] = []
        tables: list[Table] = []
        for place, name in enumerate(names, 1):
            kind = sig.inputs[place] if place < len(sig.inputs) else None
            data = self.ctx.constant(place)
            if not name:
                continue
            if kind is None:
                arguments.append(0)
            elif data is None:
                arguments.append(In(place))
            else:
                arguments.append(Tab(name))
                tables.append(Table(name, kind.elem.c_type, data.astype(kind.elem.dtype).ravel()))
        return arguments, tables

    def axes_fields(self, prefix: str = "axes.") -> tuple[tuple[str, int], ...]:
        """The C struct td_axes as params fields."""
        return axes_fields(self.axes, self.batch, self.in_channels, self.out_channels, self.groups, prefix)

    def offer(self, suffix: str, arguments: list[Argument], tables: list[Table], params: Params) -> Offer:
        """An offer of the kernel ``suffix`` of the family."""
        ctx = self.ctx
        name = f"{self.family}_{suffix}"
        constant = [kind is None or ctx.constant(i) is not None for i, kind in enumerate(ctx.signature.inputs)]
        macs = ctx.node.op.macs(ctx.signature)
        per_mac = 5.0
        if suffix.startswith("f32") and not has_float_unit(ctx):
            per_mac = 90.0  # a call of the compiler's for each product and each sum
        instructions = int(macs * per_mac) + 60 * ctx.signature.outputs[0].size
        return Offer(
            kernel=name,
            call=Call(f"td_{name}", (ParamsArg(), In(0), *arguments, Out(0))),
            access=axes_access(ctx, self.axes, self.batch, constant),
            headers=(f"td_{self.family}.h",),
            sources=(f"td_{name}.c",),
            tables=tuple(tables),
            params=params,
            cost=Cost(instructions, int(instructions * 1.4)),
        )


def rounding(ctx: LowerContext) -> Rounding:
    """How sums of a convolution are rounded (see `ops._linear.finish_layer`)."""
    return "once" if ctx.node.op.exact_scale else "double"


def has_float_unit(ctx: LowerContext) -> bool:
    """True if the target computes float32 in hardware."""
    return ctx.target.cpu == "host" or "fpu" in CPUS[ctx.target.cpu].needs


def _is(kind: object, elem: Elem) -> bool:
    return kind is None or getattr(kind, "elem", None) is elem
