"""docs/conformance.md: what became of every case of onnx's suites."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence

from tests.conformance.onnx_cases import GROUP_OF, IN_SCOPE, OTHER_TYPES, NodeCase, collect
from tests.conformance.onnx_nodes import Outcome, exceptions

_HEAD = """# ONNX conformance

Written by `python -m tests.conformance.onnx_nodes --write docs/conformance.md`; do not edit.

Each case of the `onnx` package goes the way of `tinydeploy convert --quantize float32 --cpu host`; what an exporter
writes as an initialiser (weights, shapes, axes, bounds; the table is in `tests/conformance/onnx_cases.py`) is made one.
The C is built with address and undefined-behaviour sanitizers, and its outputs are compared with the suite's (its
tolerances for floats, every bit of integers) and, in every bit, with the twin.
"""


def document(outcomes: Sequence[Outcome]) -> str:
    """The whole text."""
    lines = [_HEAD, "## Cases by suite", "", "| suite | cases | passed of total | |", "|---|---|---|---|"]
    for suite, verdict in dict.fromkeys((o.case.suite, o.case.verdict) for o in outcomes):
        lines.append(f"| {suite} | {verdict} | {_share(outcomes, suite, verdict)} |")
    lines += [
        "",
        "In scope: float32, int8, int16, int32, int64, uint8, bool and the groups below. Of the other element types,",
        "float64, float16 and bfloat16 are computed in float32, unsigned integers of 16 to 64 bits as they are; floats",
        "of 8 bits and what is narrower are refused.",
        "",
        "## Operators in scope (node suite)",
        "",
        "| group | operator | passed of total |",
        "|---|---|---|",
    ]
    lines += _operators([o for o in outcomes if o.case.suite == "node" and o.case.verdict == IN_SCOPE])
    lines += ["", "## Cases in scope that do not pass", "", "| case | reason |", "|---|---|"]
    lines += [f"| {name} | {reason} |" for name, reason in exceptions().items()]
    lines += ["", "## Cases of other element types that do not pass", "", "| case | what is said |", "|---|---|"]
    others = [o for o in outcomes if o.reason and o.case.verdict == OTHER_TYPES]
    lines += [f"| {o.case.name} | {o.reason.replace('|', ' ')} |" for o in others]
    lines += ["", "## Cases that are not run", "", "| why | cases | operators |", "|---|---|---|"]
    lines += _left_out(case for case in collect() if case.verdict not in (IN_SCOPE, OTHER_TYPES))
    return "\n".join([*lines, ""])


def _share(outcomes: Sequence[Outcome], suite: str, verdict: str) -> str:
    chosen = [o for o in outcomes if (o.case.suite, o.case.verdict) == (suite, verdict)]
    good = sum(not o.reason for o in chosen)
    return f"{good} of {len(chosen)} | {good / len(chosen):.1%}"


def _operators(outcomes: Sequence[Outcome]) -> list[str]:
    counts: dict[tuple[str, str], list[int]] = collections.defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        entry = counts[GROUP_OF.get(outcome.case.op, "other"), outcome.case.op]
        entry[0] += not outcome.reason
        entry[1] += 1
    return [f"| {group} | {op} | {good} of {total} |" for (group, op), (good, total) in sorted(counts.items())]


def _left_out(cases: Iterable[NodeCase]) -> list[str]:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for case in cases:
        found[f"{case.verdict}: {case.reason}"].append(case.op)
    return [f"| {why} | {len(ops)} | {', '.join(sorted(set(ops)))} |" for why, ops in sorted(found.items())]
