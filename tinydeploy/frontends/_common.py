"""What every frontend needs: reading files that may be hostile, names for C, and adding checked nodes to a graph."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tinydeploy.errors import InputError, Problem, TinydeployError, UnsupportedError
from tinydeploy.ir import Array, Elem, Graph, Node, Quant, Source, Type, Value
from tinydeploy.ops import registry
from tinydeploy.ops._op import NO_CLAMP, Op

MAX_FILE_BYTES = 1 << 30
MAX_ELEMENTS = 1 << 31
MAX_RANK = 6
RELU_CLAMP = (0.0, float("inf"))
RELU6_CLAMP = (0.0, 6.0)

_RESERVED_TEXT = """
    alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default
    delete do double else enum explicit export extern false float for friend goto if inline int long main
    mutable namespace new noexcept not nullptr operator or private protected public register restrict return
    short signed sizeof static static_assert struct switch template this thread_local throw true try typedef
    typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
"""
_RESERVED = frozenset(_RESERVED_TEXT.split())


def read_file(path: Path) -> bytes:
    """Content of a model file.

    Raises: InputError if it is missing, a folder, empty, unreadable or larger than `MAX_FILE_BYTES`.
    """
    where = str(path)
    if path.is_dir():
        raise InputError(Problem(where, "is a folder", "a model is one file", "give the file inside the folder"))
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_FILE_BYTES:
                raise InputError(
                    Problem(where, f"has {size} bytes", f"a model file has at most {MAX_FILE_BYTES} bytes")
                )
            data = file.read(size + 1)
    except FileNotFoundError:
        raise InputError(Problem(where, "does not exist", hint="check the path")) from None
    except OSError as error:
        raise InputError(Problem(where, f"cannot be read: {error.strerror}")) from None
    if not data:
        raise InputError(Problem(where, "is empty", hint="download or export the model again"))
    return data


def source(path: Path, data: bytes, file_format: str) -> Source:
    """Where a graph came from; only the file's name is kept, so that output does not depend on folders."""
    return Source(path.name, file_format, hashlib.sha256(data).hexdigest())


def model_name(path: Path) -> str:
    """The file's stem as a C identifier (also free of C++ keywords, for Arduino)."""
    name = re.sub(r"[^0-9A-Za-z_]+", "_", path.stem).strip("_") or "model"
    if name[0].isdigit():
        name = f"model_{name}"
    return f"{name}_model" if name.lower() in _RESERVED else name


