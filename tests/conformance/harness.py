"""Runs kernels in C on this machine and compares them with the integer twin, many cases in one executable.

Every offer of every node is called twice on each sample: with all its buffers apart, each allocated with exactly its
size, under the address and undefined-behaviour sanitizers; and once more for each input that may overlap the output,
with both placed at exactly the distance its `AccessPlan` calls safe.
"""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.conftest import REPO, need_tool
from tinydeploy.emit.nodes import NodePrinter
from tinydeploy.emit.tables import Tables
from tinydeploy.ir import Array, Elem, Graph, Quant, Type
from tinydeploy.lower import offers_for, target_for
from tinydeploy.lower._contract import LowerContext, Lowered
from tinydeploy.ops._op import Op
from tinydeploy.ops.execute import run_integer

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wmissing-prototypes"]
WARNINGS += ["-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


@dataclasses.dataclass
class Case:
    """A graph of one node and what to feed it: arrays [samples, ...shape] by input name."""

    label: str
    graph: Graph
    feeds: dict[str, Array]


def s8(shape: Sequence[int], scale: float, zero_point: int = 0) -> Type:
    """An int8 type with one scale."""
    return Type(tuple(shape), Elem.S8, Quant.per_tensor(scale, zero_point))


def one_node(
    label: str,
    op: Op,
    inputs: Sequence[Type | tuple[Type, Array] | None],
    outputs: Sequence[Type | Quant | None],
    rng: np.random.Generator,
    samples: int = 2,
) -> Case:
    """A case from types (fed with random data), pairs of type and content (constants) and quantisations of the outputs.

    Random int8 data covers the whole range; float data is normal with a few extremes.
    """
    graph = Graph("case")
    names: list[str | None] = []
    feeds: dict[str, Array] = {}
    for index, item in enumerate(inputs):
        if item is None:
            names.append(None)
        elif isinstance(item, tuple):
            names.append(graph.add_value(f"c{index}", item[0], item[1]))
        else:
            name = graph.add_value(f"x{index}", item)
            graph.inputs.append(name)
            names.append(name)
            feeds[name] = random_data(rng, item, samples)
    inferred = op.infer(tuple(None if n is None else graph.type(n) for n in names))
    results = []
    for index, (kind, given) in enumerate(zip(inferred, outputs, strict=True)):
        final = given if isinstance(given, Type) else dataclasses.replace(kind, quant=given)
        assert final.shape == kind.shape, (final, kind)
        results.append(graph.add_value(f"y{index}", final))
    graph.add_node("node", op, tuple(names), outputs=tuple(results))
    graph.outputs = results
    return Case(label, graph, feeds)


def random_data(rng: np.random.Generator, kind: Type, samples: int) -> Array:
    """Samples of a type; the first is at the ends of the range."""
    shape = (samples, *kind.shape)
    if kind.elem.is_float:
        data = rng.normal(0, 3, shape).astype(np.float32)
        data.ravel()[: min(4, data.size)] = np.array([1e9, -1e9, 0.5, -0.5], np.float32)[: min(4, data.size)]
        return data
    low, high = kind.elem.limits
    data = rng.integers(low, high, shape, np.uint64 if high >= 2**63 else np.int64, endpoint=True)
    data[0] = rng.choice(np.array([low, high], data.dtype), kind.shape)
    return data.astype(kind.elem.dtype)


@dataclasses.dataclass
class _Job:
    case: Case
    low: Lowered
    overlap: tuple[int, int, int] | None  # input index, output index, offset(input) - offset(output)


def jobs_of(case: Case, cpu: str, optimize: str = "balanced") -> list[_Job]:
    """Every offer that makes a call, apart and at each safe distance."""
    node = case.graph.nodes[0]
    offers = offers_for(LowerContext(case.graph, node, target_for(cpu, optimize)))
    assert offers, f"{case.label}: no kernel"
    return [job for offer in offers if not offer.view for job in _placements(case, Lowered(node, offer))]


def _placements(case: Case, low: Lowered) -> list[_Job]:
    access = low.offer.access
    assert access is not None
    steps = {len(span.low) for span in (*access.reads, *access.writes) if span is not None}
    assert len(steps) == 1, f"{case.label}: spans of different lengths"
    placements = [_Job(case, low, None)]
    for i, span in enumerate(access.reads):
        for o in range(len(access.writes)) if span is not None else ():
            width = case.graph.type(str(low.node.inputs[i])).elem.dtype.itemsize
            other = case.graph.type(low.node.outputs[o]).elem.dtype.itemsize
            placements.append(_Job(case, low, (i, o, _round_up(access.distance(i, o), max(width, other)))))
    return placements


def _round_up(value: int, align: int) -> int:
    return -(-value // align) * align


def check(
    cases: Sequence[Case],
    folder: Path,
    cpu: str = "host",
    defines: Sequence[str] = (),
    compiler: str = "gcc",
    optimize: str = "balanced",
) -> int:
    """Build and run all cases; returns how many calls of kernels were compared. Fails with every difference."""
    need_tool(compiler)
    jobs = [job for case in cases for job in jobs_of(case, cpu, optimize)]
    results = _run(jobs, folder, defines, compiler)
    wanted = {id(case): run_integer(case.graph, case.feeds) for case in cases}
    faults = []
    for job, outputs in zip(jobs, results, strict=True):
        for name in job.case.graph.outputs:
            right = wanted[id(job.case)][name]
            if not np.array_equal(outputs[name], right, equal_nan=right.dtype.kind == "f"):
                place = f" at distance {job.overlap}" if job.overlap else ""
                bad = np.argwhere(outputs[name] != right)
                first = tuple(int(i) for i in bad[0]) if len(bad) else ()
                faults.append(
                    f"{job.case.label} [{job.low.offer.kernel}: {job.low.offer.note}]{place}: {len(bad)} of"
                    f" {right.size} differ, first at {first}: {outputs[name][first]}, should be {right[first]}"
                )
    assert not faults, "\n".join([f"{len(faults)} of {len(jobs)} calls differ:", *faults[:40]])
    return len(jobs)


def _run(jobs: Sequence[_Job], folder: Path, defines: Sequence[str], compiler: str) -> list[dict[str, Array]]:
    runtime = REPO / "runtime_c"
    (folder / "cases.c").write_text(_program(jobs), "utf-8")
    sources = sorted({source for job in jobs for source in job.low.offer.sources})
    flags = [compiler, "-std=c99", "-g", *SANITIZE, *WARNINGS, *(f"-D{d}" for d in defines), f"-I{runtime / 'include'}"]
    _build([*flags, "-O0", "-c", "cases.c"], folder)  # optimised, thousands of tables take clang a minute
    _build([*flags, "-O1", "cases.o", *(str(runtime / "src" / s) for s in sources), "-lm", "-o", "cases"], folder)
    feed = b"".join(
        job.case.feeds[name][s].tobytes()
        for job in jobs
        for s in range(_samples(job))
        for name in job.case.graph.inputs
    )
    ran = subprocess.run([str(folder / "cases")], input=feed, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode("utf-8", "replace")[:8000]
    return list(_split(jobs, ran.stdout))


def _build(command: list[str], folder: Path) -> None:
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:8000]


def _samples(job: _Job) -> int:
    return next((len(array) for array in job.case.feeds.values()), 1)


def _split(jobs: Sequence[_Job], data: bytes):
    at = 0
    for job in jobs:
        kinds = {name: job.case.graph.type(name) for name in job.case.graph.outputs}
        outputs = {name: np.empty((_samples(job), *kind.shape), kind.elem.dtype) for name, kind in kinds.items()}
        for sample in range(_samples(job)):
            for name, kind in kinds.items():
                size = kind.size * kind.elem.dtype.itemsize
                outputs[name][sample] = np.frombuffer(data[at : at + size], kind.elem.dtype).reshape(kind.shape)
                at += size
        yield outputs
    assert at == len(data)


def _program(jobs: Sequence[_Job]) -> str:
    headers = sorted({header for job in jobs for header in job.low.offer.headers})
    lines = ["#include <stdint.h>", "#include <stdio.h>", "#include <stdlib.h>", '#include "td_arch.h"']
    lines += [f'#include "{header}"' for header in headers]
    lines += [
        "static uint8_t *exact(size_t n) { void *p = malloc(n ? n : 1); if (!p) exit(9); return p; }",
        "static void load(uint8_t *p, size_t n) { if (fread(p, 1, n, stdin) != n) exit(8); }",
        "static void save(const uint8_t *p, size_t n) { if (fwrite(p, 1, n, stdout) != n) exit(7); }",
    ]
    tables = Tables("cases", [])
    for number, job in enumerate(jobs):
        lines += _case(job, number, tables)
    lines += ["int main(void)", "{"]
    lines += [f"    for (int i = 0; i < {_samples(job)}; ++i) {{ run{number}(); }}" for number, job in enumerate(jobs)]
    return "\n".join([*lines, "    return 0;", "}", ""])


def _case(job: _Job, number: int, tables: Tables) -> list[str]:
    graph, low = job.case.graph, job.low
    used = [n for n in dict.fromkeys(low.node.inputs) if n is not None and graph.constant(n) is None]
    places = {name: f"v{i}" for i, name in enumerate((*used, *low.node.outputs))}
    text = NodePrinter(graph, low, number, "case", places, "scratch").text(tables, "")
    parameters = ", ".join(f"uint8_t *{v}" for v in places.values())
    lines = [f"/* {job.case.label}: {low.offer.kernel} {job.overlap or ''} */", *text.tables]
    lines += [f"static void call{number}({parameters}, uint8_t *scratch)", "{"]
    lines += [*(f"    (void){v};" for v in (*places.values(), "scratch")), *text.body, "}"]
    sizes = {name: graph.type(name).size * graph.type(name).elem.dtype.itemsize for name in places}
    lines += [f"static void run{number}(void)", "{"]
    together: dict[str, int] = {}
    if job.overlap is not None:
        i, o, distance = job.overlap
        source, result = str(low.node.inputs[i]), low.node.outputs[o]
        together = {source: max(distance, 0), result: max(-distance, 0)}
        lines.append(f"    uint8_t *const arena = exact({max(at + sizes[n] for n, at in together.items())});")
    for name, place in places.items():
        where = f"arena + {together[name]}" if name in together else f"exact({sizes[name]})"
        lines.append(f"    uint8_t *const {place} = {where};")
    lines.append(
        f"    uint8_t *const scratch = {f'exact({low.offer.scratch_bytes})' if low.offer.scratch_bytes else 'NULL'};"
    )
    lines += [f"    load({places[name]}, {sizes[name]});" for name in graph.inputs]
    lines.append(f"    call{number}({', '.join(places.values())}, scratch);")
    lines += [f"    save({places[name]}, {sizes[name]});" for name in graph.outputs]
    lines += [f"    free({place});" for name, place in places.items() if name not in together]
    lines += ["    free(scratch);", *(["    free(arena);"] if together else []), "}"]
    return lines
