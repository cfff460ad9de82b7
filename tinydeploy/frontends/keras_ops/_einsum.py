"""Sums of products given by an equation of letters, as transposes, reshapes and one product of matrices."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

from tinydeploy.frontends.keras_call import Call

MAX_LETTERS = 12


def einsum(call: Call, equation: str, names: Sequence[str], stem: str) -> str:
    """``equation`` of one or two operands, like "abc,cd->abd"; "..." stands for the axes that have no letter.

    Source: numpy.einsum. Raises: InputError for an equation that does not fit, UnsupportedError for diagonals.
    """
    terms, result = _letters(call, equation, [call.type(name).rank for name in names])
    for letters, name in zip(terms, names, strict=True):
        if len(set(letters)) != len(letters):
            raise call.refuse(f"takes a diagonal ({equation[:80]})", "a letter is once in each term")
        if len(letters) != call.type(name).rank:
            raise call.damaged(f"applies {equation[:80]!r} to {call.type(name)}")
    sizes: dict[str, int] = {}
    for letters, name in zip(terms, names, strict=True):
        for letter, size in zip(letters, call.type(name).shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise call.damaged(f"{equation[:80]!r} has two sizes for {letter!r}: {sizes[letter]} and {size}")
    if not set(result) <= set(sizes) or len(set(result)) != len(result):
        raise call.damaged(f"{equation[:80]!r} asks for an axis that no term has, or for one twice")
    pairs = [
        _summed(call, name, letters, set(result).union(*(t for t in terms if t is not letters)), f"{stem}/sum{i}")
        for i, (name, letters) in enumerate(zip(names, terms, strict=True))
    ]
    if len(pairs) == 1:
        name, letters = pairs[0]
        return call.transpose(name, [letters.index(c) for c in result], stem)
    return _product(call, pairs, result, sizes, stem)


def _letters(call: Call, equation: str, ranks: list[int]) -> tuple[list[str], str]:
    """The terms and the result with a letter for every axis."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks) or len(terms) > 2 or len(text) > 100:
        raise call.refuse(f"has the equation {equation[:80]!r} for {len(ranks)} tensors", "one or two terms")
    spare = [c for c in string.ascii_letters if c not in text]
    most = max(
        (rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True) if "..." in t), default=0
    )
    if not arrow:
        once = sorted(c for c in set(left) - set(",.") if left.count(c) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    if not 0 <= most <= MAX_LETTERS:
        raise call.damaged(f"the equation {equation[:80]!r} does not fit")

    def named(term: str, count: int) -> str:
        return term.replace("...", "".join(spare[most - count : most]))

    found = [named(t, rank - len(t.replace("...", ""))) for t, rank in zip(terms, ranks, strict=True)]
    result = named(right, most)
    if any(not c.isalpha() for c in "".join([*found, result])):
        raise call.damaged(f"the equation {equation[:80]!r} is not made of letters")
    return found, result


def _summed(call: Call, name: str, letters: str, used: set[str], stem: str) -> tuple[str, str]:
    """Without the axes that neither the result nor the other term has."""
    axes = tuple(i for i, letter in enumerate(letters) if letter not in used)
    if not axes:
        return name, letters
    y = call.emit("reduce_sum", (name,), stem=stem.lstrip("/"), axes=axes, keep_dims=False)
    return y, "".join(c for c in letters if c in used)


def _product(call: Call, pairs: list[tuple[str, str]], result: str, sizes: dict[str, int], stem: str) -> str:
    (a, left), (b, right) = pairs
    both = [c for c in left if c in right]
    batch, inner = [c for c in both if c in result], [c for c in both if c not in result]
    rows, columns = [c for c in left if c not in both], [c for c in right if c not in both]

    def size(letters: list[str]) -> int:
        return math.prod(sizes[c] for c in letters)

    prefix = f"{stem}/" if stem else ""
    a = call.transpose(a, [left.index(c) for c in (*batch, *rows, *inner)], f"{prefix}left")
    if call.data(b) is not None and not batch and inner:
        # A constant second factor is the weights of a layer.
        table = call.data(b)
        assert table is not None
        table = table.transpose([right.index(c) for c in (*columns, *inner)]).reshape(size(columns), size(inner))
        a = call.reshape(a, (*(sizes[c] for c in rows), size(inner)), f"{prefix}rows")
        y = call.emit("fully_connected", (a, call.constant(f"{prefix}matrix", table), None), stem=stem)
    else:
        b = call.transpose(b, [right.index(c) for c in (*batch, *inner, *columns)], f"{prefix}right")
        lead = tuple(sizes[c] for c in batch)
        a = call.reshape(a, (*lead, size(rows), size(inner)), f"{prefix}rows")
        b = call.reshape(b, (*lead, size(inner), size(columns)), f"{prefix}columns")
        y = call.emit("batch_matmul", (a, b), stem=stem)
    order = [*batch, *rows, *columns]
    y = call.reshape(y, [sizes[c] for c in order], f"{prefix}axes")
    return call.transpose(y, [order.index(c) for c in result], f"{prefix}result")
