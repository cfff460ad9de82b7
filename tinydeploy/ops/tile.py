"""A tensor repeated along its axes."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._moving import Moving
from tinydeploy.ops._op import Arrays, Rule, Signature, Types, count_rule, optional, present


def _counts(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    return x is not None and len(op.repeats) == x.rank and min(op.repeats, default=1) >= 1


@dataclasses.dataclass(frozen=True)
class Tile(Moving):
    """x ``repeats[i]`` times one after the other along axis i. Source: TFLite TILE; ONNX Tile."""

    name: ClassVar[str] = "tile"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), Rule("repeats has a count of at least 1 an axis", _counts))

    repeats: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The multiplied shape with x's element type."""
        self.require(inputs)
        x = present(inputs, 0)
        return (Type(tuple(d * n for d, n in zip(x.shape, self.repeats, strict=True)), x.elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (np.tile(present(inputs, 0), self.repeats),)

    def batchable(self, sig: Signature) -> bool:
        """True if axis 0 is not repeated."""
        return self.repeats[:1] == (1,)
