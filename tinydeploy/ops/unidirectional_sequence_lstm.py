"""TFLite's LSTM in integers: int8 activations and weights, an int16 cell state."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.numerics import fixed16, float32
from tinydeploy.numerics.requantise import (
    Ints,
    multiply_by_quantised_multiplier,
    quantise_multiplier,
    rounding_divide_by_pot,
    wrap_int32,
)
from tinydeploy.ops import _recurrent
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, count_rule, optional, present

GATE_BITS = 12  # fractional bits of what goes into the activation of a gate: Q3.12


def _shapes(_: Any, inputs: Types) -> bool:
    x, w, r, b = (optional(inputs, i) for i in range(4))
    states = [optional(inputs, i) for i in (4, 5)]
    if any(kind is None or kind.rank != rank for kind, rank in ((x, 3), (w, 2), (r, 2), (b, 1))):
        return False
    hidden = r.shape[1]
    if w.shape != (4 * hidden, x.shape[2]) or r.shape != (4 * hidden, hidden) or b.shape != (4 * hidden,):
        return False
    return hidden >= 1 and all(kind is not None and kind.shape == (x.shape[1], hidden) for kind in states)


def _elements(_: Any, inputs: Types) -> bool:
    wanted = (Elem.S8, Elem.S8, Elem.S8, Elem.S32, Elem.S8, Elem.S16)
    return all(kind is not None and kind.elem is elem for kind, elem in zip(inputs, wanted, strict=False))


def _cell(_: Any, inputs: Types) -> bool:
    c = optional(inputs, 5)
    if c is None or c.quant is None or c.quant.axis is not None or c.zero_point:
        return False
    return math.frexp(c.scale)[0] == 0.5 and 2**-15 <= c.scale <= 2**-9


@dataclasses.dataclass(frozen=True)
class Multipliers:
    """Q31 multipliers and shifts: of x and of h to Q3.12, one a gate, and of the product of o and act(c) to h.

    ``cell_bits``: fractional bits of the cell state. ``clip``: its limit in steps, 0 for none.
    """

    of_x: tuple[tuple[int, int], ...]
    of_h: tuple[tuple[int, int], ...]
    hidden: tuple[int, int]
    cell_bits: int
    clip: int


@dataclasses.dataclass(frozen=True)
class UnidirectionalSequenceLstm(Op):
    """LSTM over T steps, forward: ``c = f * c + i * g; h = o * tanh(c)``, all in integers.

    Inputs x [T, B, I] int8, w [4H, I] and r [4H, H] int8 (gates in the order i, f, g, o, a scale each, zero point 0),
    b [4H] int32, h0 [B, H] int8, c0 [B, H] int16 whose scale is a power of two. Outputs y [T, B, H], h, c.
    ``cell_clip``: limit of c in real numbers, 0 for none. ``hidden_scale``,
    ``hidden_zero_point``: of h as it is made. ``every_step``: see lstm.
    The sums of a gate are brought to Q3.12 one after the other; sigmoid and tanh are gemmlowp's in int16.
    Source: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM, lstm_eval EvalInteger8x8_16.
    """

    name: ClassVar[str] = "unidirectional_sequence_lstm"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(6),
        Rule("x is [T, B, I], the weights [4H, I] and [4H, H], the bias [4H], states [B, H]", _shapes),
        Rule("x, weights and h are int8, the bias int32, c int16", _elements),
        Rule("the scale of c is a power of two from 2**-15 to 2**-9, its zero point 0", _cell),
        Rule("cell_clip is not negative", lambda op, _: 0 <= op.cell_clip < math.inf),
        Rule("hidden_scale is above 0", lambda op, _: 0 < op.hidden_scale < math.inf),
    )
    quant: ClassVar[QuantRule] = QuantRule(weights=1, bias=3)

    cell_clip: float = 0.0
    hidden_scale: float = 1.0
    hidden_zero_point: int = 0
    every_step: bool = True

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """All steps and the last h in int8, the last c in int16."""
        self.require(inputs)
        (steps, batch, _), hidden = present(inputs, 0).shape, present(inputs, 2).shape[1]
        last = (batch, hidden)
        return Type((steps if self.every_step else 1, *last), Elem.S8), Type(last, Elem.S8), Type(last, Elem.S16)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 in and out."""
        x, w, r, b, h, c = (present(inputs, i) for i in range(6))
        y = []
        for from_x in _recurrent.fast_dot(b, x, w):
            i, f, g, o = np.split(_recurrent.fast_dot(from_x, h, r), 4, axis=-1)
            c = float32.sigmoid(f) * c + float32.sigmoid(i) * float32.tanh(g)
            c = _recurrent.clipped(c, self.cell_clip)
            h = float32.sigmoid(o) * float32.tanh(c)
            y.append(h)
        return np.stack(y if self.every_step else y[-1:]), h, c

    def multipliers(self, sig: Signature) -> Multipliers:
        """The constants of the types' scales; scales are multiplied in float32 as TFLite does."""
        x, w, r, h, c = (sig.input(i) for i in (0, 1, 2, 4, 5))
        step = np.float32(2.0**-GATE_BITS)

        def gates(weights: Type, scale: float) -> tuple[tuple[int, int], ...]:
            count = weights.shape[0] // 4
            assert weights.quant is not None
            every = np.broadcast_to(np.asarray(weights.quant.scale, np.float32), (weights.shape[0],))
            return tuple(quantise_multiplier(float(s * np.float32(scale) / step)) for s in every[::count])

        half = 2.0**-15
        hidden = quantise_multiplier(float(np.float32(half / float(np.float32(self.hidden_scale)) * half)))
        limit = np.float32(self.cell_clip) / np.float32(c.scale) if self.cell_clip > 0 else 0
        clip = int(min(float(limit), 32767.0))
        return Multipliers(gates(w, x.scale), gates(r, h.scale), hidden, -round(math.log2(c.scale)), clip)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """int8 in and out, c in int16."""
        x, w, r, b, h, c = (present(inputs, i).astype(np.int64) for i in range(6))
        m, kind = self.multipliers(sig), sig.outputs[0]
        of_x = wrap_int32((x - sig.input(0).zero_point) @ w.T + b)
        y = []
        for sums in of_x:
            of_h = wrap_int32((h - sig.input(4).zero_point) @ r.T)
            gates = zip(np.split(sums, 4, axis=-1), np.split(of_h, 4, axis=-1), m.of_x, m.of_h, strict=True)
            i, f, g, o = (_gate(*gate) for gate in gates)
            fresh = rounding_divide_by_pot(fixed16.sigmoid(i, 3) * fixed16.tanh(g, 3), 30 - m.cell_bits)
            c = fixed16.saturate(rounding_divide_by_pot(fixed16.sigmoid(f, 3) * c, 15) + fixed16.wrap(fresh))
            c = np.clip(c, -m.clip, m.clip) if m.clip > 0 else c
            product = fixed16.sigmoid(o, 3) * fixed16.tanh(c, 15 - m.cell_bits)
            h = multiply_by_quantised_multiplier(product, *m.hidden) + self.hidden_zero_point
            h = np.clip(h, *kind.elem.limits)
            y.append(h)
        every = np.stack(y if self.every_step else y[-1:])
        return every.astype(np.int8), h.astype(np.int8), c.astype(np.int16)

    def macs(self, sig: Signature) -> int:
        """Both matrices at every step."""
        steps, batch, _ = sig.input(0).shape
        return steps * batch * (sig.input(1).size + sig.input(2).size)


def _gate(of_x: Ints, of_h: Ints, x_multiplier: tuple[int, int], h_multiplier: tuple[int, int]) -> Ints:
    """Both sums of a gate in Q3.12, saturated one after the other."""
    first = fixed16.saturate(multiply_by_quantised_multiplier(of_x, *x_multiplier))
    return fixed16.saturate(first + multiply_by_quantised_multiplier(of_h, *h_multiplier))
