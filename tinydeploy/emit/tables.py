"""Constant tables as C text, each content stored once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tinydeploy.emit import literals
from tinydeploy.lower._contract import Table


class Tables:
    """Prints constant tables, each content once.

    Tables that repeat one value (rows of padding, mostly) are all parts of the longest such table; ``lines`` defines
    these. Any other table with the content of an earlier one is that one. ``nbytes``: flash of what was printed.
    """

    def __init__(self, model: str, tables: Sequence[Table]) -> None:
        self._known: dict[tuple[str, bytes, int], str] = {}
        self._shared: dict[tuple[str, bytes], str] = {}
        self.nbytes = 0
        self.lines: list[str] = []
        groups: dict[tuple[str, bytes], list[Table]] = {}
        for table in tables:
            if _is_uniform(table):
                groups.setdefault(_value(table), []).append(table)
        for key, same in groups.items():
            if len(same) > 1:
                longest = max(same, key=lambda table: table.data.size)
                union = dataclasses.replace(longest, align=max(table.align for table in same))
                symbol = f"{model}_same{len(self._shared)}"
                self.lines += self._define(symbol, union)
                self._shared[key] = symbol

    def add(self, symbol: str, table: Table) -> tuple[str, list[str]]:
        """Symbol to use for ``table`` and the lines that define it (none if it is known)."""
        if _is_uniform(table) and _value(table) in self._shared:
            return self._shared[_value(table)], []
        key = (table.c_type, table.data.tobytes(), table.align)
        if key in self._known:
            return self._known[key], []
        self._known[key] = symbol
        return symbol, self._define(symbol, table)

    def _define(self, symbol: str, table: Table) -> list[str]:
        self.nbytes += table.data.nbytes
        align = f"TD_ALIGN({table.align}) " if table.align > 1 else ""
        count = len(table.data)
        return [
            f"static const {align}{table.c_type} {symbol}[{count}] = {{",
            *literals.table(table.data, table.c_type),
            "};",
        ]


def _is_uniform(table: Table) -> bool:
    """True if all elements have the same bits."""
    data = table.data
    return data.ndim == 1 and data.size > 0 and data.tobytes() == data[:1].tobytes() * data.size


def _value(table: Table) -> tuple[str, bytes]:
    return table.c_type, table.data[:1].tobytes()
