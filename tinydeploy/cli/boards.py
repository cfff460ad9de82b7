"""tinydeploy boards: what we can build for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tinydeploy.cli._shared import in_bytes, write_json

if TYPE_CHECKING:
    from tinydeploy.target.board import Board


@click.command(name="boards", short_help="List the boards, show one, or start a new one.")
@click.argument("board", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--new", "new_name", metavar="NAME", help="Write NAME/board.toml, a template to fill in.")
def command(board: str | None, as_json: bool, new_name: str | None) -> None:
    """List the boards, or show BOARD (a name or a board.toml)."""
    from tinydeploy.target.board import all_boards, load_board, write_template

    if new_name is not None:
        click.echo(f"wrote {write_template(Path(new_name))}: fill it in, then use it as --board {new_name}/board.toml")
        return
    boards = [load_board(board)] if board else all_boards()

    if as_json:
        write_json("-", [item.as_json() for item in boards])
        return
    if board:
        _show(boards[0])
        return
    click.echo(f"{'board':16s} {'cpu':16s} {'kind':5s} {'flash':>14s} {'RAM':>14s}")
    for item in boards:
        click.echo(
            f"{item.name:16s} {item.cpu.name:16s} {item.kind:5s} "
            f"{in_bytes(item.flash_bytes):>14s} {in_bytes(item.ram_bytes):>14s}"
        )


def _show(board: Board) -> None:
    """Everything about one board."""
    click.echo(f"{board.name}: {board.description}")
    click.echo(f"  cpu     {board.cpu.name}, {board.cpu.klass} kernels, {' '.join(board.cpu.flags) or 'no flags'}")
    click.echo(f"  kind    {board.kind}{f', QEMU machine {board.qemu_machine}' if board.qemu_machine else ''}")
    if board.clock_hz:
        click.echo(f"  clock   {board.clock_hz:,} Hz")
    for memory in board.memories:
        click.echo(f"  {memory.name:7s} {memory.size:,} B at 0x{memory.origin:08x}")
    click.echo(f"  port    {board.port}")
    click.echo(f"  file    {board.folder / 'board.toml'}")
