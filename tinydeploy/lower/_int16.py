"""Kernels on int16 and other widths than a byte: access in bytes, operands of element-wise operators."""

from __future__ import annotations

import dataclasses

import numpy as np

from tinydeploy.ir import Elem, Type
from tinydeploy.lower._broadcast import Walk
from tinydeploy.lower._contract import AccessPlan, Argument, LowerContext, Span, Table, elementwise
from tinydeploy.lower._operand import bytes_of, operand, suffix

INTEGERS = (Elem.S8, Elem.U8, Elem.S16, Elem.S32)  # quantised types that td_rescale.h converts
_STEPS = 8192


def short(kind: Type | None) -> str | None:
    """The word for a quantised integer type with one scale in names of C functions, None for any other type."""
    if kind is None or kind.quant is None or len(kind.quant.scale) != 1 or kind.elem not in INTEGERS:
        return None
    if kind.elem is Elem.S32 and kind.zero_point != 0:
        return None
    return suffix(kind.elem)


def unary_access(ctx: LowerContext) -> AccessPlan:
    """Element by element, of whatever widths."""
    source, result = ctx.signature.input(0), ctx.signature.outputs[0]
    return elementwise((bytes_of(source),), bytes_of(result), min(result.size, _STEPS))


def _in_bytes(span: Span, width: int) -> Span:
    return Span(span.low * np.int64(width), span.high * np.int64(width))


@dataclasses.dataclass(frozen=True)
class Operands:
    """A node of two operands of one type: how they are walked, the arguments and tables of constants, the access."""

    walk: Walk
    arguments: tuple[Argument, Argument]
    tables: tuple[Table, ...]
    access: AccessPlan


def operands(ctx: LowerContext) -> Operands:
    """The operands of an element-wise node; elements of any width."""
    sig = ctx.signature
    walk = Walk.of(sig.input(0).shape, sig.input(1).shape, sig.outputs[0].shape)
    a, b = operand(ctx, 0, "a"), operand(ctx, 1, "b")
    plan = walk.access((a.span is None, b.span is None))
    width = sig.outputs[0].elem.dtype.itemsize
    access = AccessPlan(
        tuple(None if span is None else _in_bytes(span, width) for span in plan.reads),
        tuple(_in_bytes(span, width) for span in plan.writes),
        plan.reads_first,
    )
    return Operands(walk, (a.argument, b.argument), (*a.tables, *b.tables), access)
