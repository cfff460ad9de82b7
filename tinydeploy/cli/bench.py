"""tinydeploy bench: the benchmark table, next to the measured peer."""

from __future__ import annotations

from pathlib import Path

import click

from tinydeploy.cli._shared import progress, write_json


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value.split(","))


@click.command(name="bench", short_help="Measure the MLPerf Tiny models next to TFLite Micro.")
@click.option(
    "--models",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder with NAME_int8.tflite.  [default: built by examples/mlperf_tiny with random weights; needs keras]",
)
@click.option("--only", callback=_names, metavar="MODEL,...", help="Of ad, kws, sww, ic_resnet8, vww.  [default: all]")
@click.option(
    "--cpus", callback=_names, metavar="CPU,...", help="Of cortex-m0, -m3, -m4f, -m7, -m33, -m55.  [default: all]"
)
@click.option("--json", "json_file", metavar="FILE", help="Write the rows to FILE (- for stdout).")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Write the Markdown page to FILE.")
def command(
    folder: Path | None,
    only: tuple[str, ...] | None,
    cpus: tuple[str, ...] | None,
    json_file: str | None,
    write: Path | None,
) -> None:
    """Convert, build and run the five MLPerf Tiny models on six emulated cores.

    Prints Markdown: instructions, RAM and flash, next to those of TensorFlow Lite Micro (TFLM) with CMSIS-NN on the
    same models, which were measured beforehand.
    """
    from tinydeploy import bench
    from tinydeploy.errors import Problem, UsageError

    for option, chosen, known in (("--only", only, bench.MODELS), ("--cpus", cpus, bench.BOARDS)):
        unknown = [name for name in chosen or () if name not in known]
        if unknown:
            raise UsageError(Problem(option, f"unknown: {', '.join(unknown)}", f"one or more of {', '.join(known)}"))
    with progress() as report:
        rows = bench.measure(only or bench.MODELS, cpus or tuple(bench.BOARDS), folder, report)
    write_json(json_file, bench.to_json(rows))
    page = bench.to_markdown(rows)
    if write is not None:
        write.write_text(page, "utf-8")
    if json_file != "-":
        click.echo(page)
