"""Part of a tensor, with steps."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tinydeploy.ir.types import Array, Type
from tinydeploy.ops._op import (
    Arrays,
    Op,
    QuantRule,
    Rule,
    Signature,
    Types,
    count_rule,
    optional,
    present,
    require_tied,
)


def _bounds(op: Any, inputs: Types) -> bool:
    x = optional(inputs, 0)
    if x is None or not len(op.begin) == len(op.end) == len(op.stride) == x.rank:
        return False
    return all(
        step != 0 and 0 <= begin < size and -1 <= end <= size and len(range(begin, end, step)) > 0
        for begin, end, step, size in zip(op.begin, op.end, op.stride, x.shape, strict=True)
    )


@dataclasses.dataclass(frozen=True)
class StridedSlice(Op):
    """Elements ``range(begin, end, stride)`` of each axis; bounds are normalised: no index counts from the end.

    A negative stride walks backwards; ``end`` -1 then means that index 0 is included.
    Source: TFLite STRIDED_SLICE, SLICE; ONNX Slice.
    """

    name: ClassVar[str] = "strided_slice"
    rules: ClassVar[tuple[Rule, ...]] = (
        count_rule(1),
        Rule("begin, end and stride have a value for each axis, in range, and select something", _bounds),
    )
    quant: ClassVar[QuantRule] = QuantRule(ties=True)

    begin: tuple[int, ...] = ()
    end: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """The selected shape with the input's element type."""
        self.require(inputs)
        bounds = zip(self.begin, self.end, self.stride, strict=True)
        return (Type(tuple(len(range(*bound)) for bound in bounds), present(inputs, 0).elem),)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Any element type."""
        bounds = zip(self.begin, self.end, self.stride, strict=True)
        return (present(inputs, 0)[tuple(slice(b, None if e < 0 else e, s) for b, e, s in bounds)],)

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """As `reference`."""
        require_tied(self, sig)
        return self.reference(*inputs)
