"""Gated recurrent unit."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _recurrent
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


@dataclasses.dataclass(frozen=True)
class Gru(Op):
    """GRU over T steps, forward: ``h = (1 - z) * n + z * h`` with gates z, r and candidate n from x and the last h.

    Inputs x [T, B, I], w [3H, I], r [3H, H] (gates in the order z, r, n), b [6H] (of w, then of r) or None,
    h0 [B, H] or None. Outputs y [T, B, H], h [B, H].
    ``n = act(x w + (r * h) r_n + both biases)``; with ``linear_before_reset``
    ``n = act((x w + bias) + r * (h r_n + bias))``.
    ``activations``: of z and r; of n. ``alphas``, ``betas``, ``clip``, ``every_step`` and the order of sums: see lstm.
    Source: ONNX GRU; Keras GRU (reset_after is linear_before_reset).
    """

    name: ClassVar[str] = "gru"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3, 5),
        *_recurrent.shape_rules(gates=3, states=1),
        *_recurrent.activation_rules(2),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False, small=(1, 2))

    activations: tuple[str, ...] = ("sigmoid", "tanh")
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    every_step: bool = True
    linear_before_reset: bool = False

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """All steps and the last state."""
        self.require(inputs)
        return _recurrent.results(present(inputs, 0), present(inputs, 2).shape[1], 1, self.every_step)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return self._run(_recurrent.fast_dot, inputs)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return self._run(_recurrent.ordered, inputs)

    @np.errstate(over="ignore", invalid="ignore")
    def _run(self, dot: _recurrent.Dot, inputs: tuple[Array | None, ...]) -> Arrays:
        x, w, r = (present(inputs, i) for i in range(3))
        b, hidden = optional(inputs, 3), r.shape[1]
        h = _recurrent.initial(optional(inputs, 4), x, hidden)
        gate, act = _recurrent.functions_of(self)
        of_w, of_r = np.zeros((2, 3 * hidden), np.float32) if b is None else b.reshape(2, -1)
        last, both = 2 * hidden, self.linear_before_reset
        start = np.concatenate([of_w[:last] + of_r[:last], of_w[last:] if both else of_w[last:] + of_r[last:]])
        y = np.empty((*x.shape[:2], hidden), np.float32)
        for step, from_x in enumerate(dot(start, x, w)):
            gates = gate(_recurrent.clipped(dot(from_x[:, :last], h, r[:last]), self.clip))
            z, reset = gates[:, :hidden], gates[:, hidden:]
            if both:
                n = from_x[:, last:] + reset * dot(of_r[last:], h, r[last:])
            else:
                n = dot(from_x[:, last:], reset * h, r[last:])
            n = act(_recurrent.clipped(n, self.clip))
            h = (np.float32(1) - z) * n + z * h
            y[step] = h
        return y if self.every_step else y[-1:], h

    def macs(self, sig: Signature) -> int:
        """Both matrices at every step."""
        steps, batch, _ = sig.input(0).shape
        return steps * batch * (sig.input(1).size + sig.input(2).size)
