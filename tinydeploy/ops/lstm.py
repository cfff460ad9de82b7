"""Long short-term memory."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops import _recurrent
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present


def _peephole(_: Any, inputs: Types) -> bool:
    p, r = optional(inputs, 6), optional(inputs, 2)
    return p is None or (r is not None and r.rank == 2 and p.shape == (3 * r.shape[1],))


@dataclasses.dataclass(frozen=True)
class Lstm(Op):
    """LSTM over T steps, forward: ``c = f * c + i * g; h = o * act(c)`` with gates from x and the last h.

    Inputs x [T, B, I], w [4H, I], r [4H, H] (gates in the order i, o, f, g), b [8H] (of w, then of r) or None,
    h0 [B, H] or None, c0 [B, H] or None, p [3H] (peepholes of i, o, f) or None. Outputs y [T, B, H], h and c [B, H].
    ``activations``: of the gates i, o, f; of g; and act. ``alphas``, ``betas``: their constants, ONNX's defaults where
    empty. ``clip``: limit of what goes into an activation of a gate, 0 for none. ``input_forget``: f = 1 - i.
    ``cell_clip``: limit of c itself, 0 for none. ``every_step``: False if y is the last step alone, [1, B, H].
    In C a gate's sum is bias of w + bias of r, then the products with x, then those with h, each in rising order.
    Source: ONNX LSTM; Keras LSTM; TFLite UNIDIRECTIONAL_SEQUENCE_LSTM.
    """

    name: ClassVar[str] = "lstm"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(3, 7),
        *_recurrent.shape_rules(gates=4, states=2),
        Rule("peepholes are [3H]", _peephole),
        *_recurrent.activation_rules(3),
        Rule("cell_clip is 0 (none) or above", lambda op, _: 0 <= op.cell_clip < float("inf")),
    )
    quant: ClassVar[QuantRule] = QuantRule(integer=False, small=(1, 2))

    activations: tuple[str, ...] = ("sigmoid", "tanh", "tanh")
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0
    every_step: bool = True
    input_forget: bool = False
    cell_clip: float = 0.0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """All steps, the last hidden state and the last cell state."""
        self.require(inputs)
        return _recurrent.results(present(inputs, 0), present(inputs, 2).shape[1], 2, self.every_step)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return self._run(_recurrent.fast_dot, inputs)

    def float32(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        return self._run(_recurrent.ordered, inputs)

    @np.errstate(over="ignore", invalid="ignore")
    def _run(self, dot: _recurrent.Dot, inputs: tuple[Array | None, ...]) -> Arrays:
        x, w, r = (present(inputs, i) for i in range(3))
        b, p, hidden = optional(inputs, 3), optional(inputs, 6), r.shape[1]
        h, c = (_recurrent.initial(optional(inputs, i), x, hidden) for i in (4, 5))
        gate, candidate, act = _recurrent.functions_of(self)
        bias = np.zeros(1, np.float32) if b is None else b[: 4 * hidden] + b[4 * hidden :]
        peep = None if p is None else p.reshape(3, hidden)
        y = np.empty((*x.shape[:2], hidden), np.float32)
        for step, from_x in enumerate(dot(bias, x, w)):
            i, o, f, g = np.split(dot(from_x, h, r), 4, axis=-1)
            if peep is not None:
                i, f = i + peep[0] * c, f + peep[2] * c
            i = gate(_recurrent.clipped(i, self.clip))
            f = np.float32(1) - i if self.input_forget else gate(_recurrent.clipped(f, self.clip))
            c = f * c + i * candidate(_recurrent.clipped(g, self.clip))
            c = _recurrent.clipped(c, self.cell_clip)
            o = o if peep is None else o + peep[1] * c
            h = gate(_recurrent.clipped(o, self.clip)) * act(c)
            y[step] = h
        return y if self.every_step else y[-1:], h, c

    def macs(self, sig: Signature) -> int:
        """Both matrices at every step."""
        steps, batch, _ = sig.input(0).shape
        return steps * batch * (sig.input(1).size + sig.input(2).size)
