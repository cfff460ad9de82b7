"""What kernels with weights share: which types they take, how weights are packed, how sums are requantised."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.ir import Array, Elem, Type
from tinydeploy.lower import requantise
from tinydeploy.lower._contract import AccessPlan, LowerContext, Span
from tinydeploy.lower.requantise import Ints, Requant, Rounding, Scaling
from tinydeploy.ops import _linear
from tinydeploy.ops._op import clamp_limits

MAX_TERMS = 2**16  # products of int8 whose sum stays far inside int32
LINEAR_RULE = "float32, int32 without scales, or int8 or int16 with one scale in and out, int8 weights, constant bias"


def is_s8(kind: Type | None) -> bool:
    """True for int8 with one scale."""
    return kind is not None and kind.elem is Elem.S8 and kind.quant is not None and kind.quant.axis is None


@dataclasses.dataclass(frozen=True)
class Linear:
    """A node with int8 weights: ``weights`` [outputs, terms] less their zero point, and how to requantise.

    ``scaling``: TFLite's function of the raw sums (weights times stored input); ``requant``: its solved form.
    """

    weights: Ints
    scaling: Scaling
    requant: Requant

    def fields(self, shift: bool = True, zero_point: bool = True) -> tuple[tuple[str, int], ...]:
        """The last params fields of a weighted kernel: shift and zero_point (where it has them), act_min, act_max."""
        s = self.scaling
        return (
            *((("shift", self.requant.shift),) if shift else ()),
            *((("zero_point", s.zero_point),) if zero_point else ()),
            ("act_min", s.act_min),
            ("act_max", s.act_max),
        )


def linear(ctx: LowerContext, weights_first: tuple[int, ...], rounding: Rounding = "double") -> Linear | None:
    """The weighted sum that ``ctx.node`` is, or None where int8 kernels do not apply. Worked out once a node.

    ``weights_first``: order of the weight tensor's axes that puts outputs first; the rest is flattened.
    Not applicable: other types, weights that are no constants or leave int8 when centred, more than 2**16 terms,
    rounding "once" where sums may leave int32. A convolution that rounds once is taken where one shift will do.
    """
    if getattr(ctx.node.op, "exact_scale", False):
        rounding = "once"
    key = ("linear", weights_first, rounding)
    if key not in ctx.memo:
        ctx.memo[key] = _linear_of(ctx, weights_first, rounding)
    found = ctx.memo[key]
    assert found is None or isinstance(found, Linear)
    return found


def _linear_of(ctx: LowerContext, weights_first: tuple[int, ...], rounding: Rounding) -> Linear | None:
    sig = ctx.signature
    weights = ctx.constant(1)
    bias = ctx.constant(2)
    absent = len(ctx.node.inputs) < 3 or ctx.node.inputs[2] is None
    if not (is_s8(sig.inputs[0]) and is_s8(sig.outputs[0])) or weights is None or (bias is None and not absent):
        return None
    if sig.input(1).elem is not Elem.S8 or sig.input(1).quant is None:
        return None
    centred = _linear.centred_weights(weights, sig.input(1)).transpose(weights_first)
    centred = centred.reshape(centred.shape[0], -1)
    if centred.shape[1] > MAX_TERMS or centred.min(initial=0) < -128 or centred.max(initial=0) > 127:
        return None
    scaling = _scaling(ctx, centred, bias, rounding)
    requant = requantise.solve(scaling)
    if requant is not None and getattr(ctx.node.op, "exact_scale", False) and not requant.affine:
        return None
    return None if requant is None else Linear(centred, scaling, requant)


def _scaling(ctx: LowerContext, weights: Ints, bias: Array | None, rounding: Rounding) -> Scaling:
    sig = ctx.signature
    outputs = len(weights)
    offset = -sig.input(0).zero_point * weights.sum(axis=1)
    low, high = sig.input(0).elem.limits
    ends = np.sort(np.stack([weights * low, weights * high]), axis=0).sum(axis=2)
    kind = sig.outputs[0]
    act_min, act_max = clamp_limits(ctx.node.op.clamp, kind)
    return Scaling(
        bias=offset if bias is None else offset + bias.astype(np.int64),
        ratio=np.array(np.broadcast_to(_linear.channel_scales(sig), (outputs,)), np.float64),
        low=ends[0],
        high=ends[1],
        zero_point=kind.zero_point,
        act_min=act_min,
        act_max=act_max,
        rounding=rounding,
    )


def interleave(weights: Array, groups: int, together: int) -> Array:
    """[outputs, terms] to [group][block of outputs][terms][together], missing outputs of a group's last block are 0."""
    terms = weights.shape[1]
    per_group = len(weights) // groups
    padded = np.zeros((groups, -(-per_group // together) * together, terms), np.int8)
    padded[:, :per_group] = weights.reshape(groups, per_group, terms)
    return np.ascontiguousarray(padded.reshape(groups, -1, together, terms).swapaxes(2, 3)).ravel()


def vector_access(ctx: LowerContext, outputs: int, inputs: int, reads_first: bool = False) -> AccessPlan:
    """Matrix times vectors one after the other: a vector is read and written in any order, or read whole first."""
    step = np.arange(ctx.signature.outputs[0].size // outputs, dtype=np.int64)
    reads, writes = Span(step * inputs, (step + 1) * inputs), Span(step * outputs, (step + 1) * outputs)
    return AccessPlan((reads, *(None,) * (len(ctx.node.inputs) - 1)), (writes,), reads_first)
