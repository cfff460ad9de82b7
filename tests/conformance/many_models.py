"""Builds hundreds of generated models into one program of this computer and runs each once, under the sanitizers.

Generated files repeat names (`at_end`, `n0_...`) that are private to a file; a compiler run a file would take minutes,
so many files are joined and those names get the model's in front.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.harness import SANITIZE, WARNINGS
from tinydeploy.emit import Project
from tinydeploy.ir import Array, Elem

BATCH = 24  # models a compiler run
_JOBS = 2
_BASE = ["gcc", "-std=c99", "-g1", "-ffp-contract=off", *SANITIZE, *WARNINGS, "-Iruntime/include", "-I."]
_PRIVATE = re.compile(r"\b(at_|n\d+_)(?=\w)")


def run_all(
    projects: Mapping[str, Project], feeds: Mapping[str, Mapping[str, Array]], folder: Path
) -> dict[str, dict[str, Array] | str]:
    """Outputs of every model by name, or what went wrong with it: the first lines of the compiler or the sanitizer.

    ``projects``: by the model's C name, all of cpu "host"; ``feeds``: one array an input, in the model's own types.
    """
    faults: dict[str, dict[str, Array] | str] = {}
    runtime = {path: text for p in projects.values() for path, text in p.files.items() if path.startswith("runtime/")}
    for path, text in runtime.items():
        _write(folder / path, text)
    for name, project in projects.items():
        _write(folder / f"{name}.h", project.files[f"{name}.h"])
    sources = sorted(path for path in runtime if path.endswith(".c"))
    with ThreadPoolExecutor(max_workers=_JOBS) as pool:
        said = dict(zip(sources, pool.map(lambda path: _compile(path, folder, "-O1"), sources), strict=True))
        broken = {path: _first_error(text) for path, text in said.items() if text}
        for name, project in projects.items():
            faults.update((name, f"{path}: {text}") for path, text in broken.items() if path in project.files)
        names = [name for name in projects if name not in faults]
        batches = [[projects[n] for n in names[start : start + BATCH]] for start in range(0, len(names), BATCH)]
        for found in pool.map(lambda pair: _batch(*pair, folder), enumerate(batches)):
            faults.update(found)
    good = [name for name in names if name not in faults]
    if not good:
        return faults
    _write(folder / "main.c", _main([projects[name] for name in good]))
    refused = _compile("main.c", folder, "-O0")
    assert not refused, refused
    objects = [f"{Path(path).stem}.o" for path in (*sources, "main.c") if path not in broken]
    objects += [path.name for path in sorted(folder.glob("batch*.o"))]
    link = ["gcc", *SANITIZE, *objects, "-lm", "-o", "models"]
    linked = subprocess.run(link, cwd=folder, capture_output=True, text=True, check=False)
    assert linked.returncode == 0, linked.stderr[:4000]
    return {**faults, **_run([projects[name] for name in good], feeds, folder)}


def _write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def _compile(source: str, folder: Path, level: str) -> str:
    """Compile one file; returns what the compiler said if it refused."""
    command = [*_BASE, level, "-c", source, "-o", f"{Path(source).stem}.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr[:2000] if done.returncode else ""


def _batch(number: int, projects: Sequence[Project], folder: Path) -> dict[str, str]:
    """Compile models together; where that fails, find those at fault one by one and leave them out."""
    faults: dict[str, str] = {}
    name = f"batch{number}"
    _write(folder / f"{name}.c", "\n".join(_joined(p) for p in projects))
    if not _compile(f"{name}.c", folder, "-O0"):
        return faults
    for project in projects:
        _write(folder / f"one_{project.name}.c", _joined(project))
        said = _compile(f"one_{project.name}.c", folder, "-O0")
        if said:
            faults[project.name] = f"does not compile: {_first_error(said)}"
    _write(folder / f"{name}.c", "\n".join(_joined(p) for p in projects if p.name not in faults))
    said = _compile(f"{name}.c", folder, "-O0")
    assert not said, said
    return faults


def _joined(project: Project) -> str:
    text = _PRIVATE.sub(rf"{project.name}_\1", str(project.files[f"{project.name}.c"]))
    return f"#undef TD_MODEL_CHECK\n{text}"


def _first_error(text: str) -> str:
    return next((line for line in text.splitlines() if "error" in line), text[:200])


def _elem(tensor: Mapping[str, Any]) -> Elem:
    return Elem(tensor["dtype"])


def _nbytes(tensor: Mapping[str, Any]) -> int:
    return int(np.prod(tensor["shape"], dtype=np.int64)) * _elem(tensor).dtype.itemsize


def _main(projects: Sequence[Project]) -> str:
    """Reads in.bin and writes out.bin, model after model, each at a place of its own; begins at the model argv[1]."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", *(f'#include "{p.name}.h"' for p in projects)]
    lines += [
        "static FILE *in, *out;",
        "static void at(long i, long o)",
        "{ if (fseek(in, i, SEEK_SET) != 0 || fseek(out, o, SEEK_SET) != 0) exit(9); }",
        "static void load(void *p, size_t n) { if (fread(p, 1, n, in) != n) exit(8); }",
        "static void save(const void *p, size_t n) { if (fwrite(p, 1, n, out) != n) exit(7); }",
    ]
    calls, taken, made = [], 0, 0
    for number, project in enumerate(projects):
        name, inputs, outputs = project.name, project.manifest["inputs"], project.manifest["outputs"]
        lines += [f"{name.upper()}_STATIC_CTX({name}_c);", f"static void {name}_do(void)", "{"]
        lines += [f"    at({taken}, {made});"]
        lines += [f"    {name}_reset(&{name}_c);"] * bool(project.manifest["state_bytes"])
        lines += [f"    load({t['function']}(&{name}_c), {_nbytes(t)});" for t in inputs]
        lines += [f"    {name}_run(&{name}_c);"]
        lines += [f"    save({t['function']}(&{name}_c), {_nbytes(t)});" for t in outputs]
        lines += ["}"]
        calls += [f'    if (first <= {number}) {{ fprintf(stderr, "@{number}\\n"); {name}_do(); fflush(out); }}']
        taken, made = taken + sum(map(_nbytes, inputs)), made + sum(map(_nbytes, outputs))
    lines += ["int main(int argc, char **argv)", "{", "    const int first = argc > 1 ? atoi(argv[1]) : 0;"]
    lines += ['    in = fopen("in.bin", "rb");', '    out = fopen("out.bin", "r+b");']
    return "\n".join([*lines, "    if (!in || !out) return 6;", *calls, "    return 0;", "}", ""])


