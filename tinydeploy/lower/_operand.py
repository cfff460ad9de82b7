"""Operands that may be constants: what a kernel is called with, the table that holds it, and how it is read."""

from __future__ import annotations

import dataclasses

from tinydeploy.ir import Array, Elem, Type
from tinydeploy.lower._contract import AccessPlan, Argument, In, LowerContext, Span, Tab, Table, whole

_SHORT = {Elem.F32: "f32", Elem.BOOL: "u8"}


@dataclasses.dataclass(frozen=True)
class Operand:
    """``argument`` of the call, ``tables`` it needs, and the ``span`` it reads in one step (None: a constant)."""

    argument: Argument
    tables: tuple[Table, ...]
    span: Span | None


def operand(ctx: LowerContext, index: int, name: str, data: Array | None = None) -> Operand:
    """A present input; ``data`` is what a constant is stored as, if not as it is."""
    kind, constant = ctx.signature.input(index), ctx.constant(index)
    if constant is None:
        return Operand(In(index), (), whole(bytes_of(kind)))
    stored = constant.astype(kind.elem.dtype) if data is None else data
    return Operand(Tab(name), (Table(name, Elem(stored.dtype.name).c_type, stored.ravel()),), None)


def bytes_of(kind: Type) -> int:
    """Bytes of a tensor in memory."""
    return kind.size * kind.elem.dtype.itemsize


def apart(ctx: LowerContext, *operands: Operand | None) -> AccessPlan:
    """Everything is read and written in any order: no input may overlap an output."""
    spans = tuple(None if item is None else item.span for item in operands)
    writes = tuple(whole(bytes_of(kind)) for kind in ctx.signature.outputs)
    return AccessPlan(spans, writes, reads_first=False)


def suffix(elem: Elem) -> str:
    """The word for an element type in the names of C functions: s8 to u64, f32; bool is u8."""
    return _SHORT.get(elem, f"{'u' if elem.value.startswith('u') else 's'}{elem.bits}")


def is_simple(elem: Elem) -> bool:
    """True for the element types that C has: integers of 8 bits and more, bool, float32."""
    return elem is Elem.F32 or not (elem.is_float or elem is Elem.S4)
