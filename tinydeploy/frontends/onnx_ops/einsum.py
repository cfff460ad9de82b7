"""Einsum as diagonals, sums, transposes and products of matrices."""

from __future__ import annotations

import dataclasses
import math
import re

from tinydeploy.frontends.onnx_call import Call, Results, refuse, translates
from tinydeploy.ir import Elem

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")
_LEAD = 4  # leading axes that batch_matmul takes
Labels = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Term:
    """A value and the label of each of its axes. Axes of an ellipsis are labelled "0", "1" ... counted from its end."""

    name: str
    labels: Labels


@translates("Einsum")
def einsum(call: Call) -> Results:
    """Products of any number of operands, summed over the labels the result lacks. Source: ONNX Einsum-12."""
    written, wanted = _equation(call)
    terms = [_diagonals(call, _Term(call.value(i), labels)) for i, labels in enumerate(written)]
    _check_sizes(call, terms, wanted)
    first, *rest = terms
    while rest:
        second, *rest = rest
        later = {label for term in rest for label in term.labels} | set(wanted)
        first = _contract(call, first, second, later)
    first = _summed(call, first, set(wanted))
    return (call.transpose(first.name, tuple(first.labels.index(label) for label in wanted)),)


def _equation(call: Call) -> tuple[list[Labels], Labels]:
    """The labels of each operand and of the result."""
    text = re.sub(r"\s", "", call.attribute("equation"))
    left, arrow, right = text.partition("->")
    words = left.split(",")
    count = sum(call.has(i) for i in range(len(call.sources)))
    if len(words) != count or any(_TERM.fullmatch(word) is None for word in (*words, right)):
        raise refuse(f"equation {text[:80]!r} with {count} operands", "one term of letters an operand")
    for index in range(count):
        if call.type(call.value(index)).elem not in (Elem.F32, Elem.S32):
            raise refuse(f"input {index} is {call.type(call.value(index)).elem.value}", "float32 or int32")
    terms = [_labels(word, len(call.shape_of(i))) for i, word in enumerate(words)]
    dots = max((sum(label.isdigit() for label in term) for term in terms), default=0)
    if arrow:
        wanted = _labels(right, len(right.replace(".", "")) + (dots if "..." in right else 0))
    else:
        every = left.replace(",", "").replace(".", "")
        single = sorted(letter for letter in set(every) if every.count(letter) == 1)
        wanted = (*(str(n) for n in reversed(range(dots))), *single)
    known = {label for term in terms for label in term}
    if len(set(wanted)) != len(wanted) or not set(wanted) <= known:
        raise refuse(f"equation {text[:80]!r}", "the result has each label once, and only labels of operands")
    return terms, wanted


def _labels(word: str, rank: int) -> Labels:
    before, dots, after = word.partition("...")
    hidden = rank - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        raise refuse(f"term {word!r} for {rank} dimensions", "a letter a dimension, or an ellipsis")
    return (*before, *(str(n) for n in reversed(range(hidden))), *after)


def _check_sizes(call: Call, terms: list[_Term], wanted: Labels) -> None:
    sizes: dict[str, set[int]] = {}
    for term in terms:
        for label, size in zip(term.labels, call.type(term.name).shape, strict=True):
            sizes.setdefault(label, set()).add(size)
    for label, found in sizes.items():
        if len(found) > 1 and not (label.isdigit() and len(found - {1}) == 1 and label in wanted):
            raise refuse(f"label {label!r} stands for {sorted(found)}", "a label has one size")


def _diagonals(call: Call, term: _Term) -> _Term:
    """A term in which no label stands twice."""
    for label in dict.fromkeys(term.labels):
        while term.labels.count(label) > 1:
            term = _diagonal(call, term, label)
    return term


def _diagonal(call: Call, term: _Term, label: str) -> _Term:
    """The diagonal of the first two axes called ``label``: every (n + 1)-th of both as one axis."""
    first = term.labels.index(label)
    second = term.labels.index(label, first + 1)
    rest = [axis for axis in range(len(term.labels)) if axis not in (first, second)]
    turned = call.transpose(term.name, (first, second, *rest))
    size, other, *sizes = call.type(turned).shape
    if size != other:
        raise refuse(f"label {label!r} stands for {size} and {other}", "a label has one size")
    flat = call.reshape(turned, (size * size, *sizes))
    ones, none = (1,) * len(sizes), (0,) * len(sizes)
    name = call.emit("strided_slice", flat, begin=(0, *none), end=(size * size, *sizes), stride=(size + 1, *ones))
    return _Term(name, (label, *(term.labels[axis] for axis in rest)))


def _summed(call: Call, term: _Term, kept: set[str]) -> _Term:
    """The term summed over the labels that are not kept."""
    axes = tuple(axis for axis, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    name = call.emit("reduce_sum", term.name, axes=axes, keep_dims=False)
    return _Term(name, tuple(label for label in term.labels if label in kept))


def _contract(call: Call, a: _Term, b: _Term, later: set[str]) -> _Term:
    """The product of two terms, summed over the labels that both have and nobody needs later."""
    a = _summed(call, a, later | set(b.labels))
    b = _summed(call, b, later | set(a.labels))
    both = [label for label in a.labels if label in b.labels]
    batch = [label for label in both if label in later]
    inner = [label for label in both if label not in later]
    rows = [label for label in a.labels if label not in both]
    columns = [label for label in b.labels if label not in both]
    left, shape_a = _as_matrices(call, a, (batch, rows, inner))
    right, shape_b = _as_matrices(call, b, (batch, inner, columns))
    lead_a, lead_b = shape_a[: len(batch)], shape_b[: len(batch)]
    if lead_a == lead_b and len(batch) > 1:  # nothing broadcasts: one axis does
        lead = (math.prod(lead_a),)
        left = call.reshape(left, (*lead, *call.type(left).shape[-2:]))
        right = call.reshape(right, (*lead, *call.type(right).shape[-2:]))
    elif len(batch) > _LEAD:
        raise refuse(f"{len(batch)} axes of two operands that broadcast", f"at most {_LEAD}")
    name = call.emit("batch_matmul", left, right)
    sizes = tuple(max(n, m) for n, m in zip(lead_a, lead_b, strict=True))
    outer = (*shape_a[len(batch) : len(batch) + len(rows)], *shape_b[len(shape_b) - len(columns) :])
    return _Term(call.reshape(name, (*sizes, *outer)), (*batch, *rows, *columns))


def _as_matrices(
    call: Call, term: _Term, groups: tuple[list[str], list[str], list[str]]
) -> tuple[str, tuple[int, ...]]:
    """The term as [batch ..., first group, second group], and its shape in the order of all labels."""
    order = [label for group in groups for label in group]
    turned = call.transpose(term.name, tuple(term.labels.index(label) for label in order))
    shape = call.type(turned).shape
    lead, first = len(groups[0]), len(groups[0]) + len(groups[1])
    return call.reshape(turned, (*shape[:lead], math.prod(shape[lead:first]), math.prod(shape[first:]))), shape