def _run(
    projects: Sequence[Project], feeds: Mapping[str, Mapping[str, Array]], folder: Path
) -> dict[str, dict[str, Array] | str]:
    data = b"".join(
        np.ascontiguousarray(feeds[p.name][t["name"]], _elem(t).dtype).tobytes()
        for p in projects
        for t in p.manifest["inputs"]
    )
    sizes = [sum(_nbytes(t) for t in p.manifest["outputs"]) for p in projects]
    (folder / "in.bin").write_bytes(data)
    (folder / "out.bin").write_bytes(bytes(sum(sizes)))
    found: dict[str, dict[str, Array] | str] = {}
    first = 0
    while first < len(projects):
        done = subprocess.run(
            ["./models", str(first)],
            cwd=folder,
            capture_output=True,
            check=False,
            env={"ASAN_OPTIONS": "detect_leaks=0"},
        )
        if done.returncode == 0:
            break
        said = done.stderr.decode("utf-8", "replace")
        at = max(int(n) for n in re.findall(r"^@(\d+)$", said, re.MULTILINE))
        reason = next((x for x in said.split(f"@{at}\n", 1)[1].splitlines() if "rror" in x), f"exit {done.returncode}")
        found[projects[at].name] = f"stopped: {reason}"
        first = at + 1
    content, place = (folder / "out.bin").read_bytes(), 0
    for project in projects:
        outputs: dict[str, Array] = {}
        for tensor in project.manifest["outputs"]:
            size = _nbytes(tensor)
            outputs[tensor["name"]] = np.frombuffer(
                content, _elem(tensor).dtype, size // _elem(tensor).dtype.itemsize, place
            ).reshape(tensor["shape"])
            place += size
        found.setdefault(project.name, outputs)
    return found
