"""Products of two computed matrices."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops import _linear
from tinydeploy.ops._op import NO_CLAMP, Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _shapes(_: Any, inputs: Types) -> bool:
    a, b = optional(inputs, 0), optional(inputs, 1)
    if a is None or b is None or min(a.rank, b.rank) < 2 or a.shape[-1] != b.shape[-2]:
        return False
    lead = zip(a.shape[-3::-1], b.shape[-3::-1], strict=False)
    return all(n == m or 1 in (n, m) for n, m in lead)


def _types(_: Any, inputs: Types) -> bool:
    a, b = optional(inputs, 0), optional(inputs, 1)
    if a is None or b is None or a.elem is not b.elem:
        return False
    return bool(a.elem in (Elem.F32, Elem.S8, Elem.S16, Elem.S32))


@dataclasses.dataclass(frozen=True)
class BatchMatmul(Op):
    """``y[..., m, n] = clamp(sum(a[..., m, k] * b[..., k, n]))``.

    a [..., M, K], b [..., K, N] of one element type, leading axes broadcast; y [..., M, N].

    Floats: float32 sums in the order of k. int32 without scales: modulo 2**32.
    int8: int32 accumulators that wrap, gemmlowp's double rounding. int16: accumulators of 64 bits, the multiplier cut
    to 15 bits, one rounding, halves up.
    Source: TFLite BATCH_MATMUL, reference_ops::BatchMatMul; ONNX MatMul.
    """

    name: ClassVar[str] = "batch_matmul"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(2),
        Rule("a is [..., M, K] and b [..., K, N], leading axes broadcast", _shapes),
        Rule("both are float32, int32, int16 or int8", _types),
    )
    quant: ClassVar[QuantRule] = QuantRule()

    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[..., M, N] with the element type of both."""
        self.require(inputs)
        a, b = present(inputs, 0), present(inputs, 1)
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return (Type((*lead, a.shape[-2], b.shape[-1]), a.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 or plain int32 in and out."""
        a, b = present(inputs, 0), present(inputs, 1)
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        sums = np.zeros((*lead, a.shape[-2], b.shape[-1]), a.dtype)
        for k in range(a.shape[-1]):
            sums += a[..., :, k, np.newaxis] * b[..., np.newaxis, k, :]
        return (_linear.real_clamp(sums, self.clamp),)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 or int16 in and out; or int32 without scales."""
        kind = sig.outputs[0]
        if kind.quant is None:
            return self.reference(*inputs)
        a = present(inputs, 0).astype(np.int64) - sig.input(0).zero_point
        b = present(inputs, 1).astype(np.int64) - sig.input(1).zero_point
        ratio = np.asarray(sig.input(0).scale * sig.input(1).scale / kind.scale)
        return (_linear.finish(_linear.held(a @ b, kind), ratio, self.clamp, kind),)

    def macs(self, sig: Signature) -> int:
        """Output size times K."""
        return sig.outputs[0].size * sig.input(0).shape[-1]
