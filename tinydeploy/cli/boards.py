"""tinydeploy boards: what we can build for."""

from __future__ import annotations

from pathlib import Path

import click

from tinydeploy.cli._shared import in_bytes, write_json


@click.command(name="boards")
@click.argument("board", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--new", "new_name", metavar="NAME", help="Write NAME/board.toml, a template to fill in.")
def command(board: str | None, as_json: bool, new_name: str | None) -> None:
    """List the boards, or show one."""
    from tinydeploy.target.board import all_boards, load_board, write_template

    if new_name is not None:
        click.echo(f"wrote {write_template(Path(new_name))}: fill it in, then use it as --board {new_name}/board.toml")
        return
    boards = [load_board(board)] if board else all_boards()

    if as_json:
        write_json("-", [item.as_json() for item in boards])
        return
    click.echo(f"{'board':16s} {'cpu':16s} {'kind':5s} {'flash':>14s} {'RAM':>14s}")
    for item in boards:
        click.echo(
            f"{item.name:16s} {item.cpu.name:16s} {item.kind:5s} "
            f"{in_bytes(item.flash_bytes):>14s} {in_bytes(item.ram_bytes):>14s}"
        )
