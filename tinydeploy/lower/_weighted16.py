"""Layers with int8 weights on int16 activations: their requantisation, and whether 32 bits hold the sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tinydeploy.ir import Array, Elem, Type
from tinydeploy.lower._contract import Offer, Params, Tab, Table
from tinydeploy.lower.requantise import RECORDS, Ints
from tinydeploy.numerics.requantise import quantise_multipliers, wrap_int32
from tinydeploy.numerics.wide import MAX_ACCUMULATOR, reduce_multipliers
from tinydeploy.ops import _linear
from tinydeploy.ops._op import clamp_limits

if TYPE_CHECKING:
    from tinydeploy.lower._weighted import Layer

REDUCED = np.dtype([("bias", "<i8"), ("m", "<i4"), ("shift", "<i4")])
ONCE = np.dtype([("bias", "<i8"), ("m_lo", "<u4"), ("m_hi", "<u4"), ("up", "<i4"), ("shift", "<i4")])
_MAX_UP = 16  # 47 bits to the left that stay in 63
_MAX_SHIFT = 62


def is_s16(kind: Type | None) -> bool:
    """True for int16 with one scale."""
    return kind is not None and kind.elem is Elem.S16 and kind.quant is not None and len(kind.quant.scale) == 1


def int16_offers(layer: Layer, weights: Array | None) -> list[Offer]:
    """The offer for int16 in and out; ``weights``: int8 less their zero points, flat (None: not constant).

    None where a bias is computed, where accumulators may reach 2**47, or ratios are out of range.
    """
    sig, ctx = layer.ctx.signature, layer.ctx
    if weights is None or not (is_s16(sig.inputs[0]) and is_s16(sig.outputs[0])):
        return []
    present = len(sig.inputs) > 2 and sig.inputs[2] is not None
    bias = ctx.constant(2)
    if present and bias is None:
        return []
    offsets = np.zeros(layer.out_channels, np.int64) if bias is None else bias.astype(np.int64).ravel()
    zero_point = sig.input(0).zero_point
    largest = _norms(layer, weights) * max(32767 - zero_point, 32768 + zero_point)
    if (largest + np.abs(offsets.astype(np.float64)) > MAX_ACCUMULATOR).any():
        return []
    ratios = np.array(np.broadcast_to(_linear.channel_scales(sig), (layer.out_channels,)), np.float64)
    form = "once" if layer.rounding == "once" else "exact" if getattr(ctx.node.op, "int32_sums", False) else "reduced"
    records = _FORMS[form](offsets, ratios)
    if records is None:
        return []
    low, high = clamp_limits(ctx.node.op.clamp, sig.outputs[0])
    params = Params(
        "td_conv_nd_s16_params",
        (
            *layer.axes_fields(),
            ("x_offset", -zero_point),
            ("zero_point", sig.outputs[0].zero_point),
            ("act_min", low),
            ("act_max", high),
        ),
    )
    long = form != "exact" and int(largest.max(initial=0)) >= 2**31
    tables = [Table("weights", "int8_t", weights), Table("requant", f"td_{form}", records, align=8)]
    suffix = "s16" + ("" if form == "reduced" else f"_{form}") + ("_long" if long else "")
    offer = layer.offer(suffix, [Tab("weights"), Tab("requant")], tables, params)
    return [dataclasses.replace(offer, headers=("td_conv_nd_s16.h",))]


def _norms(layer: Layer, weights: Array) -> Ints:
    """Sums of magnitudes of each output's weights."""
    sizes = np.abs(weights.astype(np.int64))
    if layer.family == "depthwise_nd":
        return np.asarray(sizes.reshape(-1, layer.out_channels).sum(axis=0))
    return np.asarray(sizes.reshape(layer.out_channels, -1).sum(axis=1))


def _reduced(offsets: Ints, ratios: Array) -> Array | None:
    m, right = reduce_multipliers(*quantise_multipliers(ratios))
    if (right < 1).any():
        return None
    records = np.empty(len(offsets), REDUCED)
    records["bias"], records["m"], records["shift"] = offsets, m, right
    return records


def once_records(offsets: Ints, ratios: Array) -> Array | None:
    """``ratio = m * 2**(up - 64 - shift)`` with a multiplier of 64 bits, exactly."""
    fraction, exponent = np.frexp(ratios)
    up, shift = np.where(exponent >= 0, exponent + 1, 0), np.where(exponent >= 0, 1, -exponent)
    if (up > _MAX_UP).any() or (shift > _MAX_SHIFT).any():
        return None
    high = np.floor(np.ldexp(fraction, 32))
    records = np.empty(len(offsets), ONCE)
    records["bias"], records["up"], records["shift"] = offsets, up, shift
    records["m_hi"] = high.astype(np.uint64).astype(np.uint32)
    records["m_lo"] = np.ldexp(np.ldexp(fraction, 32) - high, 32).astype(np.uint64).astype(np.uint32)
    return records


def _exact(offsets: Ints, ratios: Array) -> Array:
    """TFLite's double rounding of int32 sums."""
    records = np.empty(len(offsets), RECORDS["exact"])
    records["bias"] = wrap_int32(offsets)
    records["m"], records["shift"] = quantise_multipliers(ratios)
    return records


_FORMS: dict[str, Callable[[Ints, Array], Array | None]] = {"once": once_records, "reduced": _reduced, "exact": _exact}
