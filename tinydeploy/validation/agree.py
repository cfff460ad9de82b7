"""What the imported graph and its runtime are fed, and when their results count as the same."""

from __future__ import annotations

import re

import numpy as np

from tinydeploy.ir import Array, Graph, Type
from tinydeploy.ops._op import Signature

FLOAT_TOLERANCE = 1e-4  # of a sample's largest output value
SMALLEST = 1e-2  # outputs of a sample that are all smaller are compared as if one had this value
HALF_TOLERANCE = 2.0**-7  # instead of FLOAT_TOLERANCE, where the runtime computes in float16
# ONNX leaves the rounding of a quantised model to its runtime: a step at a layer may become some at the end
STEPS_AT_MOST, STEPS_ON_AVERAGE = 16, 1  # of 255 over the range of the output
HEAVY_MACS = 30_000_000
_INDEXED = {"gather": 1, "gather_nd": 1, "gather_elements": 1, "scatter_elements": 1, "scatter_nd": 1, "one_hot": 0}
_PASSES_ON = ("cast", "reshape", "transpose", "strided_slice", "concat", "split", "tile", "broadcast_to")


def index_limit(graph: Graph, name: str) -> int | None:
    """Where a value is used as an index: the length of the shortest axis it picks from. None if it is none."""
    limits: list[int] = []
    waiting, seen = [name], {name}
    while waiting:
        value = waiting.pop()
        for node in graph.consumers(value):
            if node.op.name in _PASSES_ON:
                waiting += [output for output in node.outputs if output not in seen]
                seen.update(node.outputs)
            elif node.op.name in _INDEXED and node.inputs.index(value) == _INDEXED[node.op.name]:
                limits.append(_length(graph, node.op, str(node.inputs[0])))
    return min(limits) if limits else None


def _length(graph: Graph, op: object, source: str) -> int:
    """The length of the axis that an operator picks from."""
    if hasattr(op, "depth"):
        return int(op.depth)
    shape = graph.type(source).shape
    return shape[op.axis] if hasattr(op, "axis") else min(shape)


def integers(generator: np.random.Generator, graph: Graph, name: str, shape: tuple[int, ...], *, whole: bool) -> Array:
    """Random integers for an input: places that exist for an index; else all of the type if ``whole``, for quantised
    types and for those of 8 bits; else 1 to 8, by which one may divide.
    """
    kind = graph.type(name)
    limit = None if kind.quant is not None else index_limit(graph, name)
    if limit is not None:
        low, high = 0, min(limit - 1, kind.elem.limits[1])
    elif whole or kind.quant is not None or kind.elem.bits <= 8:
        low, high = kind.elem.limits
    else:
        low, high = 1, 8
    return generator.integers(low, high, shape, dtype=kind.elem.dtype, endpoint=True)


def random_feeds(graph: Graph, seed: int, steps: int | None = None) -> dict[str, Array]:
    """Arrays [samples, ...shape], or [samples, steps, ...shape].

    For floats a small, a normal and an image-like sample, since nobody knows the range.
    """
    generator = np.random.default_rng(seed)
    macs = sum(node.op.macs(Signature.of(graph, node)) for node in graph.nodes)
    scales = (1.0,) if macs > HEAVY_MACS else (0.1, 1.0, 100.0)
    feeds: dict[str, Array] = {}
    for name in graph.inputs:
        kind = graph.type(name)
        each = kind.shape if steps is None else (steps, *kind.shape)
        if kind.elem.is_float:
            feeds[name] = np.stack([generator.standard_normal(each) * s for s in scales]).astype(kind.elem.dtype)
        else:
            feeds[name] = integers(generator, graph, name, (len(scales), *each), whole=False)
    return feeds


def has_halves(graph: Graph) -> bool:
    """True if the import has said that it takes float16 as float32. Names, which stand in quotes, do not count."""
    return any("float16" in re.sub(r"'[^']*'|\"[^\"]*\"", "", warning) for warning in graph.warnings)


def differs(ours: Array, theirs: Array, kind: Type, tolerance: float = FLOAT_TOLERANCE) -> str:
    """What is wrong with an output [samples, ...shape], or an empty text. Integers agree in every bit."""
    fault = _unlike(ours, theirs, kind)
    if fault:
        return fault
    if not kind.elem.is_float:
        off = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
        wrong = int(np.count_nonzero(ours != theirs))
        return f"{wrong} of {off.size} integers differ, by up to {int(off.max())}" if wrong else ""
    for a, b in zip(_rows(ours), _rows(theirs), strict=True):
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return "not-a-number in different places"
        endless = np.isinf(a) | np.isinf(b)
        if not np.array_equal(a[endless], b[endless]):
            return "infinities in different places"
        finite = np.isfinite(a) & np.isfinite(b)
        limit = tolerance * max(SMALLEST, float(np.abs(b[finite]).max(initial=0.0)))
        most = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
        if most > limit:
            return f"differs by up to {most:.3g}, allowed is {limit:.3g}"
    return ""


def differs_in_steps(ours: Array, theirs: Array, kind: Type) -> str:
    """What is wrong with an output of a quantised model whose file does not state its rounding, or an empty text.

    Integers that stand for no real numbers (places of extremes, comparisons) may differ where two values are a step
    apart: in up to half of their elements.
    """
    fault = _unlike(ours, theirs, kind)
    if fault:
        return fault
    if kind.quant is None and not kind.elem.is_float:
        wrong = int(np.count_nonzero(ours != theirs))
        return f"{wrong} of {ours.size} integers differ" if 2 * wrong > ours.size else ""
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    step = max(float(b.max(initial=0.0) - b.min(initial=0.0)), FLOAT_TOLERANCE) / 255
    if not kind.elem.is_float:
        step = float(max(1, 1 << max(kind.elem.bits - 8, 0)))
    off = np.abs(a - b) / step
    most, average = float(off.max(initial=0.0)), float(off.mean()) if off.size else 0.0
    if not np.isfinite(average) or most > STEPS_AT_MOST or average > STEPS_ON_AVERAGE:
        return (
            f"differs by up to {most:.3g} steps of its range, {average:.3g} on average, allowed are {STEPS_AT_MOST}"
            f" and {STEPS_ON_AVERAGE}"
        )
    return ""


def _rows(array: Array) -> Array:
    """[samples, elements] in float64."""
    return array.astype(np.float64).reshape(len(array), -1)


def _unlike(ours: Array, theirs: Array, kind: Type) -> str:
    """What is wrong with shape or element type."""
    if ours.shape != theirs.shape:
        return f"shapes {list(ours.shape)} and {list(theirs.shape)}"
    ends = {"f": "f", "V": "f"}  # V: bfloat16, which NumPy does not know
    if ends.get(theirs.dtype.kind, theirs.dtype.kind) != ("f" if kind.elem.is_float else kind.elem.dtype.kind):
        return f"element types {kind.elem.value} and {theirs.dtype}"
    return ""
