"""What becomes of every model in ../shared/models: imported, compared with its runtime, converted, run in C.

    python -m tests.conformance.shared_models [--only TEXT] [--write docs/models.md]

A model passes if its graph agrees with its own runtime (float: 1e-4 of the largest output; TFLite integers: every bit
of LiteRT's reference kernels; QDQ and QLinear ONNX: one step), and if the C made of it gives the twin's bits on this
machine, at the model's own level and, for float models, in float32 and in int8 with random calibration data.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.conftest import REPO, SHARED
from tinydeploy import pipeline
from tinydeploy.errors import TinydeployError
from tinydeploy.ir import Graph

MODELS = SHARED / "models"
SUFFIXES = (".onnx", ".tflite", ".h5", ".keras")
HEAVY_MACS = 60_000_000  # one sample of it in NumPy takes minutes
# What is refused on purpose, and the words that the refusal has to hold.
REFUSED = {
    "tflm/audio_preprocessor_int8.tflite": "custom operator 'SignalWindow'",
    "onnx2c/test_split_variable_parts_1d.onnx": "computed at run time",
    "onnx2c/test_split_variable_parts_2d.onnx": "computed at run time",
    "onnx2c/test_split_variable_parts_default_axis.onnx": "computed at run time",
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One model. ``verdict``: "agrees", "twin only" (its runtime does not run it), "refused", or what failed."""

    name: str
    verdict: str
    detail: str
    seconds: float  # of the import
    levels: tuple[tuple[str, str], ...] = ()  # level -> "exact" or what failed

    @property
    def passed(self) -> bool:
        """True if all that holds which the module's docstring asks for."""
        if self.verdict == "refused":
            return REFUSED.get(self.name, "\0") in self.detail
        return self.verdict in ("agrees", "twin only") and all(text.startswith("exact") for _, text in self.levels)


def files() -> list[Path]:
    """Every model file, and every SavedModel folder."""
    found = [path for path in MODELS.rglob("*") if path.suffix in SUFFIXES]
    return sorted([*found, *(path.parent for path in MODELS.rglob("saved_model.pb"))])


def examine(path: Path) -> Row:
    """Everything about one model; never raises."""
    name = path.relative_to(MODELS).as_posix()
    start = time.perf_counter()
    try:
        loaded = pipeline.load(path)
        graph = pipeline.optimise(loaded)
    except TinydeployError as error:
        problems = "; ".join(f"{p.where}: {p.what}" for p in error.problems)
        return Row(name, "refused", problems, time.perf_counter() - start)
    except Exception as error:
        return Row(name, "crashed", f"{type(error).__name__}: {error}", time.perf_counter() - start)
    seconds = time.perf_counter() - start
    try:
        verdict, detail = _agreement(path, graph)
    except Exception as error:
        verdict, detail = "crashed", f"{type(error).__name__}: {error}"
    own = "int16x8" if any(v.type.quant and v.type.elem.value == "int16" for v in graph.values.values()) else "int8"
    levels = (own,) if graph.is_quantised() else ("float32", "int8")
    heavy = pipeline.count_macs(graph) > HEAVY_MACS
    return Row(name, verdict, detail, seconds, tuple((level, _exact(graph, level, heavy)) for level in levels))


def _agreement(path: Path, graph: Graph) -> tuple[str, str]:
    from tinydeploy.validation.oracle import check_against

    known = len(graph.warnings)
    try:
        runtime = check_against(path, graph)
    except TinydeployError as error:
        return "disagrees", "; ".join(p.what for p in error.problems)
    return ("agrees", runtime) if runtime else ("twin only", "; ".join(graph.warnings[known:]))


def _exact(graph: Graph, level: str, heavy: bool) -> str:
    """Convert at a level; run the C on this machine and compare it with the twin, but for models of many MACs."""
    from tinydeploy.validation import check

    try:
        calibration = None
        if level == "int8" and not graph.is_quantised():
            if heavy:
                return "exact: not run, too many MACs"
            calibration = check.random_samples(graph, 4)
        quantised = pipeline.quantise(graph, level, calibration)
        options = pipeline.ConvertOptions(quantize=level, check=False, name="model")
        project = pipeline.compile_graph(quantised, graph, options, None)
        if heavy:
            return "exact: converted, not run (too many MACs)"
        with tempfile.TemporaryDirectory(prefix="td-models-") as scratch:
            folder = Path(scratch) / "project"
            project.write(folder)
            opened = pipeline.open_folder(folder)
            samples = check.prepare(opened.quantised, check.random_samples(opened.quantised, 2), None)
            result = pipeline.validate(opened, "host", samples)
        floats = len([w for w in project.manifest["warnings"] if "runs in float32" in w])
        islands = f", {floats} nodes in float32" if floats else ""
        return f"exact{islands}" if result["bit_exact"] else f"{result['mismatches']} outputs differ"
    except TinydeployError as error:
        return "; ".join(p.what for p in error.problems)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def table(rows: Iterable[Row]) -> str:
    """The document."""
    rows = list(rows)
    good = sum(row.passed for row in rows)
    served = sum(row.passed and row.verdict != "refused" for row in rows)
    lines = [
        "# Models of others",
        "",
        "Made by `python -m tests.conformance.shared_models --write docs/models.md` from the models in ../shared.",
        "",
        f"{len(rows)} models: {served} convert and agree ({100 * served / max(len(rows), 1):.1f} %), "
        f"{good - served} are refused for a right reason, {len(rows) - good} fail.",
        "",
        "| model | import | compared with | C against the twin, by level |",
        "|---|---|---|---|",
    ]
    for row in rows:
        levels = "; ".join(f"{level}: {_cell(text)}" for level, text in row.levels) or "-"
        mark = "" if row.passed else "**FAILS** "
        lines.append(f"| {row.name} | {mark}{row.verdict} | {_cell(row.detail)} | {levels} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    flat = " ".join(text.replace("|", "\\|").split()).replace(str(MODELS), "models")
    return flat if len(flat) <= 220 else f"{flat[:217]}..."


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose path holds this text")
    parser.add_argument("--write", type=Path, help="write the table to this file")
    parser.add_argument("-j", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    np.seterr(all="ignore")
    chosen = [path for path in files() if arguments.only in path.relative_to(MODELS).as_posix()]
    rows = []
    with multiprocessing.get_context("spawn").Pool(arguments.j) as pool:
        for row in pool.imap(examine, chosen):
            rows.append(row)
            mark = "ok  " if row.passed else "FAIL"
            levels = "; ".join(f"{level}: {text[:160]}" for level, text in row.levels)
            print(f"{mark} {row.name} {row.seconds:.1f} s: {row.verdict} {row.detail[:200]} | {levels}", flush=True)
    if arguments.write:
        (REPO / arguments.write).write_text(table(rows), "utf-8")
    print(f"{sum(row.passed for row in rows)} of {len(rows)}")
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
