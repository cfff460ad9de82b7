"""tinydeploy convert: a model becomes a self-contained C project folder."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from tinydeploy.cli._shared import convert_options, cpu_of, in_bytes, progress, quoted, warn, write_json

_BOARDS = "   (`tinydeploy boards` lists them)"


@click.command(name="convert", short_help="Convert a model to a C project folder.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The folder to write."
)
@click.option(
    "--cpu",
    metavar="CPU",
    help="cortex-m0 -m0plus -m3 -m4 (no FPU) -m4f -m7 -m23 -m33 -m55 -m85 or host.  "
    "[default: the board's, else cortex-m4]",
)
@click.option("--board", help="A board's name or board.toml; implies its CPU.")
@convert_options
@click.option("--json", "json_file", metavar="FILE", help="Write the manifest to FILE (- for stdout).")
def command(
    model: Path, output: Path, cpu: str | None, board: str | None, json_file: str | None, **options: Any
) -> None:
    """Convert MODEL to a C project folder: NAME.c, NAME.h, the kernels used, CMakeLists.txt, manifest.json."""
    manifest = convert_to(model, output, cpu_of(cpu, board), options, json_file)
    write_json(json_file, manifest)
    if json_file != "-":
        summary(manifest, output)
        click.echo(f"  next: tinydeploy build {quoted(output)} --board {board or 'BOARD'}{'' if board else _BOARDS}")


def convert_to(
    model: Path, output: Path, cpu: str | None, options: dict[str, Any], json_file: str | None
) -> dict[str, Any]:
    """Convert and write; returns the manifest. ``options``: what `convert_options` parsed."""
    from tinydeploy import pipeline
    from tinydeploy.data import load_data
    from tinydeploy.emit.names import model_name
    from tinydeploy.emit.write import check_folder

    name = options["name"]
    if name is not None and model_name(name) != name:
        warn([f"--name {name}: no free C name; it becomes {model_name(name)}"])
    check_folder(output)
    with progress() as report:
        report(f"reading {model}")
        graph = pipeline.load(
            model, input_shapes=options["input_shape"], states=options["state"], signature=options["signature"]
        )
        calibration = None
        if options["calibration"] is not None and graph.is_quantised():
            warn(["--calibration is not read: the model is quantised already and keeps its own scales"])
        elif options["calibration"] is not None:
            data = load_data(
                options["calibration"], graph, data_map=options["data_map"], input_scale=options["input_scale"]
            )
            calibration = data.x
            warn(data.warnings)
        project = pipeline.convert(
            graph,
            model,
            pipeline.ConvertOptions(
                quantize=options["quantize"],
                calibration=calibration,
                ranges=options["ranges"],
                cpu=cpu or pipeline.DEFAULT_CPU,
                name=name,
                optimize=options["optimize"],
                max_ram=options["max_ram"],
                max_flash=options["max_flash"],
                integer_only=options["integer_only"],
                check=not options["no_check"],
                dump_after=options["dump_after"],
                dump=functools.partial(click.echo, err=json_file == "-"),  # stdout is the JSON's
            ),
            report,
        )
        report(f"writing {output}")
        project.write(output)
    manifest: dict[str, Any] = project.manifest
    warn(manifest["warnings"])
    return manifest


def summary(manifest: dict[str, Any], output: Path) -> None:
    """Print what was made, in a few lines."""
    checked = manifest["checked_against"]
    click.echo(
        f"{output}: {manifest['name']}, {manifest['scheme']} for {manifest['cpu']}, {len(manifest['nodes'])} nodes"
    )
    click.echo(
        f"  arena {in_bytes(manifest['arena_bytes'])} (lower bound {in_bytes(manifest['arena_lower_bound_bytes'])}), "
        f"state {in_bytes(manifest['state_bytes'])}, weights {in_bytes(manifest['weights_bytes'])}, "
        f"{manifest['macs']:,} MACs"
    )
    click.echo(f"  import checked against: {checked or 'nothing (see the warnings)'}")
