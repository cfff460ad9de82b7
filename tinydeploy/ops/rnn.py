"""Simple recurrent layer."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _recurrent
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


@dataclasses.dataclass(frozen=True)
class Rnn(Op):
    """Recurrent layer over T steps, forward: ``h = act(x w + h r + biases)``.

    Inputs x [T, B, I], w [H, I], r [H, H], b [2H] (of w, then of r) or None, h0 [B, H] or None.
    Outputs y [T, B, H], h [B, H]. ``activations``: act. Others, order of sums: see lstm.
    Source: ONNX RNN; Keras SimpleRNN; TFLite RNN, UNIDIRECTIONAL_SEQUENCE_RNN.
    """

    name: ClassVar[str] = "rnn"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3, 5),
        *_recurrent.shape_rules(gates=1, states=1),
        *_recurrent.activation_rules(1),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False, small=(1, 2))

    activations: tuple[str, ...] = ("tanh",)
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    every_step: bool = True

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
        (act,) = _recurrent.functions_of(self)
        bias = np.zeros(1, np.float32) if b is None else b[:hidden] + b[hidden:]
        y = np.empty((*x.shape[:2], hidden), np.float32)
        for step, from_x in enumerate(dot(bias, x, w)):
            h = act(_recurrent.clipped(dot(from_x, h, r), self.clip))
            y[step] = h
        return y if self.every_step else y[-1:], h

    def macs(self, sig: Signature) -> int:
        """Both matrices at every step."""
        steps, batch, _ = sig.input(0).shape
        return steps * batch * (sig.input(1).size + sig.input(2).size)
