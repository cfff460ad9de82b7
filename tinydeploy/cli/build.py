"""tinydeploy build: a project folder becomes firmware for a board."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tinydeploy.cli._shared import in_bytes, progress, write_json


@click.command(name="build")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--board", required=True, help="A board's name or board.toml.")
@click.option("--json", "json_file", metavar="FILE", help="Write build.json to FILE too (- for stdout).")
def command(folder: Path, board: str, json_file: str | None) -> None:
    """Cross-compile DIR into DIR/build/BOARD/firmware.elf (.bin, .hex); prints flash, RAM and stack."""
    from tinydeploy import pipeline

    with progress() as report:
        result = pipeline.build(folder, board, report)
    document = json.loads((result.folder / "build.json").read_text("utf-8"))
    write_json(json_file, document)
    if json_file == "-":
        return
    flash, ram = document["flash"], document["ram"]
    click.echo(f"{result.elf}")
    click.echo(
        f"  flash {in_bytes(flash['total'])}: weights {in_bytes(flash['weights'])}, code {in_bytes(flash['code'])}, "
        f"start-up and main {in_bytes(flash['baseline'])}"
    )
    click.echo(
        f"  RAM   arena {in_bytes(ram['arena'])}, state {in_bytes(ram['state'])}, static {in_bytes(ram['static'])}, "
        f"stack at most {in_bytes(ram['stack_bound'])}"
    )
