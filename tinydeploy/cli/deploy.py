"""tinydeploy deploy: convert, build and validate in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tinydeploy.cli import build as build_command
from tinydeploy.cli import convert as convert_command
from tinydeploy.cli import validate as validate_command
from tinydeploy.cli._shared import convert_options, cpu_of, progress, write_json
from tinydeploy.errors import Problem, UsageError


@click.command(name="deploy", short_help="Convert, build, run and compare, all in one.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--board", required=True, help="A board's name or board.toml.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="The project folder.  [default: NAME-BOARD]"
)
@click.option("--cpu", metavar="CPU", help="CPU to generate for, as in convert.  [default: the board's]")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="EVAL",
    help="Samples, and labels if there are any (.npz or .py).",
)
@convert_options
@validate_command.run_options
@click.option("--json", "json_file", metavar="FILE", help="Write the validation's result to FILE (- for stdout).")
def command(
    model: Path,
    board: str,
    output: Path | None,
    cpu: str | None,
    data: Path | None,
    json_file: str | None,
    **options: Any,
) -> None:
    """Bring MODEL to BOARD: convert, build, run, compare.

    Without --data it is checked on 20 random inputs: that proves it bit-exact, but says nothing of its accuracy.
    """
    from tinydeploy import pipeline
    from tinydeploy.emit.names import model_name
    from tinydeploy.target.board import load_board

    target = load_board(board)
    if target.kind == "real":
        raise UsageError(
            Problem(
                f"--board {board}", "flashing a real board is not part of this version", "host or an emulated board"
            )
        )
    folder = output or Path(f"{model_name(options['name'] or model.stem)}-{target.name}")
    manifest = convert_command.convert_to(model, folder, cpu_of(cpu, board), options, json_file)
    if json_file != "-":
        convert_command.summary(manifest, folder)
    if target.kind != "host":
        with progress() as report:
            built = pipeline.build(folder, board, report)
        if json_file != "-":
            build_command.summary(built.as_json(), built.elf)
    options["data"] = data
    if data is None and options["random_samples"] is None:
        options["random_samples"] = 20
    result = validate_command.validate_folder(folder, board, options)
    write_json(json_file, result)
    if json_file != "-":
        validate_command.summary(result, options["random_samples"] is not None)
    validate_command.require_exact(result, folder)
