"""Matrix times vector."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _linear
from tinydeploy.ops._op import (
    NO_CLAMP,
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
)


def _shapes(_: Any, inputs: Types) -> bool:
    x, weights = optional(inputs, 0), optional(inputs, 1)
    if x is None or weights is None:
        return False
    return bool(x.rank >= 1 and weights.rank == 2 and x.shape[-1] == weights.shape[1])


def _bias(op: FullyConnected, inputs: Types) -> bool:
    bias = optional(inputs, 2)
    return bias is None or (_shapes(op, inputs) and bias.shape == (present(inputs, 1).shape[0],))


@dataclasses.dataclass(frozen=True)
class FullyConnected(Op):
    """``y[..., o] = clamp(bias[o] + sum(x[..., k] * w[o, k]))``.

    x [..., K], weights [O, K], bias [O] or None; y [..., O].

    Floats: float32 sums in the order of k, plus bias; int8 weights are scaled after the sum.
    int32 without scales: modulo 2**32.
    Integers: int32 accumulators that wrap, times the real ratio of scales (float64), rounded once, halves away from
    zero; accumulators of 64 bits for int16. A Q31 multiplier with single rounding is the same but for ties and
    accumulators within 2**-32 of one.
    Source: TFLite FULLY_CONNECTED, reference_integer_ops::FullyConnected of LiteRT 2; ONNX Gemm, MatMul by a constant.
    """

    name: ClassVar[str] = "fully_connected"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2, 3),
        Rule("weights are [O, K] where K is the input's last axis", _shapes),
        Rule("bias has one value an output", _bias),
        _linear.ACTIVATIONS,
    )
    quant: ClassVar[QuantRule] = QuantRule(weights=1, weights_axis=0, bias=2)
    stored: ClassVar[tuple[int, ...]] = (1,)

    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[..., O] with the input's element type."""
        self.require(inputs)
        x, weights = present(inputs, 0), present(inputs, 1)
        return (Type((*x.shape[:-1], weights.shape[0]), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        result = x @ weights.T
        if bias is not None:
            result = result + bias
        return (_linear.real_clamp(result, self.clamp),)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """The kernel's order of sums."""
        x, weights, bias = present(inputs, 0), present(inputs, 1), optional(inputs, 2)
        result = _linear.float_sums(sig, (x.reshape(-1, x.shape[-1]), weights, bias), (), 1, self.clamp)
        return (result.reshape(*x.shape[:-1], weights.shape[0]),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out, bias of 32 or 64 bits; or int32 without scales."""
        if sig.outputs[0].quant is None:
            return self.reference(*inputs)
        x, bias = present(inputs, 0), optional(inputs, 2)
        weights = _linear.centred_weights(present(inputs, 1), sig.input(1))
        dtype = _linear.exact_dtype(weights, (1,), sig.input(0).elem)
        sums = x.astype(dtype) @ weights.astype(dtype).T
        accumulators = _linear.add_offsets(sums, bias, sig.input(0), np.asarray(weights.sum(axis=1)))
        return (_linear.finish_once(accumulators, _linear.channel_scales(sig), self.clamp, sig.outputs[0]),)

    def macs(self, sig: Signature) -> int:
        """Output size times K."""
        return sig.outputs[0].size * sig.input(1).shape[1]

    def batchable(self, sig: Signature) -> bool:
        """True where the last axis is not the first."""
        return sig.input(0).rank >= 2