def make(operator: str, **attributes: Any) -> Op:
    """An operator by its name.

    Raises: UnsupportedError if no module of `ops` has that name.
    """
    kind: Any = registry().get(operator)
    if kind is None:
        raise UnsupportedError(Problem("", f"operator {operator!r} is not built in", hint="`tinydeploy ops` lists all"))
    op: Op = kind(**attributes)
    return op


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """TensorFlow's SAME along one axis: (before, after), the odd element at the end.

    Source: TensorFlow tf.nn documentation, "Notes on padding".
    """
    span = (kernel - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return total // 2, total - total // 2


def checked_shape(dims: Iterable[int], where: str) -> tuple[int, ...]:
    """Dimensions as a tuple.

    Raises: InputError above rank 6, at a dimension below 1, or at more than `MAX_ELEMENTS` elements.
    """
    shape = tuple(int(d) for d in dims)
    if len(shape) > MAX_RANK:
        raise InputError(Problem(where, f"has {len(shape)} dimensions", f"a tensor has at most {MAX_RANK}"))
    if any(d < 1 for d in shape):
        raise InputError(Problem(where, f"has shape {list(shape)}", "every dimension is at least 1"))
    if math.prod(shape) > MAX_ELEMENTS:
        raise InputError(Problem(where, f"has shape {list(shape)}", f"a tensor has at most {MAX_ELEMENTS} elements"))
    return shape


def short(name: str) -> str:
    """A name cut to a length that fits a message: converters write names of kilobytes."""
    return name if len(name) <= 80 else f"{name[:60]}...{name[-17:]}"


@dataclasses.dataclass
class Builder:
    """A graph under construction. Problems are collected so that a user sees all of them at once."""

    graph: Graph
    problems: list[Problem] = dataclasses.field(default_factory=list)
    malformed: bool = False
    _names: dict[str, int] = dataclasses.field(default_factory=dict)
    _nodes: dict[str, int] = dataclasses.field(default_factory=dict)

    def note(self, error: TinydeployError, where: str = "") -> None:
        """Keep the problems of ``error`` for `finish`; ``where`` is used for those that say no place."""
        self.malformed = self.malformed or isinstance(error, InputError)
        self.problems += [p if p.where else dataclasses.replace(p, where=where) for p in error.problems]

    def finish(self) -> Graph:
        """The graph.

        Raises: UnsupportedError or InputError with every problem noted so far.
        """
        if self.problems:
            raise (InputError if self.malformed else UnsupportedError)(self.problems)
        return self.graph

    def unique(self, stem: str) -> str:
        """``stem`` or ``stem_1`` ...: a value name nobody has; taken from now on."""
        return _take(stem, self._names)

    def value(self, stem: str, kind: Type, data: Array | None = None) -> str:
        """Add a value (a constant if ``data``) and return its name."""
        name = self.unique(stem)
        self.graph.values[name] = Value(name, kind, data)
        return name

    def constant(self, stem: str, data: Array, quant: Quant | None = None) -> str:
        """Add a constant whose element type is that of the array."""
        return self.value(stem, Type(tuple(data.shape), Elem(data.dtype.name), quant), data)

    def node(
        self,
        op: Op,
        inputs: Sequence[str | None],
        *,
        stem: str,
        origin: str,
        outputs: Sequence[str] | None = None,
        quants: Sequence[Quant | None] | None = None,
    ) -> tuple[str, ...]:
        """Add a node and its output values; return their names.

        ``outputs``: names already reserved with `unique`; made from ``stem`` if None. ``quants``: quantisation of each.
        Raises: UnsupportedError with every rule that does not hold, InputError if the inputs do not fit at all.
        """
        kinds = tuple(None if name is None else self.graph.type(name) for name in inputs)
        shown = ", ".join("-" if kind is None else str(kind) for kind in kinds)
        misfit = Problem("", f"{op.name} cannot take {shown} with {op.attributes()}")
        try:
            broken = op.broken_rules(kinds)
            results = () if broken else op.infer(kinds)
        except (ValueError, IndexError, TypeError, ArithmeticError, AssertionError, AttributeError) as error:
            raise InputError(dataclasses.replace(misfit, rule=str(error))) from error
        if broken:
            hint = f"`tinydeploy ops {op.name}` lists every rule"
            raise UnsupportedError([dataclasses.replace(misfit, rule=rule, hint=hint) for rule in broken])
        for kind in results:
            checked_shape(kind.shape, "")
        if outputs is None:
            outputs = tuple(self.unique(stem if i == 0 else f"{stem}_out{i}") for i in range(len(results)))
        if len(outputs) != len(results):
            raise InputError(dataclasses.replace(misfit, rule=f"it makes {len(results)} outputs, not {len(outputs)}"))
        for index, (name, kind) in enumerate(zip(outputs, results, strict=True)):
            quant = None if quants is None else quants[index]
            self.graph.values[name] = Value(name, dataclasses.replace(kind, quant=quant))
        self.graph.nodes.append(Node(_take(stem, self._nodes), op, tuple(inputs), tuple(outputs), origin))
        return tuple(outputs)


def _take(stem: str, taken: dict[str, int]) -> str:
    """``stem``, or ``stem_1``, ``stem_2`` ...; ``taken`` tells where to look on, so that many of one stem are fast."""
    name, number = stem, taken.get(stem, 0)
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken[stem] = number
    taken.setdefault(name, 0)
    return name


def clamp_of(activation: str) -> tuple[float, float] | None:
    """Bounds of an activation that is a clamp ("NONE", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"), else None."""
    return {
        "NONE": NO_CLAMP,
        "RELU": RELU_CLAMP,
        "RELU6": RELU6_CLAMP,
        "RELU_N1_TO_1": (-1.0, 1.0),
        "RELU_0_TO_1": (0.0, 1.0),
    }.get(activation)
