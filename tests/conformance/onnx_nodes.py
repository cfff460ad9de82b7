"""ONNX's own cases as generated C on this computer: `python -m tests.conformance.onnx_nodes [--ops Conv,Gemm]`.

Every case goes the way of `convert --quantize float32 --cpu host`: import, passes, kernels, plan, C. The program's
outputs are compared with what the suite expects and, in every bit, with the twin.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.conformance import many_models
from tests.conformance.onnx_cases import IN_SCOPE, OTHER_TYPES, NodeCase, collect
from tinydeploy import frontends, pipeline
from tinydeploy.emit import Project
from tinydeploy.errors import TinydeployError
from tinydeploy.ir import Array
from tinydeploy.ops.execute import run_integer

EXCEPTIONS = Path(__file__).with_name("onnx_exceptions.txt")
_WORKERS = 2


@dataclasses.dataclass
class Outcome:
    """What became of a case; ``reason`` is empty if it passed."""

    case: NodeCase
    reason: str = ""


@dataclasses.dataclass
class _Made:
    """A case that was turned into C: the files, what they are fed and what the twin computes."""

    project: Project
    feeds: dict[str, Array]
    twin: dict[str, Array]


def run(cases: Sequence[NodeCase], folder: Path, workers: int = _WORKERS) -> list[Outcome]:
    """Convert, build, run and compare; in the order of ``cases``."""
    if workers > 1:
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as pool:
            made = list(pool.map(_make, enumerate(cases), chunksize=16))
    else:
        made = [_make(pair) for pair in enumerate(cases)]
    good = {item.project.name: item for item in made if not isinstance(item, str)}
    results = many_models.run_all(
        {name: item.project for name, item in good.items()}, {name: item.feeds for name, item in good.items()}, folder
    )
    return [
        Outcome(case, item if isinstance(item, str) else _judge(case, item, results[item.project.name]))
        for case, item in zip(cases, made, strict=True)
    ]


def _make(numbered: tuple[int, NodeCase]) -> _Made | str:
    """The C of a case, or why there is none."""
    number, case = numbered
    with tempfile.TemporaryDirectory(prefix="td-onnx-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflows that the cases are about
        path = Path(name) / f"{case.name[:100]}.onnx"
        path.write_bytes(case.model)
        try:
            graph = pipeline.optimise(frontends.load(path, input_shapes={}))
            options = pipeline.ConvertOptions(quantize="float32", cpu="host", name=f"m{number}")
            project = pipeline.compile_graph(graph, graph, options, None)
            # not ascontiguousarray: it gives a scalar an axis
            feeds = {n: np.array(a, graph.type(n).elem.dtype, order="C") for n, a in case.feeds.items()}
            twin = run_integer(graph, {n: a[None] for n, a in feeds.items()})
        except TinydeployError as error:
            problem = error.problems[0]
            return f"refused: {problem.what}" + (f" ({problem.rule})" if problem.rule else "")
        except Exception as error:  # a defect: to be seen in the table beside the others
            return f"crashed: {type(error).__name__}: {str(error)[:200]}"
    return _Made(project, feeds, {n: array[0] for n, array in twin.items()})


def _judge(case: NodeCase, made: _Made, result: dict[str, Array] | str) -> str:
    """Empty if the program's outputs are the expected ones and the twin's in every bit."""
    if isinstance(result, str):
        return result
    for (name, wanted), (own, have) in zip(case.wanted.items(), result.items(), strict=False):
        twin = made.twin[own]
        if have.tobytes() != twin.tobytes() and not np.array_equal(have, twin, equal_nan=have.dtype.kind == "f"):
            return f"differs from the twin: {_difference(name, have, twin)}"
        exact = have.dtype == wanted.dtype or case.verdict == OTHER_TYPES
        if have.shape != wanted.shape or not exact:
            return f"{name!r} is {have.dtype}{list(have.shape)}, should be {wanted.dtype}{list(wanted.shape)}"
        if wanted.dtype.kind in "iub":
            same = np.array_equal(have, wanted)
        else:
            same = np.allclose(have.astype(np.float64), wanted.astype(np.float64), case.rtol, case.atol, equal_nan=True)
        if not same:
            return f"wrong: {_difference(name, have, wanted)}"
    missing = len(case.wanted) - len(result)
    return f"{missing} outputs are missing" if missing else ""


def _difference(name: str, have: Array, wanted: Array) -> str:
    with np.errstate(all="ignore"):
        near = np.isclose(have.astype(np.float64), wanted.astype(np.float64), 1e-3, 1e-7, equal_nan=True)
    if near.all():
        near = have == wanted
    at = tuple(int(i) for i in np.argwhere(~near)[0]) if have.shape == wanted.shape and not near.all() else ()
    return f"{name!r} at {at}: {have[at]!s:.40}, should be {wanted[at]!s:.40} ({np.sum(~near)} of {have.size})"


def exceptions() -> dict[str, str]:
    """Reason by name of the cases that are known not to pass."""
    lines = EXCEPTIONS.read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def chosen(ops: Sequence[str] = ()) -> list[NodeCase]:
    """Cases that are run: in scope or of other element types; of these operators only, if any are named."""
    return [c for c in collect() if c.verdict in (IN_SCOPE, OTHER_TYPES) and (not ops or c.op in ops)]


def table(outcomes: Sequence[Outcome]) -> str:
    """Passed and total by operator, a line an operator."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        counts[outcome.case.op][0] += not outcome.reason
        counts[outcome.case.op][1] += 1
    return "\n".join(f"{op:24s} {good:4d} / {total:d}" for op, (good, total) in sorted(counts.items()))


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """One line a suite and verdict."""
    counts: dict[tuple[str, str], list[int]] = {}
    for outcome in outcomes:
        entry = counts.setdefault((outcome.case.suite, outcome.case.verdict), [0, 0])
        entry[0] += not outcome.reason
        entry[1] += 1
    return [f"{s} ({v}): {good} of {n} = {good / n:.1%}" for (s, v), (good, n) in counts.items()]


def main(arguments: Sequence[str]) -> int:
    """The command; returns 1 if a case in scope failed that is not among the exceptions."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.onnx_nodes", description=__doc__)
    parser.add_argument("--ops", default="", help="only these operators, for example Conv,Gemm")
    parser.add_argument("--write", type=Path, help="write the document, docs/conformance.md")
    parser.add_argument("--keep", type=Path, help="build in this folder and leave it")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    cases = chosen([op for op in given.ops.split(",") if op])
    print(f"{len(cases)} cases, collected in {time.monotonic() - started:.0f} s", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="td-onnx-c-") as name:
        outcomes = run(cases, given.keep or Path(name))
    print(table(outcomes))
    failed = [outcome for outcome in outcomes if outcome.reason]
    print("\n".join(f"{o.case.op}: {o.case.name} ({o.case.verdict}): {o.reason}" for o in failed))
    print("\n".join(summary(outcomes)), f"in {time.monotonic() - started:.0f} s", sep="\n")
    if given.write is not None:
        from tests.conformance.onnx_report import document

        given.write.write_text(document(outcomes), "utf-8")
    known = exceptions()
    return int(any(o.case.verdict == IN_SCOPE and o.case.name not in known for o in failed))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main(sys.argv[1:]))
