"""What recurrent operators share: activations of gates, sums of gates, and rules about shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.numerics import float32
from tinydeploy.ops._op import Rule, Types, optional
from tinydeploy.ops._sums import Reals, ordered_dot

Dot: TypeAlias = Callable[[Array, Array, Array], Reals]


@dataclasses.dataclass(frozen=True)
class Activation:
    """A function of a gate: ``apply(x, alpha, beta)`` in float32 as the C computes it; ONNX's default constants."""

    apply: Callable[[Reals, np.float32, np.float32], Reals]
    alpha: float = 0.0
    beta: float = 0.0


_ZERO, _ONE = np.float32(0), np.float32(1)


def _softplus(x: Reals) -> Reals:
    return np.asarray(np.where(x > 0, x, _ZERO) + float32.log1p(float32.exp(-np.abs(x))))


def _hard_sigmoid(x: Reals, alpha: np.float32, beta: np.float32) -> Reals:
    y = alpha * x + beta
    return np.asarray(np.where(y > 1, _ONE, np.where(y < 0, _ZERO, y)))


ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": Activation(lambda x, a, b: float32.sigmoid(x)),
    "tanh": Activation(lambda x, a, b: float32.tanh(x)),
    "relu": Activation(lambda x, a, b: np.asarray(np.where(x < 0, _ZERO, x))),
    "affine": Activation(lambda x, a, b: a * x + b, alpha=1.0),
    "leaky_relu": Activation(lambda x, a, b: np.asarray(np.where(x < 0, a * x, x)), alpha=0.01),
    "thresholded_relu": Activation(lambda x, a, b: np.asarray(np.where(x < a, _ZERO, x)), alpha=1.0),
    "scaled_tanh": Activation(lambda x, a, b: a * float32.tanh(b * x), alpha=1.0, beta=1.0),
    "hard_sigmoid": Activation(_hard_sigmoid, alpha=0.2, beta=0.5),
    "elu": Activation(lambda x, a, b: np.asarray(np.where(x < 0, a * float32.expm1(x), x)), alpha=1.0),
    "softsign": Activation(lambda x, a, b: x / (_ONE + np.abs(x))),
    "softplus": Activation(lambda x, a, b: _softplus(x)),
}


def constants_of(op: Any) -> list[tuple[str, float, float]]:
    """(activation, alpha, beta) of each of the operator's activations; defaults where it states none."""
    found = []
    for index, name in enumerate(op.activations):
        known = ACTIVATIONS[name]
        alpha = op.alphas[index] if op.alphas else known.alpha
        found.append((name, alpha, op.betas[index] if op.betas else known.beta))
    return found


def functions_of(op: Any) -> list[Callable[[Reals], Reals]]:
    """The operator's activations as functions of an array."""

    def bind(name: str, alpha: float, beta: float) -> Callable[[Reals], Reals]:
        return lambda x: ACTIVATIONS[name].apply(x, np.float32(alpha), np.float32(beta))

    return [bind(*item) for item in constants_of(op)]


def clipped(x: Reals, clip: float) -> Reals:
    """X within -clip .. clip, where clip is above 0."""
    return np.asarray(np.clip(x, -np.float32(clip), np.float32(clip))) if clip > 0 else x


def fast_dot(start: Array, x: Array, weights: Array) -> Reals:
    """``start + x @ weights.T`` in whatever order."""
    return np.asarray(np.asarray(start, np.float32) + x @ weights.T, np.float32)


def ordered(start: Array, x: Array, weights: Array) -> Reals:
    """The same in the order of the C."""
    return ordered_dot(start, x, weights)


def initial(state: Array | None, x: Array, hidden: int) -> Reals:
    """A state at the first step, [batch, hidden]: zeros where it is absent."""
    return np.zeros((x.shape[1], hidden), np.float32) if state is None else np.asarray(state, np.float32)


def activation_rules(count: int) -> tuple[Rule, ...]:
    """That activations are known, and that constants are none or one each."""
    words = "1 activation" if count == 1 else f"{count} activations"
    return (
        Rule(
            f"{words} out of {', '.join(ACTIVATIONS)}",
            lambda op, _: len(op.activations) == count and all(name in ACTIVATIONS for name in op.activations),
        ),
        Rule(
            "alphas and betas have a finite value for each activation, or none",
            lambda op, _: all(len(v) in (0, count) and bool(np.all(np.isfinite(v))) for v in (op.alphas, op.betas)),
        ),
        Rule("clip is 0 (none) or above", lambda op, _: 0 <= op.clip < float("inf")),
    )


def shape_rules(gates: int, states: int) -> tuple[Rule, ...]:
    """That x, weights, bias and initial states (inputs 4 on) fit each other."""

    def fits(op: Any, inputs: Types) -> bool:
        x, w, r, b = (optional(inputs, i) for i in range(4))
        if any(kind is None or kind.rank != rank for kind, rank in ((x, 3), (w, 2), (r, 2))):
            return False
        hidden = r.shape[1]
        if hidden < 1 or w.shape != (gates * hidden, x.shape[2]) or r.shape != (gates * hidden, hidden):
            return False
        if b is not None and b.shape != (2 * gates * hidden,):
            return False
        given = [optional(inputs, 4 + i) for i in range(states)]
        return all(kind is None or kind.shape == (x.shape[1], hidden) for kind in given)

    text = (
        f"x is [T, B, I], the weights [{gates}H, I] and [{gates}H, H], the bias [{2 * gates}H], initial states [B, H]"
    )
    return (Rule(text.replace("[1H", "[H"), fits),)


def results(x: Type, hidden: int, states: int, every_step: bool) -> tuple[Type, ...]:
    """Types of the outputs: all steps [T, B, H] or the last one [1, B, H], then the last states [B, H]."""
    steps, batch, _ = x.shape
    last = Type((batch, hidden), x.elem)
    return (Type((steps if every_step else 1, batch, hidden), x.elem), *(last,) * states)
