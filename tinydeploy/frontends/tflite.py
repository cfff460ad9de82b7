"""TensorFlow Lite files (float, int8, int16x8): every scale, zero point and constant is kept as it is.

Source: TensorFlow Lite schema and the documentation of its builtin operators.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tinydeploy import frontends
from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.frontends._common import Builder, checked_shape, make, model_name, read_file, short, source
from tinydeploy.frontends.tflite_call import Call
from tinydeploy.frontends.tflite_importer import Importer, Shared
from tinydeploy.frontends.tflite_model import Model, Operator
from tinydeploy.frontends.tflite_tensor import check_readable
from tinydeploy.ir import Elem, Graph, Type, Value

SUFFIXES = (".tflite", ".lite")


def _operators() -> dict[str, Callable[[Call], None]]:
    """The translations of all modules tflite_*.py beside this one that have a table OPERATORS."""
    found: dict[str, Callable[[Call], None]] = {}
    for info in pkgutil.iter_modules(frontends.__path__):
        if info.name.startswith("tflite_"):
            found.update(getattr(importlib.import_module(f"{frontends.__name__}.{info.name}"), "OPERATORS", {}))
    return found


OPERATORS = _operators()


def load(path: Path, input_shapes: Mapping[str, tuple[int, ...]]) -> Graph:
    """Read a TFLite file; an open batch dimension becomes 1.

    Raises: InputError if the file is damaged, UnsupportedError with every operator, option and type not supported.
    """
    data = read_file(path)
    model = Model(data, str(path))
    graph = Graph(model_name(path), source=source(path, data, "tflite"))
    builder = Builder(graph)
    main = model.subgraph()
    importer = Importer(Shared(model, builder, bool(input_shapes), _translate), main)
    _add_inputs(importer, input_shapes, str(path))
    try:
        importer.run()
    except TinydeployError as error:
        builder.note(error, str(path))
    for index in main.outputs:
        try:
            graph.outputs.append(_output(importer, index))
        except TinydeployError as error:
            builder.note(error, f"output of {path}")
    if not main.outputs:
        builder.note(InputError(Problem(str(path), "has no output")))
    for variable in importer.shared.variables.values():
        if variable.named and variable.state is not None and not variable.given:
            what = f"variable '{short(variable.name)}' is read and never given a value: its content is not in the file"
            hint = "convert the model with its variables: from_saved_model or from_keras_model, or freeze them first"
            builder.note(UnsupportedError(Problem(str(path), what, "a model file holds all its weights", hint)))
    _settle_states(graph)
    return builder.finish()


def _add_inputs(importer: Importer, shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
    graph, left = importer.builder.graph, dict(shapes)
    for index in importer.subgraph.inputs:
        tensor = importer.subgraph.tensor(index)
        if tensor.data is not None or tensor.variable or index in importer.names:
            raise InputError(Problem(where, f"input '{short(tensor.name)}' is a constant or listed twice"))
        check_readable(tensor, where)
        name = importer.reserve(index)
        kind = tensor.type
        if name in left:
            kind = kind.with_shape(checked_shape(left.pop(name), f"--input-shape {name}"))
            if kind.rank != tensor.type.rank:
                raise InputError(
                    Problem(f"--input-shape {name}", f"has {kind.rank} dimensions, the model {tensor.type.rank}")
                )
        elif any(axis > 0 for axis in tensor.open_axes):
            raise InputError(
                Problem(
                    f"input '{short(name)}'",
                    f"leaves dimensions {list(tensor.open_axes)} open",
                    "only the batch may be open",
                    f"--input-shape '{name}={','.join(str(d) for d in kind.shape)}' with the sizes you want",
                )
            )
        graph.inputs.append(_input(importer, index, name, kind))
    if left:
        known = ", ".join(graph.inputs)
        raise InputError([Problem(f"--input-shape {name}", "no such input", f"inputs are {known}") for name in left])


def _input(importer: Importer, index: int, name: str, kind: Type) -> str:
    """Add an input; legacy uint8 is made int8 at the border. Returns the input's name."""
    builder = importer.builder
    if not importer.subgraph.tensor(index).shifted:
        builder.graph.values[name] = Value(name, kind)
        return name
    builder.graph.values[name] = Value(name, _unsigned(kind))
    op = make("quantize", elem=Elem.S8)
    importer.names[index] = builder.node(
        op, (name,), stem=f"{name}_int8", origin=f"input '{name}'", quants=(kind.quant,)
    )[0]
    return name


def _unsigned(kind: Type) -> Type:
    """The uint8 type that an int8 type was read from."""
    assert kind.quant is not None
    points = tuple(z + 128 for z in kind.quant.zero_point)
    return dataclasses.replace(kind, elem=Elem.U8, quant=dataclasses.replace(kind.quant, zero_point=points))


def _output(importer: Importer, index: int) -> str:
    """The value of an output, in the file's element type and written by a node."""
    builder, name = importer.builder, importer.name(index)
    graph, origin = builder.graph, f"output '{short(importer.subgraph.name(index))}'"
    kind = graph.type(name)
    if importer.subgraph.tensor(index).shifted:
        unsigned = _unsigned(kind)
        op, stem = make("quantize", elem=Elem.U8), importer.subgraph.name(index)
        return builder.node(op, (name,), stem=stem, origin=origin, quants=(unsigned.quant,))[0]
    if graph.constant(name) is not None or any(state.read == name for state in graph.states):
        op = make("reshape", shape=kind.shape)
        return builder.node(op, (name,), stem=f"{name}_out", origin=origin, quants=(kind.quant,))[0]
    return name


def _settle_states(graph: Graph) -> None:
    """A variable that nothing writes is a constant."""
    for state in [state for state in graph.states if state.write == state.read]:
        graph.states.remove(state)
        graph.values[state.read].data = state.initial


def _translate(importer: Importer, operator: Operator) -> None:
    builder, failed = importer.builder, importer.failed
    where = f"operator {operator.index}{importer.place} ({operator.kind})"
    try:
        translate = OPERATORS.get(operator.kind)
        if translate is None:
            raise _unknown(importer, operator)
        if importer.shared.reshaped and any(i in failed for i in operator.inputs):
            raise UnsupportedError([])  # its input shapes are unknown: whatever it says would mislead
        call = Call(importer, operator)
        where = call.origin
        translate(call)
    except TinydeployError as error:
        builder.note(error, where)
        for index in operator.outputs:
            failed.add(index)
            try:
                importer.declare(index)
            except TinydeployError as fault:
                builder.note(fault, where)


def _unknown(importer: Importer, operator: Operator) -> UnsupportedError:
    names = ", ".join(f"'{short(importer.subgraph.name(i))}'" for i in operator.outputs)
    where = f"operator {operator.index}{importer.place} ({operator.kind}) {names}"
    if operator.custom or operator.kind == "CUSTOM":
        what = f"is the custom operator '{short(operator.custom)}'"
        hint = "convert without custom and Flex operators"
    elif operator.kind in ("ARG_MAX", "ARG_MIN", "TOPK_V2"):
        what = "is not supported"
        hint = "end the model at the scores this is computed from, and choose among them in the application"
    else:
        what = f"is not supported (version {operator.version})"
        hint = "`tinydeploy ops` lists what is; `tinydeploy inspect` shows where it is used"
    return UnsupportedError(Problem(where, what, hint=hint))
