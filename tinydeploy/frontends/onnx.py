"""ONNX files to `Graph`, opset 7 to the newest.

`onnx_model` reads the file, `onnx_ops` holds one small function an operator, and this module walks the nodes: what is
known while importing (shapes, constants) is computed at once, everything else becomes operators of ours.
Channels-first operators are surrounded by transposes; the passes remove them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError, UsageError
from tinydeploy.frontends._common import Builder, checked_shape, make, model_name, read_file, short, source
from tinydeploy.frontends.onnx_call import Call, Results, Translate
from tinydeploy.frontends.onnx_model import RawInput, RawModel, RawNode, inferred_types, read
from tinydeploy.frontends.onnx_ops import tables
from tinydeploy.ir import Array, Graph, Type, Value

SUFFIXES = (".onnx",)


_OTHERS = "`tinydeploy ops` lists the operators; another export or opset may avoid this one"
_CHOICE = "end the model at the scores this is computed from, and choose among them in the application"


class _Unknown:
    """Stands for the result of a node that could not be translated and whose shape nobody knows."""


_UNKNOWN = _Unknown()


def load(path: Path, input_shapes: Mapping[str, tuple[int, ...]] | None = None) -> Graph:
    """Read an ONNX model. Symbols on axis 0 of an input become 1; others are taken from ``input_shapes``.

    Raises: InputError if the file cannot be used, UnsupportedError with everything in it that is not supported,
    UsageError if ``input_shapes`` does not fit the model.
    """
    path = Path(path)
    data = read_file(path)
    raw = read(data, path.name)
    graph = Graph(model_name(path), source=source(path, data, "onnx"))
    return _Import(path.name, data, raw, Builder(graph)).run(input_shapes or {})


class _Import:
    def __init__(self, file: str, data: bytes, raw: RawModel, builder: Builder) -> None:
        self.file, self.data, self.raw, self.builder = file, data, raw, builder
        self.known: dict[str, str | Array | _Unknown] = dict(raw.constants)
        self.fallback: dict[str, Type] | None = None  # types by ONNX's own inference, asked for after a failure

    def run(self, shapes: Mapping[str, tuple[int, ...]]) -> Graph:
        graph = self.builder.graph
        for name in [i.name for i in self.raw.inputs] + [o for n in self.raw.nodes for o in n.outputs if o]:
            self.builder.unique(name)  # a tensor keeps its name; generated names step aside
        self._inputs(shapes)
        reads = {name for node in self.raw.nodes for name in node.inputs} | set(self.raw.outputs)
        for node in self.raw.nodes:
            self._node(node, reads)
        for name in self.raw.outputs:
            self._output(name)
        self.builder.finish()
        graph.prune()
        return graph

    def _inputs(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        names = [i.name for i in self.raw.inputs]
        strangers = [name for name in shapes if name not in names]
        if strangers:
            hint = f"the inputs are {', '.join(map(repr, names))}"
            raise UsageError([Problem(self.file, f"has no input {name!r}", hint=hint) for name in strangers])
        symbols: dict[str, int] = {}
        for entry in self.raw.inputs:
            self._bind_symbols(entry, shapes.get(entry.name), symbols)
        for entry in self.raw.inputs:
            where = f"{self.file}: input {short(entry.name)!r}"
            try:
                kind = self._input_type(entry, shapes.get(entry.name), symbols)
            except TinydeployError as error:
                self.builder.note(error, where)
                self.known[entry.name] = _UNKNOWN
                continue
            self.builder.graph.values[entry.name] = Value(entry.name, kind)
            self.builder.graph.inputs.append(entry.name)
            self.known[entry.name] = entry.name

    def _bind_symbols(self, entry: RawInput, given: tuple[int, ...] | None, symbols: dict[str, int]) -> None:
        if entry.dims is None:
            return
        if given is not None:
            fits = len(given) == len(entry.dims) and all(
                g == d for g, d in zip(given, entry.dims, strict=True) if isinstance(d, int)
            )
            if not fits:
                shape = "x".join("?" if d is None else str(d) for d in entry.dims)
                raise UsageError(Problem(f"--input-shape {entry.name}", f"{list(given)} does not fit {shape}"))
            for dim, size in zip(entry.dims, given, strict=True):
                if isinstance(dim, str):
                    symbols[dim] = size
        elif entry.dims and isinstance(entry.dims[0], str):
            symbols.setdefault(entry.dims[0], 1)

    def _input_type(self, entry: RawInput, given: tuple[int, ...] | None, symbols: Mapping[str, int]) -> Type:
        if entry.elem is None:
            raise UnsupportedError(Problem("", "has an element type that is not supported", "numbers or bool"))
        if given is not None:
            return Type(checked_shape(given, ""), entry.elem)
        if entry.dims is None:
            hint = f"--input-shape {entry.name}=1,..."
            raise InputError(Problem("", "has no shape in the file", "shapes are known when C is generated", hint))
        shape = [
            d if isinstance(d, int) else symbols.get(d or "", 1 if i == 0 else 0) for i, d in enumerate(entry.dims)
        ]
        if 0 in shape:
            open_axes = [f"{d or '?'} (axis {i})" for i, d in enumerate(entry.dims) if shape[i] == 0]
            hint = f"--input-shape {entry.name}={','.join(str(d) if d else 'N' for d in shape)}"
            raise InputError(
                Problem(
                    "", f"has open dimensions: {', '.join(open_axes)}", "shapes are known when C is generated", hint
                )
            )
        if not all(isinstance(d, int) for d in entry.dims):
            self.builder.graph.warnings.append(f"input {short(entry.name)!r} has open dimensions: taken as {shape}")
        return Type(checked_shape(shape, ""), entry.elem)

    def _node(self, node: RawNode, reads: set[str]) -> None:
        where = f"{self.file}: node {node.origin}"
        translations, folds = tables()
        key = (node.domain, node.op_type)
        if key not in translations and key not in folds:
            hint = _CHOICE if node.op_type in ("ArgMax", "ArgMin", "TopK", "ZipMap") else _OTHERS
            self._fail(
                node, UnsupportedError(Problem("", f"operator {node.op_type} is not supported", hint=hint)), where
            )
            return
        sources = tuple(None if name == "" else self.known[name] for name in node.inputs)
        if any(isinstance(s, _Unknown) for s in sources):
            self._fail(node, None, where)
            return
        before = len(self.builder.graph.nodes)
        wanted = max((i + 1 for i, name in enumerate(node.outputs) if name in reads), default=0)
        known = tuple(s for s in sources if not isinstance(s, _Unknown))
        call = Call(node, self.raw.opsets.get(node.domain, 0), self.builder, known, wanted)
        constant = all(not isinstance(s, str) for s in known)
        function = folds[key] if key in folds and constant else translations.get(key)
        try:
            results = _translate(call, function)
        except TinydeployError as error:
            self._fail(node, error, where)
            return
        made = {name for new in self.builder.graph.nodes[before:] for name in new.outputs}
        for name, result in zip(node.outputs, results, strict=False):
            if name and isinstance(result, str) and result in made:
                self._rename(result, name, before)
                made.discard(result)
                self.known[name] = name
            elif name:
                self.known[name] = result

    def _fail(self, node: RawNode, error: TinydeployError | None, where: str) -> None:
        """Note the problem and go on as far as shapes allow, so that all problems are seen at once."""
        if error is not None:
            self.builder.note(error, where)
        if self.fallback is None:
            graph = self.builder.graph
            self.fallback = inferred_types(self.data, {name: graph.type(name) for name in graph.inputs})
        for name in node.outputs:
            kind = self.fallback.get(name)
            self.known[name] = _UNKNOWN if kind is None else name
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

    def _output(self, name: str) -> None:
        graph, where = self.builder.graph, f"{self.file}: output {short(name)!r}"
        result = self.known[name]
        if isinstance(result, np.ndarray):
            what, rule = "does not depend on any input", "outputs are computed from inputs"
            self.builder.note(UnsupportedError(Problem(where, what, rule, "remove the output from the model")))
        elif name in graph.outputs:
            self.builder.note(InputError(Problem(where, "is listed twice", "an output is listed once")))
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
