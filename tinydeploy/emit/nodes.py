"""A node as C: its tables, its parameters and the one function that calls its kernel."""

from __future__ import annotations

import dataclasses

from tinydeploy.emit import literals
from tinydeploy.emit.names import comment, mangle
from tinydeploy.emit.tables import Tables
from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Graph, Type
from tinydeploy.lower._contract import (
    Argument,
    Call,
    In,
    Lowered,
    Out,
    Params,
    ParamsArg,
    Rows,
    Scratch,
    Symbol,
    Tab,
    Window,
)


@dataclasses.dataclass(frozen=True)
class NodeText:
    """Printed parts of a node: ``head`` (comment), ``tables`` (with params), ``function`` name, ``body`` lines.

    ``after``: what follows the call of the function in NAME_run, one hook an output.
    """

    head: str
    tables: tuple[str, ...]
    function: str
    body: tuple[str, ...]
    after: tuple[str, ...] = ()


class NodePrinter:
    """Prints one node. ``places``: C expression of the address (uint8_t *) of a value, ``scratch``: of the scratch."""

    def __init__(
        self, graph: Graph, low: Lowered, number: int, model: str, places: dict[str, str], scratch: str | None
    ) -> None:
        self.graph = graph
        self.low = low
        self.number = number
        self.stem = f"n{number}_{mangle(low.node.name)}"
        self.function = f"{model}_{self.stem}"
        self.places = places
        self.scratch = scratch
        self.symbols: dict[str, str] = {}

    def text(self, tables: Tables, head: str) -> NodeText:
        """Print tables, parameters and function."""
        call = self.low.offer.call
        assert call is not None
        lines: list[str] = []
        for table in self.low.offer.tables:
            self.symbols[table.name], defined = tables.add(f"{self.stem}_{mangle(table.name)}", table)
            lines += defined
        if self.low.offer.params is not None:
            lines += self._params(self.low.offer.params)
        body = [line for one in (call, *call.then) for line in self._body(one)]
        after = [
            f"TD_AFTER_NODE({self.number}, {self.places[name]}, {self.graph.type(name).nbytes});"
            for name in self.low.node.outputs
        ]
        return NodeText(head, tuple(lines), self.function, tuple(body), tuple(after))

    def _params(self, params: Params) -> list[str]:
        words = [f".{name} = {self._field(value)}" for name, value in params.fields]
        return [f"static const {params.c_type} {self.stem}_params = {{", *literals.wrap(words), "};"]

    def _field(self, value: int | float | str | Symbol) -> str:
        if isinstance(value, Symbol):
            return value.name
        return self._symbol(value) if isinstance(value, str) else literals.number(value)

    def _symbol(self, table: str) -> str:
        if table not in self.symbols:
            raise self._wrong(f"names the table {table!r}, which it does not have")
        return self.symbols[table]

    def _body(self, call: Call) -> list[str]:
        windows = dict(call.windows)
        if call.calls == 1 and all(window.rows == 1 and window.pad == 0 for window in windows.values()):
            rows = [self._one_row(index) for index in windows]
            return [*rows, *self._call(call, "    ", looped=False)]
        lines: list[str] = []
        for argument in call.arguments:
            if isinstance(argument, (In, Rows, Out)):
                lines += self._pointer(argument, lines)
        for index, window in windows.items():
            lines.append(f"    const {self._kind(index).elem.c_type} *rows{index}[{window.rows}];")
        lines.append("")
        lines.append(f"    for (int32_t y = 0; y < {call.calls}; ++y) {{")
        for index, window in windows.items():
            lines += self._rows(index, window)
        lines += self._call(call, "        ", looped=True)
        lines.append("    }")
        return lines

    def _one_row(self, index: int) -> str:
        """The row pointers of a kernel that sees its whole input as one row."""
        return f"    const {self._kind(index).elem.c_type} *const rows{index}[1] = {{{self._in(index)}}};"

    def _call(self, call: Call, indent: str, looped: bool) -> list[str]:
        """The kernel call, on as many lines as it takes."""
        lines = literals.wrap([self._argument(call, a, looped) for a in call.arguments], indent + "    ")
        first = f"{indent}{call.function}("
        if len(lines) == 1 and len(first) + len(lines[0].strip()) + 2 <= literals.WIDTH:
            return [f"{first}{lines[0].strip()});"]
        return [first, *lines[:-1], f"{lines[-1]});"]

    def _pointer(self, argument: In | Rows | Out, known: list[str]) -> list[str]:
        index = argument.index
        if isinstance(argument, Out):
            line = f"    {self._output(index).elem.c_type} *const out{index} = {self._out(index)};"
        else:
            line = f"    const {self._kind(index).elem.c_type} *const in{index} = {self._in(index)};"
        return [] if line in known else [line]

    def _rows(self, index: int, window: Window) -> list[str]:
        step = self._elements(window.row_bytes, self._kind(index))
        row = times("y", window.stride) + " + " + times("k", window.dilation)
        row += f" - {window.pad}" if window.pad else ""
        from_input = f"in{index} + row * {step}"
        if window.pad_table is not None:
            pad = self._symbol(window.pad_table)
            from_input = f"row < 0 || row >= {window.height} ? {pad} : {from_input}"
        return [
            f"        for (int32_t k = 0; k < {window.rows}; ++k) {{",
            f"            const int32_t row = {row};",
            f"            rows{index}[k] = {from_input};",
            "        }",
        ]

    def _argument(self, call: Call, argument: Argument, looped: bool) -> str:
        if isinstance(argument, ParamsArg):
            return f"&{self.stem}_params"
        if isinstance(argument, Tab):
            return self._symbol(argument.name)
        if isinstance(argument, Rows):
            return f"rows{argument.index}"
        if isinstance(argument, Scratch):
            if self.scratch is None:
                raise self._wrong("is called with scratch and asks for no bytes of it")
            return f"(void *)({self.scratch})"
        if isinstance(argument, In):
            if not looped:
                return self._in(argument.index)
            step = self._elements(dict(call.in_row_bytes).get(argument.index, 0), self._kind(argument.index))
            return f"in{argument.index} + {times('y', step)}" if step else f"in{argument.index}"
        if isinstance(argument, Out):
            if not looped:
                return self._out(argument.index)
            step = self._elements(call.out_row_bytes[argument.index], self._output(argument.index))
            return f"out{argument.index} + {times('y', step)}" if step else f"out{argument.index}"
        return literals.integer(argument)

    def _in(self, index: int) -> str:
        name = self.low.node.inputs[index]
        if name is None or name not in self.places:
            raise self._wrong(f"is called with input {index}, which is not in RAM")
        return cast(self.places[name], self._kind(index), const=True)

    def _out(self, index: int) -> str:
        return cast(self.places[self.low.node.outputs[index]], self._output(index))

    def _kind(self, index: int) -> Type:
        name = self.low.node.inputs[index]
        if name is None:
            raise self._wrong(f"is called with input {index}, which is absent")
        return self.graph.type(name)

    def _output(self, index: int) -> Type:
        return self.graph.type(self.low.node.outputs[index])

    def _elements(self, nbytes: int, kind: Type) -> int:
        size = kind.elem.dtype.itemsize
        if nbytes % size:
            raise self._wrong(f"steps by {nbytes} bytes through elements of {size}")
        return nbytes // size

    def _wrong(self, what: str) -> InternalError:
        return InternalError(Problem(f"node {self.low.node.name!r}", f"kernel {self.low.offer.kernel} {what}"))


