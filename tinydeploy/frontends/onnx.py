"""ONNX files to `Graph`, opset 7 to the newest.

`onnx_model` reads the file, `onnx_ops` holds one small function an operator, and this module walks the nodes: what is
known while importing (shapes, constants) is computed at once, everything else becomes operators of ours. Functions of
the model's own, branches and loops are walked into where they stand.
Channels-first operators are surrounded by transposes; the passes remove them.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.frontends._common import Builder, make, model_name, read_file, short, source
from tinydeploy.frontends.onnx_call import KEPT, Call, Failed, Known, Origins, Results, Source, Translate, evaluate
from tinydeploy.frontends.onnx_graphs import RawFunction, RawGraph, RawNode, bound
from tinydeploy.frontends.onnx_inference import inferred_types
from tinydeploy.frontends.onnx_inputs import bind_symbols, input_type
from tinydeploy.frontends.onnx_model import MAX_NODES, RawModel, read
from tinydeploy.frontends.onnx_ops import tables
from tinydeploy.ir import Graph, Type, Value

SUFFIXES = (".onnx",)

_REARRANGE = ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten")  # of integers that weights were
_MAX_CALLS = 32  # functions within functions
_OTHERS = "`tinydeploy ops` lists the operators; another export or opset may avoid this one"
_CHOICE = "end the model at the scores this is computed from, and choose among them in the application"


class _Unknown:
    """Stands for the result of a node that could not be translated and whose shape nobody knows."""


_UNKNOWN = _Unknown()


class _TooLargeError(InputError):
    """Ends the import at once: going on to list further problems would take for ever."""


_Scope = collections.ChainMap[str, "Known | _Unknown"]


@dataclasses.dataclass(frozen=True)
class _Context:
    """Where a node stands: its operator sets, the attributes and names of the functions around it."""

    opsets: Mapping[str, int]
    attributes: dict[str, Any] | None = None
    calls: tuple[tuple[str, str, str], ...] = ()
    main: bool = False


def load(path: Path, input_shapes: Mapping[str, tuple[int, ...]] | None = None) -> Graph:
    """Read an ONNX model. Symbols on axis 0 of an input become 1; others are taken from ``input_shapes``.

    Raises: InputError if the file cannot be used, UnsupportedError with everything in it that is not supported,
    UsageError if ``input_shapes`` does not fit the model.
    """
    path = Path(path)
    data = read_file(path)
    raw = read(data, path)
    graph = Graph(model_name(path), source=source(path, data, "onnx"))
    graph.warnings += raw.notes
    try:
        return _Import(path.name, data, raw, Builder(graph)).run(input_shapes or {})
    except _TooLargeError as error:
        raise InputError(error.problems) from None


class _Import:
    def __init__(self, file: str, data: bytes, raw: RawModel, builder: Builder) -> None:
        self.file, self.data, self.raw, self.builder = file, data, raw, builder
        self.fallback: dict[str, Type] | None = None  # types by ONNX's own inference, asked for after a failure
        self.walked = 0
        self.origins = Origins()

    def run(self, shapes: Mapping[str, tuple[int, ...]]) -> Graph:
        graph, main = self.builder.graph, self.raw.graph
        for name in [*main.inputs, *(o for n in main.nodes for o in n.outputs if o)]:
            self.builder.unique(name)  # a tensor keeps its name; generated names step aside
        scope: _Scope = collections.ChainMap(dict(main.constants))
        self._inputs(shapes, scope)
        self._walk(main, scope, _Context(self.raw.opsets, main=True))
        for name in main.outputs:
            self._output(name, scope)
        self.builder.finish()
        graph.prune()
        return graph

    def _inputs(self, shapes: Mapping[str, tuple[int, ...]], scope: _Scope) -> None:
        symbols = bind_symbols(self.file, self.raw.inputs, shapes)
        for entry in self.raw.inputs:
            where = f"{self.file}: input {short(entry.name)!r}"
            try:
                kind = input_type(entry, shapes.get(entry.name), symbols, self.builder)
            except TinydeployError as error:
                self.builder.note(error, where)
                scope[entry.name] = _UNKNOWN
                continue
            self.builder.graph.values[entry.name] = Value(entry.name, kind)
            self.builder.graph.inputs.append(entry.name)
            scope[entry.name] = entry.name

    def _walk(self, graph: RawGraph, scope: _Scope, context: _Context) -> None:
        """Translate the nodes of a graph whose inputs and constants are in ``scope``."""
        self.origins.narrow.update(graph.narrow)
        reads = set(graph.outputs).union(*(node.reads() for node in graph.nodes))
        for node in graph.nodes:
            self.walked += 1
            if self.walked > MAX_NODES:
                rule = f"at most {MAX_NODES} with loops unrolled and functions put in"
                raise _TooLargeError(Problem(self.file, "grows too large while its loops are unrolled", rule))
            bare = node if context.attributes is None else bound(node, context.attributes)
            self._node(bare, reads, scope, context)

    def _inner(self, graph: RawGraph, given: Sequence[Known], outer: _Scope, context: _Context) -> tuple[Source, ...]:
        """Results of a graph within the graph, its inputs bound in order to ``given``.

        Raises: Failed if there are none, for reasons that are noted.
        """
        scope = outer.new_child(dict(graph.constants))
        scope.update(dict.fromkeys(graph.inputs))
        scope.update(zip(graph.inputs, given, strict=False))
        self._walk(graph, scope, dataclasses.replace(context, main=False))
        results = tuple(scope[name] for name in graph.outputs)
        found = tuple(r for r in results if isinstance(r, str | np.ndarray))
        if len(found) < len(results):
            raise Failed
        return found

    def _node(self, node: RawNode, reads: set[str], scope: _Scope, context: _Context) -> None:
        where = f"{self.file}: node {node.origin}"
        missing = next((name for name in node.inputs if name and name not in scope), None)
        if missing is not None:
            self._fail(node, InputError(Problem("", f"reads {short(missing)!r}, which nobody writes")), where, scope)
            return
        sources = tuple(None if name == "" else scope[name] for name in node.inputs)
        known = tuple(s for s in sources if not isinstance(s, _Unknown))
        if len(known) < len(sources):
            self._fail(node, None, where, scope)
            return
        before = len(self.builder.graph.nodes)
        wanted = max((i + 1 for i, name in enumerate(node.outputs) if name in reads), default=0)
        call = Call(node, context.opsets.get(node.domain, 0), self.builder, known, wanted)
        call.origins = self.origins
        call.walk = lambda graph, given: self._inner(graph, given, scope, context)
        try:
            results = self._results(call, context, before)
        except _TooLargeError:
            raise
        except TinydeployError as error:
            self._fail(node, error, where, scope)
            return
        except Failed:
            self._fail(node, None, where, scope)
            return
        if node.op_type in _REARRANGE and node.inputs[0] in self.origins.scales:
            self.origins.scales[node.outputs[0]] = self.origins.scales[node.inputs[0]]
        made = {name for new in self.builder.graph.nodes[before:] for name in new.outputs}
        for name, result in zip(node.outputs, results, strict=False):
            if name and isinstance(result, str) and result in made:
                kept = name if context.main else self.builder.unique(name)
                self._rename(result, kept, before)
                made.discard(result)
                scope[name] = kept
            elif name:
                scope[name] = result

    def _results(self, call: Call, context: _Context, before: int) -> Results:
        """What a node computes.

        Raises: UnsupportedError or InputError without a place, Failed.
        """
        node = call.node
        path = (node.domain, node.op_type, node.overload)
        function = self.raw.functions.get(path)
        if function is not None:
            return self._call(function, path, call, context)
        translations, folds = tables()
        key = (node.domain, node.op_type)
        if key not in translations and key not in folds:
            hint = _CHOICE if node.op_type in ("NonMaxSuppression", "NonZero", "ZipMap") else _OTHERS
            raise UnsupportedError(Problem("", f"operator {node.op_type} is not supported", hint=hint))
        constant = all(not isinstance(s, str) for s in call.sources)
        results = _translate(call, folds[key] if key in folds and constant else translations.get(key))
        return evaluate(self.builder.graph, before, results) if constant and key not in KEPT else results

    def _call(self, function: RawFunction, path: tuple[str, str, str], call: Call, context: _Context) -> Results:
        """Put in the body of a function of the model's own."""
        if path in context.calls or len(context.calls) >= _MAX_CALLS:
            rule = f"functions call others, not themselves, at most {_MAX_CALLS} deep"
            raise UnsupportedError(Problem("", "calls itself, or functions without end", rule))
        strangers = sorted(set(call.node.attributes) - {*function.attributes, *function.defaults})
        if strangers:
            raise InputError(Problem("", f"has the attribute {strangers[0]!r}, which its function does not take"))
        context = _Context(
            {**context.opsets, **function.opsets},
            {**function.defaults, **call.node.attributes},
            (*context.calls, path),
        )
        return self._inner(function.body, call.sources, collections.ChainMap(), context)

    def _fail(self, node: RawNode, error: TinydeployError | None, where: str, scope: _Scope) -> None:
        """Note the problem and go on as far as shapes allow, so that all problems are seen at once."""
        if error is not None:
            self.builder.note(error, where)
        needed = any(name in other.inputs for other in self.raw.graph.nodes for name in node.outputs)
        if self.fallback is None and needed:
            graph = self.builder.graph
            self.fallback = inferred_types(self.data, {name: graph.type(name) for name in graph.inputs})
        for name in node.outputs:
            kind = self.fallback.get(name) if self.fallback and len(scope.maps) == 1 else None
            scope[name] = _UNKNOWN if kind is None else name
            if kind is not None:
                self.builder.graph.values[name] = Value(name, kind)

    def _rename(self, old: str, new: str, first: int) -> None:
        values = self.builder.graph.values
        value = values.pop(old)
        value.name = new
        values[new] = value
        for node in self.builder.graph.nodes[first:]:
            node.inputs = tuple(new if name == old else name for name in node.inputs)
            node.outputs = tuple(new if name == old else name for name in node.outputs)

    def _output(self, name: str, scope: _Scope) -> None:
        graph, where = self.builder.graph, f"{self.file}: output {short(name)!r}"
        result = scope[name]
        if name in graph.outputs:
            self.builder.note(InputError(Problem(where, "is listed twice", "an output is listed once")))
        elif isinstance(result, np.ndarray):
            if 0 in result.shape:
                self.builder.note(UnsupportedError(Problem(where, f"has shape {list(result.shape)}", "some elements")))
                return
            held = self.builder.constant(name, result)
            self._rename(held, name, len(graph.nodes))
            graph.outputs.append(name)
            graph.warnings.append(f"output {short(name)!r} is the same whatever comes in")
        elif isinstance(result, str):
            if result != name or name in graph.inputs:
                copy = self.builder.unique(name) if name in graph.inputs else name
                shape = graph.type(result).shape
                self.builder.node(
                    make("reshape", shape=shape), [result], stem=f"{name}_copy", origin=where, outputs=[copy]
                )
                name = copy
            graph.outputs.append(name)


def _translate(call: Call, function: Translate | None) -> Results:
    """Run a translation and check that it saw everything the node asks for.

    Raises: UnsupportedError or InputError without a place.
    """
    if function is None:
        rule = "this operator is taken where all its inputs are known while importing"
        raise UnsupportedError(Problem("", "is computed at run time", rule, "simplify the model (onnxsim)"))
    try:
        results = function(call)
    except (ValueError, IndexError, TypeError, KeyError, ArithmeticError, AttributeError, MemoryError) as error:
        raise InputError(Problem("", f"cannot be understood: {error}", "attributes fit the inputs")) from error
    unread = sorted(set(call.node.attributes) - call.asked)
    if unread:
        what = f"has the attribute {', '.join(unread)}, which is not supported"
        raise UnsupportedError(Problem("", what, hint="export the model without it"))
    if call.wanted > len(results):
        what = f"output {call.wanted - 1} ({short(call.node.outputs[call.wanted - 1])!r}) is used"
        raise UnsupportedError(Problem("", what, f"only the first {len(results)} of its outputs are computed"))
    return results
