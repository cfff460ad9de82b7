"""Element-wise operators of several operands: how they walk a common shape, and when they read and write."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tinydeploy.ir import Array
from tinydeploy.lower._contract import AccessPlan, Argument, Bytes, In, LowerContext, Span, Tab, Table
from tinydeploy.lower._linear import is_s8
from tinydeploy.ops._op import Op, Signature

_OUTER = 5  # TD_BROADCAST_OUTER
_NAMES = ("size", "a_step", "b_step")


@dataclasses.dataclass(frozen=True)
class Walk:
    """Axes of the result, merged where all operands move alike, fastest last: (size, step of a, step of b, ...)."""

    axes: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(*shapes: tuple[int, ...]) -> Walk:
        """The walk over the last of ``shapes``, the common shape of the others."""
        out = shapes[-1]
        steps = [_steps(shape, len(out)) for shape in shapes[:-1]]
        axes: list[tuple[int, ...]] = []
        for size, *moves in zip(out, *steps, strict=True):
            if size == 1:
                continue
            if axes and axes[-1][1:] == tuple(size * move for move in moves):
                axes[-1] = (axes[-1][0] * size, *moves)
            else:
                axes.append((size, *moves))
        return Walk(tuple(axes) or ((1,) * len(shapes),))

    def fields(self) -> tuple[tuple[str, int], ...]:
        """The C struct td_broadcast as params fields, from the first two operands."""
        inner, a_step, b_step = self.axes[-1][:3]
        fields = [("shape.inner", inner), ("shape.a_inner_step", a_step), ("shape.b_inner_step", b_step)]
        for i, axis in enumerate(self._outer()):
            fields += [(f"shape.{name}[{i}]", value) for name, value in zip(_NAMES, axis[:3], strict=True)]
        return tuple(fields)

    def third(self) -> tuple[tuple[str, int], ...]:
        """The steps of the third operand as params fields."""
        steps = [(f"c_step[{i}]", axis[3]) for i, axis in enumerate(self._outer())]
        return (("c_inner_step", self.axes[-1][3]), *steps)

    def _outer(self) -> tuple[tuple[int, ...], ...]:
        """All axes but the last, as many as the C struct has."""
        return ((1, *(0 for _ in self.axes[0][1:])),) * (_OUTER + 1 - len(self.axes)) + self.axes[:-1]

    def access(self, constant: tuple[bool, ...], widths: tuple[int, ...] = (1, 1, 1)) -> AccessPlan:
        """Element by element along the inner axis; in pieces, each a step with the hull of its reads, if many.

        ``widths``: bytes of an element of each operand and of the result.
        """
        inner, *steps = self.axes[-1]
        starts = [np.zeros(1, np.int64) for _ in steps]
        for size, *outer in self.axes[:-1]:
            starts = [(s[:, None] + np.arange(size) * step).ravel() for s, step in zip(starts, outer, strict=True)]
        piece = max(1, inner * len(starts[0]) // 4096)  # at most some thousands of steps
        first = np.arange(0, inner, piece, dtype=np.int64)
        last = np.minimum(first + piece, inner) - 1
        reads = [
            None if fixed else _span(start, first * step, last * step, width)
            for start, step, fixed, width in zip(starts, steps, constant, widths[:-1], strict=True)
        ]
        writes = _span(np.arange(len(starts[0]), dtype=np.int64) * inner, first, last, widths[-1])
        return AccessPlan(tuple(reads), (writes,), reads_first=piece == 1)


def _steps(shape: tuple[int, ...], rank: int) -> list[int]:
    full = (1,) * (rank - len(shape)) + shape
    return [0 if size == 1 else math.prod(full[i + 1 :]) for i, size in enumerate(full)]


def _span(starts: Bytes, low: Bytes, high: Bytes, width: int) -> Span:
    return Span((starts[:, None] + low).ravel() * width, (starts[:, None] + high + 1).ravel() * width)


@dataclasses.dataclass(frozen=True)
class Binary:
    """A node of two int8 operands; either may be a constant."""

    sig: Signature
    walk: Walk
    arguments: tuple[Argument, Argument]
    tables: tuple[Table, ...]
    access: AccessPlan


def binary(ctx: LowerContext) -> Binary | None:
    """The operands of an element-wise node, or None where they or the result are not int8 with one scale."""
    sig = ctx.signature
    if not all(is_s8(kind) for kind in (*sig.inputs, *sig.outputs)):
        return None
    walk = Walk.of(sig.input(0).shape, sig.input(1).shape, sig.outputs[0].shape)
    constants = (ctx.constant(0), ctx.constant(1))
    arguments: list[Argument] = []
    tables = []
    for i, data in enumerate(constants):
        if data is None:
            arguments.append(In(i))
        else:
            name = "ab"[i]
            arguments.append(Tab(name))
            tables.append(Table(name, "int8_t", data.astype(np.int8).ravel()))
    access = walk.access((constants[0] is not None, constants[1] is not None))
    return Binary(sig, walk, (arguments[0], arguments[1]), tuple(tables), access)


def all_pairs(op: Op, sig: Signature) -> Array:
    """The twin's result for every pair of int8 operands: [256, 256] for a, b = -128..127."""
    every = np.arange(-128, 128, dtype=np.int8)

    kinds = (sig.input(0).with_shape((256, 1)), sig.input(1).with_shape((1, 256)))
    whole = Signature(kinds, (sig.outputs[0].with_shape((256, 256)),))
    return np.asarray(op.integer(whole, every[:, None], every[None, :])[0])
