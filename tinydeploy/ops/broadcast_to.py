"""A tensor stretched to a larger shape."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._moving import Moving
from tinydeploy.ops._op import Arrays, Rule, Types, count_rule, optional, present


def _fits(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or x.rank > len(op.shape):
        return False
    return all(d in (1, wanted) for d, wanted in zip(x.shape[::-1], op.shape[::-1], strict=False))


@dataclasses.dataclass(frozen=True)
class BroadcastTo(Moving):
    """x repeated along axes of length 1, and along new axes in front, up to ``shape``.

    Source: TFLite BROADCAST_TO; ONNX Expand.
    """

    name: ClassVar[str] = "broadcast_to"
    rules: ClassVar[tuple[Rule, ...]] = (count_rule(1), Rule("the input's shape broadcasts to the new one", _fits))

    shape: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """``shape`` with x's element type."""
        self.require(inputs)
        return (Type(self.shape, present(inputs, 0).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        return (np.broadcast_to(present(inputs, 0), self.shape).copy(),)
