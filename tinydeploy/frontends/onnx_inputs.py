"""Inputs of an ONNX model: what `--input-shape` says, what a symbol means everywhere, and what is still open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tinydeploy.errors import InputError, Problem, UnsupportedError, UsageError
from tinydeploy.frontends._common import Builder, checked_shape, short
from tinydeploy.frontends.onnx_graphs import RawInput
from tinydeploy.ir import Type

Shapes = Mapping[str, tuple[int, ...]]


def bind_symbols(file: str, inputs: Sequence[RawInput], shapes: Shapes) -> dict[str, int]:
    """Sizes of the named dimensions: those given, and 1 for one that stands on axis 0 of an input.

    Raises: UsageError if a shape is given for something that is no input, or does not fit the file.
    """
    names = [entry.name for entry in inputs]
    strangers = [name for name in shapes if name not in names]
    if strangers:
        hint = f"the inputs are {', '.join(map(repr, names))}"
        raise UsageError([Problem(file, f"has no input {name!r}", hint=hint) for name in strangers])
    symbols: dict[str, int] = {}
    for entry in inputs:
        _bind(entry, shapes.get(entry.name), symbols)
    return symbols


def _bind(entry: RawInput, given: tuple[int, ...] | None, symbols: dict[str, int]) -> None:
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


def input_type(entry: RawInput, given: tuple[int, ...] | None, symbols: Mapping[str, int], builder: Builder) -> Type:
    """Type of an input; what was assumed becomes a warning of the graph.

    Raises: UnsupportedError or InputError without a place.
    """
    if entry.elem is None:
        raise UnsupportedError(Problem("", "has an element type that is not supported", "numbers or bool"))
    if entry.widened:
        builder.graph.warnings.append(f"input {short(entry.name)!r} is {entry.widened}: taken as float32")
    if given is not None:
        return Type(checked_shape(given, ""), entry.elem)
    if entry.dims is None:
        hint = f"--input-shape {entry.name}=1,..."
        raise InputError(Problem("", "has no shape in the file", "shapes are known when C is generated", hint))
    shape = [d if isinstance(d, int) else symbols.get(d or "", 1 if i == 0 else 0) for i, d in enumerate(entry.dims)]
    if 0 in shape:
        open_axes = [f"{d or '?'} (axis {i})" for i, d in enumerate(entry.dims) if shape[i] == 0]
        hint = f"--input-shape {entry.name}={','.join(str(d) if d else 'N' for d in shape)}"
        what = f"has open dimensions: {', '.join(open_axes)}"
        raise InputError(Problem("", what, "shapes are known when C is generated", hint))
    if not all(isinstance(d, int) for d in entry.dims):
        builder.graph.warnings.append(f"input {short(entry.name)!r} has open dimensions: taken as {shape}")
    return Type(checked_shape(shape, ""), entry.elem)
