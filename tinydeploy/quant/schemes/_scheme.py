"""What a scheme says: the formats of weights, activations and biases, and the quantisation operators prescribe."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.ir import Elem, Quant
from tinydeploy.ops._op import QuantRule

# Below this a scale is no longer a normal float32 once it is multiplied with another one.
MIN_SCALE = 2.0**-60
# Of a tensor that is 0 whatever comes in: small, so that a bias that follows keeps its precision.
DEAD_SCALE = 2.0**-7


@dataclasses.dataclass(frozen=True)
class Format:
    """Integers ``low..high`` of ``elem``. A symmetric format has zero point 0."""

    elem: Elem
    low: int
    high: int
    symmetric: bool

    def quant(self, low: float, high: float) -> Quant:
        """The mapping that covers the real range ``low..high``; the range is widened to hold 0.

        The zero point is an integer, so that 0 is exact; the scale is a float32, never 0.
        """
        low, high = min(low, 0.0), max(high, 0.0)
        if low == high:
            return Quant.per_tensor(DEAD_SCALE, 0 if self.symmetric else self.low)
        if self.symmetric:
            return Quant.per_tensor(max(low / self.low, high / self.high, MIN_SCALE))
        scale = float(np.float32(max((high - low) / (self.high - self.low), MIN_SCALE)))
        zero_point = round(self.low - low / scale)
        return Quant.per_tensor(scale, min(max(zero_point, self.low), self.high))


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A level. ``fixed_outputs``: True if an operator's own int8 output quantisation (`QuantRule`) is used."""

    level: str
    name: str
    weights: Format
    activations: Format
    bias: Elem
    fixed_outputs: bool

    def fixed_output(self, rule: QuantRule) -> Quant | None:
        """The output quantisation an operator prescribes at this level, if any."""
        if rule.fixed_output is None or not self.fixed_outputs:
            return None
        return Quant.per_tensor(*rule.fixed_output)
