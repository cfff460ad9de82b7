"""What is supported, asked of the code itself: which kernels run an operator at each level and CPU class, which
operators of model files become it, and its rules. `tinydeploy ops` and docs/operators.md print it.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinydeploy.ir import Elem, Graph, Node, Quant, Type
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext
from tinydeploy.ops import registry
from tinydeploy.ops._op import Op

CLASSES = {"plain": "cortex-m3", "dsp": "cortex-m4", "mve": "cortex-m55"}
LEVELS = {"float32": Elem.F32, "int8": Elem.S8, "int16x8": Elem.S16, "int32": Elem.S32, "bool": Elem.BOOL}
MARK = "<!-- made by `tinydeploy ops --write docs/operators.md` -->"

Shape = tuple[int, ...]
_IMAGE: Shape = (1, 4, 4, 8)
_VOLUME: Shape = (1, 4, 4, 4, 8)


@dataclasses.dataclass(frozen=True)
class _Example:
    """How an operator is tried out. ``inputs``: shapes of data inputs; ``constants``: shape and element of those that
    are constants behind them, None = the level's weights; ``bias``: index of an int32 one when quantised.
    """

    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    inputs: tuple[Shape, ...] = (_IMAGE,)
    constants: tuple[tuple[Shape, Elem | None], ...] = ()


def _example(inputs: Iterable[Shape] = (_IMAGE,), *constants: tuple[Shape, Elem | None], **attributes: Any) -> _Example:
    return _Example(attributes, tuple(inputs), constants)


_AXES: dict[str, Any] = {"axes": (1, 2), "keep_dims": True}
_INDEX = ((2,), Elem.S32)
_RECURRENT: Shape = (3, 1, 4)
# Operators that one input without attributes, or two inputs where they demand two, do not show.
_EXAMPLES: dict[str, _Example] = {
    "conv2d": _example([_IMAGE], ((8, 3, 3, 8), None), ((8,), None), padding=(1, 1, 1, 1)),
    "depthwise_conv2d": _example([_IMAGE], ((1, 3, 3, 8), None), ((8,), None), padding=(1, 1, 1, 1)),
    "conv3d": _example([_VOLUME], ((8, 3, 3, 3, 8), None), ((8,), None)),
    "transpose_conv2d": _example([_IMAGE], ((8, 2, 2, 8), None), ((8,), None), stride=(2, 2)),
    "transpose_conv3d": _example([_VOLUME], ((8, 2, 2, 2, 8), None), ((8,), None), stride=(2, 2, 2)),
    "fully_connected": _example([(1, 64)], ((8, 64), None), ((8,), None)),
    "batch_matmul": _example([(1, 4, 8), (1, 8, 4)]),
    "average_pool2d": _example(kernel=(2, 2), stride=(2, 2)),
    "max_pool2d": _example(kernel=(2, 2), stride=(2, 2)),
    "max_pool2d_indices": _example(kernel=(2, 2), stride=(2, 2)),
    "average_pool3d": _example([_VOLUME], kernel=(2, 2, 2), stride=(2, 2, 2)),
    "max_pool3d": _example([_VOLUME], kernel=(2, 2, 2), stride=(2, 2, 2)),
    **{name: _example(**_AXES) for name in ("mean", "reduce_sum", "reduce_prod", "reduce_max", "reduce_min")},
    **{name: _example(**_AXES) for name in ("reduce_any", "reduce_all")},
    "arg_max": _example(axis=3),
    "arg_min": _example(axis=3),
    "top_k": _example(axis=3, k=3),
    "cumsum": _example(axis=3),
    "softmax": _example(axis=3),
    "log_softmax": _example(axis=3),
    "l2_normalize": _example(axes=(3,)),
    "layer_norm": _example([_IMAGE], ((8,), Elem.F32), ((8,), Elem.F32), axes=(3,)),
    "local_response_norm": _example(size=3),
    "batch_norm": _example([_IMAGE], *[((8,), Elem.F32)] * 4),
    "reshape": _example(shape=(1, 128)),
    "transpose": _example(perm=(0, 3, 1, 2)),
    "broadcast_to": _example([(1, 1, 4, 8)], shape=_IMAGE),
    "tile": _example(repeats=(1, 1, 2, 1)),
    "pad": _example(padding=((0, 0), (1, 1), (1, 1), (0, 0))),
    "concat": _example([_IMAGE, _IMAGE], axis=3),
    "split": _example(axis=3, sizes=(3, 5)),
    "strided_slice": _example(begin=(0, 1, 0, 0), end=_IMAGE, stride=(1, 2, 1, 1)),
    "gather": _example([_IMAGE], _INDEX, axis=2),
    "gather_nd": _example([_IMAGE], ((3, 2), Elem.S32)),
    "gather_elements": _example([_IMAGE], ((1, 2, 4, 8), Elem.S32), axis=1),
    "scatter_elements": _example([_IMAGE], ((1, 2, 4, 8), Elem.S32), ((1, 2, 4, 8), None), axis=1),
    "scatter_nd": _example([_IMAGE], ((3, 2), Elem.S32), ((3, 4, 8), None)),
    "one_hot": _example([], ((1, 4), Elem.S32), ((2,), None), depth=8, axis=2),
    "resample": _example([_IMAGE], ((8, 2), Elem.S32), ((8, 2), Elem.F32), axis=1),
    "resize_bilinear": _example(size=(8, 8)),
    "dynamic_update_slice": _example([_IMAGE, (1, 2, 2, 8)], ((4,), Elem.S32)),
    "select": _example([_IMAGE, _IMAGE, _IMAGE]),
    "cast": _example(elem=Elem.S32),
    "bitcast": _example(elem=Elem.S32),
    "lstm": _example([_RECURRENT], ((16, 4), None), ((16, 4), None), ((32,), None)),
    "gru": _example([_RECURRENT], ((12, 4), None), ((12, 4), None), ((24,), None)),
    "rnn": _example([_RECURRENT], ((4, 4), None), ((4, 4), None), ((8,), None)),
}


def levels(name: str) -> dict[str, dict[str, list[str]]]:
    """Kernels by level and CPU class ("int8" -> "dsp" -> names) for an example of the operator."""
    return {level: found for level in LEVELS if (found := _kernels(registry()[name], level))}


@functools.cache
def _kernels_of(name: str, level: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    kind = registry()[name]
    example = _EXAMPLES.get(name)
    tries = [example] if example else [_example([_IMAGE] * count) for count in (1, 2)]
    for each in tries:
        graph = _graph(kind, each, LEVELS[level])
        if graph is None:
            continue
        rows = []
        for klass, cpu in CLASSES.items():
            offers = offers_for(LowerContext(graph, graph.nodes[0], target_for(cpu)))
            rows.append((klass, tuple(sorted({offer.kernel for offer in offers}))))
        if any(names for _, names in rows):
            return tuple(rows)
    return ()


def _kernels(kind: type[Op], level: str) -> dict[str, list[str]]:
    return {klass: list(names) for klass, names in _kernels_of(kind.name, level) if names}


def _type(shape: Shape, elem: Elem, scale: float, *, axis: int | None = None) -> Type:
    """A value of a level; quantised where the element type is that of a level that quantises."""
    if elem not in (Elem.S8, Elem.S16):
        return Type(shape, elem)
    if axis is None:
        return Type(shape, elem, Quant.per_tensor(scale))
    return Type(shape, elem, Quant.per_channel([scale] * shape[axis], axis))


def _graph(kind: type[Op], example: _Example, elem: Elem) -> Graph | None:
    """One node of the operator at a level; None where the operator does not take such types."""
    rng = np.random.default_rng(0)
    graph = Graph("example")
    names: list[str | None] = []
    for index, shape in enumerate(example.inputs):
        name = graph.add_value(f"x{index}", _type(shape, elem, 0.05))
        if kind.name == "select" and index == 0:
            graph.values[name].type = Type(shape, Elem.BOOL)
        graph.inputs.append(name)
        names.append(name)
    for index, (shape, given) in enumerate(example.constants, len(names)):
        kept = given or (Elem.S8 if elem is Elem.S16 and index == kind.quant.weights else elem)
        constant = _type(shape, kept, 0.01, axis=kind.quant.weights_axis if index == kind.quant.weights else None)
        if index == kind.quant.bias and elem in (Elem.S8, Elem.S16):
            constant = Type(shape, Elem.S32 if elem is Elem.S8 else Elem.S64)
        data = rng.integers(0, 2, shape).astype(constant.elem.dtype)
        names.append(graph.add_value(f"c{index}", constant, data))
    try:
        op = kind(**example.attributes)
        made = op.infer(tuple(None if n is None else graph.type(n) for n in names))
    except Exception:  # the operator says in many ways that these are not its inputs
        return None
    outputs = []
    for index, result in enumerate(made):
        quant = Quant.per_tensor(*kind.quant.fixed_output) if kind.quant.fixed_output else None
        final = result
        if result.elem is elem and elem in (Elem.S8, Elem.S16):
            same = Quant.per_tensor(0.05)
            final = dataclasses.replace(result, quant=quant or (same if kind.quant.ties else Quant.per_tensor(0.5)))
        if kind.quant.fixed_output and elem is Elem.S16:
            final = dataclasses.replace(result, quant=Quant.per_tensor(1 / 32768))
        outputs.append(graph.add_value(f"y{index}", final))
    graph.outputs = list(outputs)
    graph.nodes.append(Node("node", op, tuple(names), tuple(outputs)))
    return graph


# --- what model files call it ----------------------------------------------------------------------------------------


@functools.cache
def sources() -> dict[str, dict[str, list[str]]]:
    """By our operator and format: the operators and layers of model files whose translation uses it."""
    found: dict[str, dict[str, list[str]]] = {}
    for form, table in file_operators().items():
        for theirs, function in table.items():
            for ours in _named(function, theirs.rpartition(".")[2]) | ({snake(theirs)} & set(registry())):
                found.setdefault(ours, {}).setdefault(form, []).append(theirs)
    return {ours: {form: sorted(names) for form, names in forms.items()} for ours, forms in found.items()}


@functools.cache
def file_operators() -> dict[str, dict[str, Callable[..., Any]]]:
    """Translations by format and by the name that files use."""
    from tinydeploy.frontends import keras_graph, onnx_ops, tflite

    computed, folded = onnx_ops.tables()

    def label(key: tuple[str, str]) -> str:
        return f"{key[0]}.{key[1]}" if key[0] else key[1]

    return {
        "ONNX": {label(key): function for key, function in computed.items()},
        "ONNX, of constants only": {label(k): function for k, function in folded.items() if k not in computed},
        "TFLite": dict(tflite.OPERATORS),
        "Keras": {name: layer.translate for name, layer in keras_graph.LAYERS.items()},
    }


def snake(name: str) -> str:
    """The name in our spelling: LogSoftmax and LOG_SOFTMAX become log_softmax."""
    if name.isupper():
        return name.lower()
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def _named(function: Any, theirs: str, depth: int = 4) -> set[str]:
    """The operators whose names stand in a function, in its closure, in the functions of ours that it calls, and in the
    tables that it looks ``theirs`` up in.
    """
    names: set[str] = set()
    seen: set[int] = set()

    def visit(item: Any, left: int) -> None:
        if isinstance(item, str):
            names.update({item} & set(registry()))
        elif isinstance(item, (tuple, frozenset, list)):
            for part in item:
                visit(part, left)
        elif isinstance(item, types.CodeType):
            for part in item.co_consts:
                visit(part, left)
        elif isinstance(item, functools.partial):
            visit([*item.args, *item.keywords.values(), item.func], left)
        elif inspect.isfunction(item) and left and id(item) not in seen and item.__module__.startswith("tinydeploy.fr"):
            seen.add(id(item))
            visit(item.__code__, left)
            for cell in item.__closure__ or ():
                visit(cell.cell_contents, left)
            for name in item.__code__.co_names:
                called = item.__globals__.get(name)
                if inspect.isfunction(called):
                    visit(called, left - 1)
                elif isinstance(called, dict):
                    visit(called.get(theirs), left)

    visit(function, depth)
    return names


# --- the document ---------------------------------------------------------------------------------------------------


def row(name: str) -> dict[str, Any]:
    """Everything about one operator, for JSON and for printing."""
    kind = registry()[name]
    text = inspect.getdoc(kind) or ""
    return {
        "name": name,
        "summary": " ".join(text.partition("\n\n")[0].split()).partition("Source:")[0].strip(),
        "description": text,
        "rules": [rule.text for rule in kind.rules],
        "integer": kind.quant.integer,
        "sources": sources().get(name, {}),
        "levels": levels(name),
    }


def document() -> str:
    """docs/operators.md."""
    rows = [row(name) for name in sorted(registry())]
    lines = ["# Operators", "", MARK, ""]
    lines += [
        "What model files hold, and what becomes of it. A level's cell names the CPU classes that have a kernel for an",
        "example of the operator: **p**lain (M0, M0+, M3, M23), **d**sp (M4, M7, M33), **m**ve (M55, M85). An operator",
        "without an int8 or int16x8 kernel runs in float32 between conversions, with a warning.",
        "",
        f"| operator | ONNX | TFLite | Keras | {' | '.join(LEVELS)} |",
        f"|---|---|---|---|{'---|' * len(LEVELS)}",
    ]
    for item in rows:
        forms = item["sources"]
        read = [", ".join(forms.get(form, [])) or "-" for form in ("ONNX", "TFLite", "Keras")]
        cells = ["".join(k[0] for k in item["levels"].get(level, {})) or "-" for level in LEVELS]
        lines.append(f"| `{item['name']}` | {' | '.join([*read, *cells])} |")
    folded = ", ".join(sorted(file_operators()["ONNX, of constants only"]))
    lines += ["", f"Computed while reading, of constants only (ONNX): {folded}.", "", "## Meaning, rules and kernels"]
    for item in rows:
        lines += ["", f"### {item['name']}", "", item["description"], ""]
        lines += [f"- {text}" for text in item["rules"]]
        for level, classes in item["levels"].items():
            kernels = sorted({name for names in classes.values() for name in names})
            lines.append(f"- {level}: {', '.join(f'`{k}`' for k in kernels)}")
    return "\n".join([*lines, ""])
