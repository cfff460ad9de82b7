"""Maximum pooling that also says where each maximum was."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from tinydeploy.ir.types import Array, Elem, Type
from tinydeploy.ops import _pool
from tinydeploy.ops._op import Arrays, Op, QuantRule, Rule, Signature, Types, present
from tinydeploy.ops._windows import Padding, Pair
from tinydeploy.ops._windows_nd import taps_of


@dataclasses.dataclass(frozen=True)
class MaxPool2dIndices(Op):
    """`max_pool2d`, and the place of each maximum: int64 indices into x as if it were channels-first and flat.

    x [N, H, W, C]; values [N, OH, OW, C], indices of the same shape: ``((n * C + c) * H + i) * W + j``, with
    ``storage_order`` 1 ``(n * C + c) * H * W + i + j * H``. The first of equal values counts. ``padding`` is (top,
    bottom, left, right). A NaN is never a maximum.
    Source: ONNX MaxPool with two outputs.
    """

    name: ClassVar[str] = "max_pool2d_indices"
    rules: ClassVar[tuple[Rule, ...]] = _pool.RULES
    quant: ClassVar[QuantRule] = QuantRule(integer=False)

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Padding = (0, 0, 0, 0)
    storage_order: int = 0

    def infer(self, inputs: Types) -> tuple[Type, ...]:
        """[N, OH, OW, C] with the input's element type, and int64 of the same shape."""
        self.require(inputs)
        (values,) = _pool.infer(self, inputs)
        return values, Type(values.shape, Elem.S64)

    def reference(self, *inputs: Array | None) -> Arrays:
        """Float32 or plain integers in; values and indices out."""
        x = present(inputs, 0)
        batch, height, width, channels = x.shape
        rows, columns = np.arange(height)[:, None, None], np.arange(width)[:, None]
        flat = rows + columns * height if self.storage_order else rows * width + columns
        planes = np.arange(batch)[:, None, None, None] * channels + np.arange(channels)
        places = (planes * (height * width) + flat).astype(np.int64)
        axes = _pool.axes_of(self, x.shape)
        shape = (batch, *(axis.out for axis in axes), channels)
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        values, indices, found = np.full(shape, lowest, x.dtype), np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
        for _, to, at in taps_of(axes):
            better = (x[at] > values[to]) | (~found[to] & (x[at] == values[to]))
            values[to] = np.where(better, x[at], values[to])
            indices[to] = np.where(better, places[at], indices[to])
            found[to] |= better
        return values, indices

    def integer(self, sig: Signature, *inputs: Array | None) -> Arrays:
        """Plain integers."""
        return self.reference(*inputs)