def cast(address: str, kind: Type, const: bool = False) -> str:
    """A typed pointer to ``address``; wider elements go through void, as their alignment is the planner's promise."""
    through = "" if kind.elem.dtype.itemsize == 1 else "(const void *)" if const else "(void *)"
    return f"({'const ' if const else ''}{kind.elem.c_type} *){through}({address})"


def times(name: str, factor: int) -> str:
    """``name * factor``, shorter where it can be."""
    return name if factor == 1 else f"{name} * {factor}"


def head(graph: Graph, low: Lowered, number: int, macs: int, live: int) -> str:
    """The comment over a node."""
    shapes = " ".join(str(shape(graph.type(n))) for n in low.node.inputs if n is not None and graph.constant(n) is None)
    results = " ".join(shape(graph.type(n)) for n in low.node.outputs)
    lines = [
        f"node {number}: {low.node.op.name} '{comment(low.node.name, 50)}' {shapes} -> {results}",
        f"{comment(low.offer.kernel)}, {macs} MAC, {low.offer.weights_bytes} bytes of tables, {live} of the arena used",
        *([comment(low.offer.note, 110)] if low.offer.note else []),
    ]
    return "/* " + "\n * ".join(lines) + " */"


def shape(kind: Type) -> str:
    """Element type and shape as text: int8 1x28x28x1; the shape of rank 0 is called scalar."""
    return f"{kind.elem.value} {'x'.join(str(d) for d in kind.shape) or 'scalar'}"
