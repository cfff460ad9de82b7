"""TensorFlow Lite files (float, int8, int16x8): every scale, zero point and constant is kept as it is.

Source: TensorFlow Lite schema and the documentation of its builtin operators.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tinydeploy import frontends
from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.frontends._common import Builder, checked_shape, model_name, read_file, short, source
from tinydeploy.frontends.tflite_call import Call, Importer
from tinydeploy.frontends.tflite_model import Model, Operator
from tinydeploy.ir import Graph, Value

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
    importer = Importer(model, builder, reshaped=bool(input_shapes))
    _add_inputs(importer, input_shapes, str(path))
    failed: set[int] = set()
    for operator in model.operators:
        _translate(importer, operator, failed)
    for index in model.outputs:
        try:
            graph.outputs.append(importer.name(index))
        except TinydeployError as error:
            builder.note(error, f"output of {path}")
    if not model.outputs:
        builder.note(InputError(Problem(str(path), "has no output")))
    return builder.finish()


def _add_inputs(importer: Importer, shapes: Mapping[str, tuple[int, ...]], where: str) -> None:
    graph, left = importer.builder.graph, dict(shapes)
    for index in importer.model.inputs:
        tensor = importer.model.tensor(index)
        if tensor.data is not None or index in importer.names:
            raise InputError(Problem(where, f"input '{short(tensor.name)}' is a constant or listed twice"))
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
        graph.values[name] = Value(name, kind)
        graph.inputs.append(name)
    if left:
        known = ", ".join(graph.inputs)
        raise InputError([Problem(f"--input-shape {name}", "no such input", f"inputs are {known}") for name in left])


def _translate(importer: Importer, operator: Operator, failed: set[int]) -> None:
    builder = importer.builder
    where = f"operator {operator.index} ({operator.kind})"
    try:
        translate = OPERATORS.get(operator.kind)
        if translate is None:
            raise _unknown(importer, operator)
        if importer.reshaped and any(i in failed for i in operator.inputs):
            raise UnsupportedError([])  # its input shapes are unknown: whatever it says would mislead
        call = Call(importer, operator)
        where = call.origin
        if not operator.outputs:
            raise call.damaged("has no output")
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
    names = ", ".join(f"'{short(importer.model.tensor(i).name)}'" for i in operator.outputs)
    where = f"operator {operator.index} ({operator.kind}) {names}"
    if operator.custom or operator.kind == "CUSTOM":
        what = f"is the custom operator '{short(operator.custom)}'"
        hint = "convert without custom and Flex operators"
    elif operator.kind in ("WHILE", "IF", "CALL_ONCE", "CALL"):
        what = "runs another subgraph"
        hint = "convert with unrolled loops and constant conditions"
    elif operator.kind in ("ARG_MAX", "ARG_MIN", "TOPK_V2"):
        what = "is not supported"
        hint = "end the model at the scores this is computed from, and choose among them in the application"
    else:
        what = f"is not supported (version {operator.version})"
        hint = "`tinydeploy ops` lists what is; `tinydeploy inspect` shows where it is used"
    return UnsupportedError(Problem(where, what, hint=hint))
