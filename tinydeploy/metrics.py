"""How good a model is on labelled data: float beside quantised, with a paired 95 % interval of the difference."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import math
import runpy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, UsageError
from tinydeploy.ir import Array

SPECS = "top1, topk:K, auc, auc-reconstruction:GROUP, mse, cosine, module:function"
_SIGNATURE = "function(outputs, labels, inputs) -> number(s)"
_RESAMPLES = 1000
_NORMAL_95 = 1.959964


@dataclasses.dataclass(frozen=True)
class Paired:
    """A metric of two models on the same samples.

    ``statistic``: value from the indices of the samples taken (with repetition) and the model (0 float, 1 quantised).
    ``rows``: a value a sample where the metric is their mean, else None. ``strata``: class of every sample where
    resampling must keep the classes' shares. ``sign``: 1 where more is better, -1 where less is.
    """

    count: int
    statistic: Callable[[Array, int], float]
    rows: tuple[Array, Array] | None
    points: bool
    sign: int = 1
    strata: Array | None = None


def evaluate(spec: str, floats: Array, quantised: Array, labels: Array | None, inputs: Array) -> dict[str, Any]:
    """Return ``{name, unit, float, quantised, drop, interval}`` for a metric ``spec`` (`SPECS`).

    ``floats``, ``quantised``: real outputs of both models, [samples, ...]. ``labels``: classes or target values, or
    None. ``inputs``: the real inputs, [samples, ...]. Rates are in points (percent), everything else is raw; a drop
    above 0 means that the quantised model is worse, by points or raw. The interval is the drop's: from the paired
    differences where the metric is a mean over samples, from 1,000 seeded bootstrap resamples otherwise.

    Raises: UsageError for an unknown spec, InputError where labels are missing or do not fit.
    """
    kind, _, argument = spec.partition(":")
    if kind == "top1" and not argument:
        paired = _top(1, floats, quantised, _need(labels, spec))
    elif kind == "topk":
        paired = _top(_positive(argument, spec), floats, quantised, _need(labels, spec))
    elif kind == "auc" and not argument:
        paired = _auc(_positive_score(floats, spec), _positive_score(quantised, spec), _need(labels, spec))
    elif kind == "auc-reconstruction":
        group = _positive(argument, spec)
        scores = [_reconstruction(outputs, inputs, group, spec) for outputs in (floats, quantised)]
        paired = _auc(scores[0], scores[1], _per_group(_need(labels, spec), len(scores[0]), group))
    elif kind in ("mse", "cosine") and not argument:
        paired = _distance(kind, floats, quantised, labels)
    elif argument:
        paired = _custom(kind, argument, floats, quantised, labels, inputs)
    else:
        raise _unknown(spec)
    return _result(spec, paired)


def check(spec: str, labelled: bool) -> None:
    """Refuse a metric before anything is built and run for it. ``labelled``: the data have labels.

    Raises: UsageError for an unknown spec or a function that cannot be loaded, InputError for missing labels.
    """
    kind, _, argument = spec.partition(":")
    if kind in ("topk", "auc-reconstruction"):
        _positive(argument, spec)
    elif kind not in ("top1", "auc", "mse", "cosine") or argument:
        if not argument:
            raise _unknown(spec)
        _function(kind, argument)
        return
    if not labelled and kind not in ("mse", "cosine"):
        _need(None, spec)


def _unknown(spec: str) -> UsageError:
    return UsageError(Problem(f"--metric {spec}", "there is no such metric", f"one of {SPECS}"))


def within(metric: dict[str, Any], goal: float) -> bool:
    """True if the drop is at most ``goal``, or its interval reaches down to it."""
    return bool(metric["drop"] <= goal or metric["interval"][0] <= goal)


def _result(spec: str, paired: Paired) -> dict[str, Any]:
    everything = np.arange(paired.count)
    values = [paired.statistic(everything, model) for model in (0, 1)]
    factor = 100.0 if paired.points else 1.0
    if paired.rows is not None:
        differences = paired.sign * (paired.rows[0] - paired.rows[1])
        middle = float(differences.mean())
        spread = float(differences.std(ddof=1)) / math.sqrt(paired.count) if paired.count > 1 else 0.0
        interval = (middle - _NORMAL_95 * spread, middle + _NORMAL_95 * spread)
    else:
        interval = _bootstrap(paired)
    return {
        "name": spec,
        "unit": "points" if paired.points else "raw",
        "float": values[0] * factor,
        "quantised": values[1] * factor,
        "drop": paired.sign * (values[0] - values[1]) * factor,
        "interval": [interval[0] * factor, interval[1] * factor],
    }


def _bootstrap(paired: Paired) -> tuple[float, float]:
    generator = np.random.default_rng(0)
    strata = np.zeros(paired.count) if paired.strata is None else paired.strata
    parts = [np.flatnonzero(strata == value) for value in np.unique(strata)]
    drops = []
    for _ in range(_RESAMPLES):
        taken = np.concatenate([generator.choice(part, len(part)) for part in parts])
        drops.append(paired.sign * (paired.statistic(taken, 0) - paired.statistic(taken, 1)))
    low, high = np.percentile(drops, [2.5, 97.5])
    return float(low), float(high)


def _need(labels: Array | None, spec: str) -> Array:
    if labels is None:
        raise InputError(Problem("data", f"the metric {spec} needs labels", "an array 'y', one label a sample"))
    if labels.dtype.kind not in "biuf" or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        raise InputError(Problem("data: 'y'", f"labels are {labels.dtype} or not finite", "finite numbers"))
    return labels


def _positive(argument: str, spec: str) -> int:
    if not argument.isdecimal() or int(argument) < 1:
        raise UsageError(Problem(f"--metric {spec}", "what follows the colon is no positive number", f"one of {SPECS}"))
    return int(argument)


def _mean(rows: tuple[Array, Array], points: bool, sign: int = 1) -> Paired:
    return Paired(len(rows[0]), lambda taken, model: float(rows[model][taken].mean()), rows, points, sign)


def _classes(labels: Array, classes: int) -> Array:
    """Labels as class numbers; one-hot rows are taken as well."""
    if (
        labels.ndim > 1
        and labels.shape[-1] == classes > 1
        and np.array_equal(labels.sum(axis=-1), np.ones(labels.shape[:-1]))
    ):
        labels = labels.argmax(axis=-1)
    limit = max(classes, 2)
    if not np.array_equal(np.rint(labels), labels) or labels.min(initial=0) < 0 or labels.max(initial=0) >= limit:
        raise InputError(
            Problem(
                "data: 'y'",
                f"labels go from {labels.min()} to {labels.max()}",
                f"class numbers 0 to {limit - 1}",
                "--metric mse compares with target values",
            )
        )
    return labels.astype(np.int64).ravel()


def _top(k: int, floats: Array, quantised: Array, labels: Array) -> Paired:
    """Share of rows whose label is among the ``k`` highest scores; of equal scores the lower index counts as higher."""
    axes = tuple(extent for extent in floats.shape[1:] if extent != 1)
    classes = axes[-1] if axes else 1
    wanted = _classes(labels, classes)
    rows = []
    for outputs in (floats, quantised):
        scores: Array = outputs.reshape(len(outputs), -1, classes)
        if len(wanted) == len(scores):
            scores = scores[:, -1]  # of a sequence, the last step
        scores = scores.reshape(-1, classes).astype(np.float64)
        if len(wanted) != len(scores):
            raise InputError(
                Problem(
                    "data: 'y'",
                    f"{len(wanted)} labels for {len(floats)} samples",
                    " or ".join(dict.fromkeys((f"{len(floats)}", f"{len(scores)}"))),
                )
            )
        if classes == 1:
            scores = np.concatenate([1 - scores, scores], axis=1)  # the probability of class 1
        own = np.take_along_axis(scores, wanted[:, np.newaxis], axis=1)
        before = np.arange(scores.shape[1]) < wanted[:, np.newaxis]
        rank = (scores > own).sum(axis=1) + ((scores == own) & before).sum(axis=1)
        rows.append((rank < k).astype(np.float64))
    return _mean((rows[0], rows[1]), points=True)


def _positive_score(outputs: Array, spec: str) -> Array:
    """Score of class 1: the only output, or the second of two."""
    flat = outputs.reshape(len(outputs), -1).astype(np.float64)
    if flat.shape[1] > 2:
        raise InputError(
            Problem(f"--metric {spec}", f"the model has {flat.shape[1]} outputs a sample", "one score, or two classes")
        )
    return flat[:, -1] - flat[:, 0] if flat.shape[1] == 2 else flat[:, 0]


def _reconstruction(outputs: Array, inputs: Array, group: int, spec: str) -> Array:
    """Mean squared reconstruction error of every ``group`` consecutive samples."""
    if outputs[0].size != inputs[0].size or len(outputs) % group:
        raise InputError(
            Problem(
                f"--metric {spec}",
                f"{len(outputs)} samples of {inputs[0].size} values in, {outputs[0].size} out",
                f"outputs as large as inputs, and a multiple of {group} samples",
            )
        )
    errors = outputs.reshape(len(outputs), -1).astype(np.float64) - inputs.reshape(len(inputs), -1)
    return np.asarray((errors**2).mean(axis=1).reshape(-1, group).mean(axis=1))


def _per_group(labels: Array, groups: int, group: int) -> Array:
    """One label a group, from as many labels or from one a sample."""
    flat = labels.ravel()
    if len(flat) == groups * group:
        rows = flat.reshape(groups, group)
        if (rows == rows[:, :1]).all():
            return np.asarray(rows[:, 0])
    return flat


def _auc(first: Array, second: Array, labels: Array) -> Paired:
    """Area under the ROC curve; a tie counts half."""
    flat = labels.ravel()
    if len(flat) != len(first):
        raise InputError(Problem("data: 'y'", f"{len(flat)} labels for {len(first)} scores", "one a score"))
    if set(np.unique(flat).tolist()) != {0, 1}:
        raise InputError(Problem("data: 'y'", "an AUC needs labels 0 and 1, and some of both", "0 normal, 1 positive"))
    scores = (first, second)

    def statistic(taken: Array, model: int) -> float:
        values, truth = scores[model][taken], flat[taken] == 1
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
        positive = int(truth.sum())
        pairs = positive * (len(truth) - positive)
        return float((ranks[truth].sum() - positive * (positive + 1) / 2) / pairs)

    return Paired(len(flat), statistic, None, points=True, strata=flat)


def _distance(kind: str, floats: Array, quantised: Array, labels: Array | None) -> Paired:
    """Mean squared error (less is better) or cosine similarity a sample, to target values or to the float outputs."""
    target = floats if labels is None else _need(labels, kind)
    rows = []
    for outputs in (floats, quantised):
        if target.size != outputs.size or len(target) != len(outputs):
            raise InputError(
                Problem("data: 'y'", f"target values have shape {target.shape}", f"the outputs' shape {outputs.shape}")
            )
        got = outputs.reshape(len(outputs), -1).astype(np.float64)
        want = target.reshape(len(outputs), -1).astype(np.float64)
        if kind == "mse":
            rows.append(((got - want) ** 2).mean(axis=1))
        else:
            size = np.linalg.norm(got, axis=1) * np.linalg.norm(want, axis=1)
            rows.append(np.where(size > 0, (got * want).sum(axis=1) / np.where(size > 0, size, 1.0), 1.0))
    return _mean((rows[0], rows[1]), points=False, sign=-1 if kind == "mse" else 1)


def _custom(module: str, name: str, floats: Array, quantised: Array, labels: Array | None, inputs: Array) -> Paired:
    """The user's ``function(outputs, labels, inputs)``: a number, or one a sample; more is better."""
    function = _function(module, name)
    where = f"--metric {module}:{name}"

    def call(outputs: Array, taken: Array) -> Array:
        some = labels if labels is None or len(labels) != len(outputs) else labels[taken]
        try:
            with contextlib.redirect_stdout(sys.stderr):  # what it prints is no part of our own output
                result = np.asarray(function(outputs[taken], some, inputs[taken]), np.float64)
        except (Exception, SystemExit) as error:  # whatever the user's code raises
            raise UsageError(Problem(where, f"raised {type(error).__name__}: {error}", _SIGNATURE)) from error
        if not np.isfinite(result).all():
            raise UsageError(Problem(where, "it returned nothing, or no finite numbers", _SIGNATURE))
        return result

    everything = np.arange(len(floats))
    results = (call(floats, everything), call(quantised, everything))
    if results[0].shape == (len(floats),):
        return _mean(results, points=False)
    if results[0].shape != ():
        raise UsageError(Problem(where, f"it returned an array {results[0].shape}", "a number, or one a sample"))
    return Paired(len(floats), lambda taken, model: float(call((floats, quantised)[model], taken)), None, points=False)


def _function(module: str, name: str) -> Callable[..., Any]:
    """``name`` of an importable module (the current folder included) or of a .py file."""
    where = f"--metric {module}:{name}"
    try:
        with contextlib.redirect_stdout(sys.stderr):
            if module.endswith(".py"):
                found = runpy.run_path(module)[name]
            else:
                sys.path.insert(0, "")
                try:
                    found = getattr(importlib.import_module(module), name)
                finally:
                    sys.path.remove("")
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        what = f"cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(Problem(where, what, f"one of {SPECS}")) from error
    if not callable(found):
        raise UsageError(Problem(where, "is no function", _SIGNATURE))
    return found  # type: ignore[no-any-return]
