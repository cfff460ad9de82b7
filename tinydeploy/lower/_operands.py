"""Inputs that may be constants, values or absent, as arguments of a call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinydeploy.lower._contract import Argument, In, LowerContext, Tab, Table


def operands(ctx: LowerContext, names: Sequence[str], first: int) -> tuple[tuple[Argument, ...], tuple[Table, ...]]:
    """Arguments for the inputs from ``first`` on, and the tables of the constant ones, called ``names``.

    Absent inputs are null pointers.
    """
    arguments: list[Argument] = []
    tables = []
    for index, name in enumerate(names, start=first):
        source = ctx.node.inputs[index] if index < len(ctx.node.inputs) else None
        data = ctx.constant(index)
        if source is None:
            arguments.append(0)
        elif data is None:
            arguments.append(In(index))
        else:
            kind = ctx.signature.input(index)
            tables.append(Table(name, kind.elem.c_type, np.ascontiguousarray(data).ravel()))
            arguments.append(Tab(name))
    return tuple(arguments), tuple(tables)
