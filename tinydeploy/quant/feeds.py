"""Brings arrays from users to the shapes of a model's inputs, or says in every detail why they do not fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Array, Elem, Graph, Type

ALIAS = "x"  # of the only input


def fit(graph: Graph, arrays: Mapping[str, Array], where: str = "data") -> dict[str, Array]:
    """Return one array an input of ``graph``: [samples, ...shape], or [samples, steps, ...shape] for sequences.

    The first axis of every array counts samples. After it come the input's axes; axes of length 1 may be missing,
    added or elsewhere, because they do not change the order of the values. Arrays of names the model does not have
    are ignored. Float32 inputs get float32; an input of integers keeps data of its own type and takes anything else
    as real numbers (float32) if it is quantised.

    Raises: InputError with every array that is missing, empty, of a wrong shape, not numeric, or not finite.
    """
    given = dict(arrays)
    if len(graph.inputs) == 1 and graph.inputs[0] not in given and ALIAS in given:
        given[graph.inputs[0]] = given[ALIAS]
    problems: list[Problem] = []
    result: dict[str, Array] = {}
    steps: set[int] = set()
    for name in graph.inputs:
        if name not in given:
            problems.append(_missing(graph, name, arrays, where))
            continue
        kind, array = graph.type(name), np.asarray(given[name])
        problem = _unusable(array, kind)
        shape = None if problem else _shape(array.shape, kind, bool(graph.states))
        if problem is None and shape is None:
            problem = _misfit(array, kind, bool(graph.states))
        if problem is not None:
            what, rule, hint = problem
            problems.append(Problem(f"{where}: input '{name}'", what, rule, hint))
            continue
        assert shape is not None
        steps.add(len(shape) - kind.rank - 1)
        result[name] = _cast(array, kind).reshape(shape)
    counts = {name: len(array) for name, array in result.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"'{name}' {count}" for name, count in counts.items())
        problems.append(Problem(where, f"the inputs have different numbers of samples: {listed}", "one sample each"))
    if len(steps) > 1:
        problems.append(Problem(where, "some inputs are sequences and some are not", "all of them, or none"))
    if problems:
        raise InputError(problems)
    return result


def _missing(graph: Graph, name: str, arrays: Mapping[str, Array], where: str) -> Problem:
    alias = f" or '{ALIAS}'" if len(graph.inputs) == 1 and name != ALIAS else ""
    found = ", ".join(f"'{key}' {np.shape(array)}" for key, array in arrays.items()) or "nothing"
    return Problem(
        where,
        f"no array for input '{name}'; it holds {found}",
        f"an array called '{name}'{alias} of shape {_wanted(graph.type(name), bool(graph.states))}",
        f"--data-map {name}=KEY takes the array KEY for it",
    )


def _unusable(array: Array, kind: Type) -> tuple[str, str, str] | None:
    """(what, rule, hint) if the values cannot be used whatever their shape."""
    rule = f"numbers that can be taken as {kind.elem.value}"
    if array.dtype.kind not in "biuf":
        return f"the array has dtype {array.dtype}", rule, "save it with a numeric dtype, without pickling"
    if array.ndim == 0 or array.size == 0:
        return f"the array has shape {array.shape}: there are no samples in it", "at least one sample", ""
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array)
        if bad.any():
            count, first = int(bad.sum()), tuple(int(i) for i in np.argwhere(bad)[0])
            return f"{count} values are NaN or infinite, the first at {list(first)}", "finite numbers", ""
        if array.dtype.itemsize > 4 and np.abs(array).max() > np.finfo(np.float32).max:
            return "values are beyond float32", "numbers within float32", ""
    if kind.elem.is_float or kind.quant is not None:
        return None
    if array.dtype.kind == "f" and (array != np.rint(array)).any():
        return f"the input is {kind.elem.value} and the data has fractions", rule, ""
    low, high = kind.elem.limits
    if array.min() < low or array.max() > high:
        return f"values go from {array.min()} to {array.max()}", f"{kind.elem.value}: {low} to {high}", ""
    return None


def _cast(array: Array, kind: Type) -> Array:
    if kind.elem is Elem.F32 or (kind.quant is not None and array.dtype != kind.elem.dtype):
        return array.astype(np.float32)
    return array.astype(kind.elem.dtype)


def _shape(shape: tuple[int, ...], kind: Type, sequences: bool) -> tuple[int, ...] | None:
    """The shape the array gets, or None if it does not fit."""
    if _dense(shape[1:]) == _dense(kind.shape):
        return (shape[0], *kind.shape)
    if sequences and len(shape) > 1 and _dense(shape[2:]) == _dense(kind.shape):
        return (*shape[:2], *kind.shape)
    return None


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent != 1)


def _misfit(array: Array, kind: Type, sequences: bool) -> tuple[str, str, str]:
    what = f"the array has shape {array.shape}"
    rule = f"shape {_wanted(kind, sequences)}"
    return what, rule, _hint(array.shape, kind)


def _hint(shape: tuple[int, ...], kind: Type) -> str:
    """What would make an array of this shape fit, if that can be known."""
    own, wanted = shape[1:], tuple(kind.shape)
    model = wanted[1:] if wanted[:1] == (1,) else wanted
    if _dense(shape) == _dense(wanted):
        return "the array looks like one sample: x[numpy.newaxis] gives it the sample axis"
    if len(own) == len(model) and sorted(own) == sorted(model):
        orders = [p for p in itertools.permutations(range(len(own))) if tuple(own[i] for i in p) == model]
        order = (0, *(i + 1 for i in orders[0]))
        layout = " (channels last)" if order == (0, 2, 3, 1) else " (channels first)" if order == (0, 3, 1, 2) else ""
        return f"numpy.transpose(x, {order}) has that shape{layout}; a reshape would scramble the values"
    if np.prod(own, dtype=np.int64) == kind.size:
        return f"a sample has as many values as the input; x.reshape({(-1, *model)}) if they are in the same order"
    if len(own) == 1 and kind.size and own[0] % kind.size == 0:
        return f"a sample holds {own[0] // kind.size} inputs; cut it in a .py file with load()"
    return "`tinydeploy inspect MODEL` prints names, shapes and types of the inputs"


def _wanted(kind: Type, sequences: bool) -> str:
    """The shape asked for, in words."""
    own = kind.shape[1:] if kind.shape[:1] == (1,) else kind.shape
    axes = "".join(f", {extent}" for extent in own)
    either = f" or (samples, steps{axes})" if sequences else ""
    return f"(samples{axes}){either}"
