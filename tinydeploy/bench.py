"""The benchmark: five models on six cores, counted in QEMU and read from the linker map, next to the measured peer."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tinydeploy import pipeline
from tinydeploy.errors import InputError, Problem, ToolError
from tinydeploy.ir import Graph

MODELS = ("ad", "kws", "sww", "ic_resnet8", "vww")
# cpu -> the emulated board it is measured on
BOARDS = {
    "cortex-m0": "microbit-large",
    "cortex-m3": "mps2-an385",
    "cortex-m4f": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}

# TensorFlow Lite Micro 90b983c with CMSIS-NN 99f736a, arm-none-eabi-gcc 12.2, QEMU 7.2, the same int8 models:
# executed instructions an inference (M7 and M33 run the M4 code within 1 %; only two figures were taken there)
TFLM_INSTRUCTIONS: dict[str, dict[str, int]] = {
    "cortex-m0": {"ad": 1_763_083, "kws": 28_996_895, "sww": 9_546_334, "ic_resnet8": 97_559_038, "vww": 86_903_091},
    "cortex-m3": {"ad": 955_920, "kws": 10_530_000, "sww": 4_730_000, "ic_resnet8": 41_800_000, "vww": 32_000_000},
    "cortex-m4f": {"ad": 582_891, "kws": 7_697_710, "sww": 2_226_937, "ic_resnet8": 29_863_914, "vww": 24_101_517},
    "cortex-m7": {"ic_resnet8": 30_000_000, "vww": 24_000_000},
    "cortex-m33": {"ic_resnet8": 30_000_000, "vww": 24_000_000},
    "cortex-m55": {"ad": 149_925, "kws": 1_813_519, "sww": 407_272, "ic_resnet8": 4_912_109, "vww": 6_557_924},
}
# bytes on M4: (all RAM, total flash)
TFLM_MEMORY: dict[str, tuple[int, int]] = {
    "ad": (3_400, 305_076),
    "kws": (25_192, 108_380),
    "sww": (18_776, 126_396),
    "ic_resnet8": (57_368, 150_744),
    "vww": (103_080, 387_732),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """One model on one core. ``file``: its name. Instructions are executed ones an inference; memory in bytes."""

    model: str
    file: str
    cpu: str
    board: str
    bit_exact: bool
    macs: int
    instructions: int
    cycles_estimated: int | None
    arena: int
    static: int
    stack: int
    weights: int
    code: int
    tflm_instructions: int | None
    tflm_ram: int
    tflm_flash: int

    @property
    def ram(self) -> int:
        """All RAM: arena, static data, stack."""
        return self.arena + self.static + self.stack

    @property
    def flash(self) -> int:
        """All flash the model adds to a firmware: code and weights."""
        return self.code + self.weights


def find_models(names: Sequence[str], folder: Path | None, report: Callable[[str], None]) -> dict[str, Path]:
    """The int8 models ``names``: in ``folder``, in the material beside a checkout, or built by examples/mlperf_tiny.

    Raises: InputError if a model is missing in ``folder`` or cannot be built (a wheel without the examples), ToolError
    where they would be built and there is no keras.
    """
    repo = Path(__file__).resolve().parent.parent
    shared = Path(os.environ.get("TD_SHARED", repo.parent / "shared")) / "models" / "mlperf_tiny"
    if folder is None and shared.is_dir():
        folder = shared
    if folder is not None:
        paths = {name: folder / f"{name}_int8.tflite" for name in names}
        problems = [Problem(str(path), "is missing") for path in paths.values() if not path.is_file()]
        if problems:
            raise InputError(problems)
        return paths
    script = repo / "examples" / "mlperf_tiny" / "build.py"
    if not script.is_file():
        raise InputError(Problem("bench", "no models found", hint="--models DIR with ad_int8.tflite and the others"))
    out = repo / "out" / "mlperf_tiny"
    if importlib.util.find_spec("keras") is None:
        hint = "pip install 'tinydeploy[oracle-keras]', or --models DIR with ad_int8.tflite and the others"
        raise ToolError(Problem("bench", "its models are built with keras, which is not installed", hint=hint))
    report("building the models")
    command = [sys.executable, str(script), "-o", str(out), "--models", ",".join(names)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {name: out / f"{name}.h5" for name in names}


def _quantised(path: Path) -> tuple[Graph, Graph, int]:
    """The optimised graph of a model, its quantised form, and the file's MACs; a float model's calibration data lies
    beside it.
    """
    from tinydeploy.data import load_data

    loaded = pipeline.load(path)
    graph, macs = pipeline.optimise(loaded), pipeline.count_macs(loaded)
    if graph.is_quantised():
        return graph, graph, macs
    calibration = load_data(path.with_name(f"{path.stem}_calibration.npz"), graph).x
    return graph, pipeline.quantise(graph, "int8", calibration), macs


def measure(names: Sequence[str], cpus: Sequence[str], folder: Path | None, report: Callable[[str], None]) -> list[Row]:
    """Convert, build and run every model for every core on one random input, checking that it is bit-exact."""
    from tinydeploy.validation import check

    paths = find_models(names, folder, report)
    rows = []
    for name in names:
        reference, quantised, macs = _quantised(paths[name])
        for cpu in cpus:
            board = BOARDS[cpu]
            report(f"{name} on {board}")
            options = pipeline.ConvertOptions(cpu=cpu, name=name, check=False)
            project = pipeline.compile_graph(quantised, reference, options, None, macs)
            with tempfile.TemporaryDirectory(prefix="tinydeploy-bench-") as scratch:
                path = Path(scratch) / name
                project.write(path)
                opened = pipeline.open_folder(path)
                samples = check.prepare(quantised, check.random_samples(quantised, 1), None)
                result = pipeline.validate(opened, board, samples)
                built = json.loads((path / "build" / board / "build.json").read_text("utf-8"))
            rows.append(_row(paths[name].name, name, cpu, board, result, built, project.manifest))
    return rows


def _row(
    file: str, name: str, cpu: str, board: str, result: dict[str, Any], built: dict[str, Any], manifest: dict[str, Any]
) -> Row:
    cycles = result["cycles_estimated"]
    return Row(
        model=name,
        file=file,
        cpu=cpu,
        board=board,
        bit_exact=result["bit_exact"],
        macs=manifest["macs"],
        instructions=result["instructions"]["per_inference"],
        cycles_estimated=None if cycles is None else cycles["per_inference"],
        arena=built["ram"]["arena"],
        static=built["ram"]["static"] + built["ram"]["state"],
        stack=built["ram"]["stack_bound"] or result["stack_bytes"],
        weights=built["flash"]["weights"],
        code=built["flash"]["code"],
        tflm_instructions=TFLM_INSTRUCTIONS[cpu].get(name),
        tflm_ram=TFLM_MEMORY[name][0],
        tflm_flash=TFLM_MEMORY[name][1],
    )


def to_markdown(rows: list[Row]) -> str:
    """The rows as the page docs/benchmarks.md."""
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` from {', '.join(dict.fromkeys(row.file for row in rows))}: int8 MLPerf Tiny models;",
        "`.h5` files are built by `examples/mlperf_tiny`, with random weights. Instructions executed an inference,",
        "counted in QEMU; bytes from the linker map and the stack bound. TFLM = TensorFlow Lite Micro with CMSIS-NN",
        "on the trained models, measured the same way (its memory figures are those of the M4). Instructions are not",
        "cycles; estimated cycles are at the costs of a Cortex-M4 without wait states, whatever the core.",
        "",
    ]
    for cpu in dict.fromkeys(row.cpu for row in rows):
        chosen = [row for row in rows if row.cpu == cpu]
        tables = [_cells(row) for row in chosen]
        lines += [f"## {cpu} ({chosen[0].board})", "", _line(tables[0]), "|---" * len(tables[0]) + "|"]
        lines += [_line(cells.values()) for cells in tables]
        lines.append("")
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row) -> dict[str, str]:
    """A row's cells by column title."""
    peer = row.tflm_instructions
    return {
        "model": row.model,
        "bit-exact": "yes" if row.bit_exact else "NO",
        "instructions": f"{row.instructions:,}",
        "per MAC": f"{row.instructions / row.macs:.2f}",
        "TFLM": "-" if peer is None else f"{peer:,}",
        "ratio": "-" if peer is None else f"{row.instructions / peer:.2f}",
        "cycles (est.)": "-" if row.cycles_estimated is None else f"{row.cycles_estimated:,}",
        "arena": f"{row.arena:,}",
        "static": f"{row.static:,}",
        "stack": f"{row.stack:,}",
        "all RAM": f"{row.ram:,}",
        "TFLM RAM": f"{row.tflm_ram:,}",
        "code": f"{row.code:,}",
        "weights": f"{row.weights:,}",
        "flash": f"{row.flash:,}",
        "TFLM flash": f"{row.tflm_flash:,}",
    }


def to_json(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as JSON objects."""
    return [{**dataclasses.asdict(row), "ram": row.ram, "flash": row.flash} for row in rows]
