"""tinydeploy build: a project folder becomes firmware for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tinydeploy.cli._shared import in_bytes, progress, write_json


@click.command(name="build", short_help="Compile a project folder to firmware for a board.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--board", required=True, help="A board's name or board.toml.")
@click.option("--json", "json_file", metavar="FILE", help="Write build.json to FILE too (- for stdout).")
def command(folder: Path, board: str, json_file: str | None) -> None:
    """Cross-compile DIR into DIR/build/BOARD/firmware.elf (.bin, .hex); prints flash, RAM and stack.

    The firmware reads samples from the debugger (semihosting) and writes the outputs back: it is for measuring and
    validating. For a firmware of your own see DIR/README.md.
    """
    from tinydeploy import pipeline

    with progress() as report:
        result = pipeline.build(folder, board, report)
    document = result.as_json()
    write_json(json_file, document)
    if json_file != "-":
        summary(document, result.elf)


def summary(document: dict[str, Any], elf: Path) -> None:
    """Print build.json in a few lines."""
    flash, ram = document["flash"], document["ram"]
    click.echo(f"{elf}")
    click.echo(
        f"  flash {in_bytes(flash['total'])}: constants {in_bytes(flash['weights'])}, "
        f"code {in_bytes(flash['code'])}, start-up and main {in_bytes(flash['baseline'])}"
    )
    bound = ram["stack_bound"]
    stack = f"not proven: {'; '.join(document['stack']['reasons'])}" if bound is None else f"at most {in_bytes(bound)}"
    click.echo(
        f"  RAM   arena {in_bytes(ram['arena'])}, state {in_bytes(ram['state'])}, static {in_bytes(ram['static'])}, "
        f"stack {stack}"
    )
