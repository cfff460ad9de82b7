"""Streaming layer of low rank: a filter over features, then one over its last results."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics.requantise import multiply_by_quantised_multiplier, quantise_multiplier, wrap_int32
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
from tinydeploy.ops._sums import Reals, ordered_dot, ordered_sum


def _shapes(op: Any, inputs: Types) -> bool:
    x, features, times, bias, state = (optional(inputs, i) for i in range(5))
    if any(kind is None or kind.rank != 2 for kind in (x, features, times, state)) or op.rank < 1:
        return False
    filters, memory = times.shape
    if features.shape != (filters, x.shape[1]) or state.shape != (x.shape[0], memory * filters) or filters % op.rank:
        return False
    return bias is None or bias.shape == (filters // op.rank,)


def _elements(_: Any, inputs: Types) -> bool:
    kinds = [optional(inputs, i) for i in range(5)]
    if any(kind is None for kind in (*kinds[:3], kinds[4])):
        return False
    found = tuple(None if kind is None else kind.elem for kind in kinds)
    floats, integers = (Elem.F32,) * 5, (Elem.S8, Elem.S8, Elem.S16, Elem.S32, Elem.S16)
    return any(all(a in (None, b) for a, b in zip(found, row, strict=True)) for row in (floats, integers))


@dataclasses.dataclass(frozen=True)
class Svdf(Op):
    """``y[u] = clamp(bias[u] + sum over r of sum over m of wt[f, m] * state[f, m])``, filter f = u * rank + r.

    Before that each filter's state moves by one to the left and takes ``sum over i of wf[f, i] * x[i]`` as its last.
    Inputs x [B, I], wf [F, I], wt [F, M], bias [F / rank] or None, state [B, F * M]. Outputs y [B, F / rank], state.
    Integers: x and wf int8, wt and state int16 with zero point 0, bias int32; the new element is rescaled to the state
    and saturated, the sum rescaled to y and saturated (``clamp`` is left to the file's output range, as in TFLite).
    In C floats are summed in rising order.
    Source: TFLite SVDF, reference_ops::EvalFloatSVDF, EvalIntegerSVDF.
    """

    name: ClassVar[str] = "svdf"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3, 5),
        Rule("x is [B, I], the weights [F, I] and [F, M], the bias [F / rank], the state [B, F * M]", _shapes),
        Rule("all are float32, or x and feature weights int8, time weights and state int16, the bias int32", _elements),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    rank: int = 1
    clamp: tuple[float, float] = NO_CLAMP

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """Y with the element type of x, the state with its own."""
        self.require(inputs)
        x, times, state = present(inputs, 0), present(inputs, 2), present(inputs, 4)
        return Type((x.shape[0], times.shape[0] // self.rank), x.elem), Type(state.shape, state.elem)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, features = present(inputs, 0), present(inputs, 1)
        return self._run(inputs, np.asarray(x @ features.T, np.float32))

    @np.errstate(over="ignore", invalid="ignore")
    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return self._run(inputs, ordered_dot(np.float32(0), present(inputs, 0), present(inputs, 1)))

    def _run(self, inputs: tuple[Array | None, ...], fresh: Reals) -> Arrays:
        times, bias = present(inputs, 2), optional(inputs, 3)
        state = self._moved(present(inputs, 4), times.shape, fresh)
        sums = ordered_sum(state * times)[..., 0].reshape(len(state), -1, self.rank)
        total = np.zeros(sums.shape[:-1], np.float32) if bias is None else np.broadcast_to(bias, sums.shape[:-1])
        for r in range(self.rank):
            total = total + sums[..., r]
        low, high = (np.float32(limit) for limit in self.clamp)
        return np.clip(total, low, high), state.reshape(present(inputs, 4).shape)

    @staticmethod
    def _moved(state: Array, shape: tuple[int, ...], fresh: Array) -> Array:
        """The state [B, F, M], moved by one, with ``fresh`` [B, F] as its last elements."""
        old = state.reshape(len(state), *shape)
        return np.concatenate([old[..., 1:], fresh[..., None].astype(old.dtype)], axis=-1)

    def multipliers(self, sig: Signature) -> tuple[tuple[int, int], tuple[int, int]]:
        """Q31 multipliers and shifts to the state and to the output; scales are multiplied in float32."""
        x, features, times, state = (np.float32(sig.input(i).scale) for i in (0, 1, 2, 4))
        ratios = (x * features / state, state * times / np.float32(sig.outputs[0].scale))
        return quantise_multiplier(float(ratios[0])), quantise_multiplier(float(ratios[1]))

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out, the state int16."""
        x, features, times = (present(inputs, i).astype(np.int64) for i in range(3))
        bias, kind = optional(inputs, 3), sig.outputs[0]
        to_state, to_output = self.multipliers(sig)
        sums = wrap_int32((x - sig.input(0).zero_point) @ features.T)
        fresh = np.clip(multiply_by_quantised_multiplier(sums, *to_state), *Elem.S16.limits)
        state = self._moved(present(inputs, 4).astype(np.int64), times.shape, fresh)
        total = wrap_int32((state * times).sum(axis=-1)).reshape(len(x), -1, self.rank).sum(axis=-1)
        total = wrap_int32(total if bias is None else total + bias.astype(np.int64))
        y = multiply_by_quantised_multiplier(total, *to_output) + kind.zero_point
        moved = state.astype(np.int16).reshape(present(inputs, 4).shape)
        return np.clip(y, *kind.elem.limits).astype(kind.elem.dtype), moved

    def macs(self, sig: Signature) -> int:
        """Both filters for each sample."""
        return sig.input(0).shape[0] * (sig.input(1).size + sig.input(2).size)
