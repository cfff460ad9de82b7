"""Options and printing that several commands share."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from tinydeploy.errors import Problem, UsageError

Command = TypeVar("Command", bound=Callable[..., Any])


def pairs(option: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """A click callback for repeatable or comma-separated ``KEY=VALUE`` options."""

    def parse(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        result: dict[str, str] = {}
        for text in values:
            key, sign, value = text.partition("=")
            if not sign or not key or not value:
                raise click.BadParameter(f"{text!r} is not KEY=VALUE", ctx=ctx, param=param)
            if key in result:
                raise click.BadParameter(f"{key!r} is given twice", ctx=ctx, param=param)
            result[key] = value
        return result

    parse.__doc__ = f"Parse {option}."
    return parse


def shapes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """A click callback for ``NAME=1,96,96,3``."""
    result: dict[str, tuple[int, ...]] = {}
    for name, text in pairs("")(ctx, param, values).items():
        try:
            shape = tuple(int(part) for part in text.split(","))
        except ValueError:
            shape = ()
        if not shape or min(shape) < 1:
            raise click.BadParameter(f"{name}={text}: a shape is positive integers with commas", ctx=ctx, param=param)
        result[name] = shape
    return result


def data_maps(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """A click callback for ``--data-map x=specs,y=labels``."""
    return pairs("")(ctx, param, tuple(part for text in values for part in text.split(",")))


def data_scales(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """A click callback for ``--input-scale NAME=MUL,ADD``."""
    result: dict[str, tuple[float, float]] = {}
    for name, text in pairs("")(ctx, param, values).items():
        try:
            multiplier, offset = (float(part) for part in text.split(","))
        except ValueError:
            raise click.BadParameter(f"{name}={text}: expected MUL,ADD", ctx=ctx, param=param) from None
        result[name] = (multiplier, offset)
    return result


def add_options(command: Command, options: list[Callable[[Any], Any]]) -> Command:
    """Apply click options so that they are listed in the given order."""
    for option in reversed(options):
        command = option(command)
    return command


def data_options(command: Command) -> Command:
    """Options that say how an .npz is to be read."""
    return add_options(
        command,
        [
            click.option(
                "--data-map",
                multiple=True,
                callback=data_maps,
                metavar="NAME=KEY,...",
                help="Input or y=array of the data files to take for it: x=specs,y=labels.",
            ),
            click.option(
                "--input-scale",
                multiple=True,
                callback=data_scales,
                metavar="NAME=MUL,ADD",
                help="Integer data become data * MUL + ADD; bytes to 0..1: x=0.00392157,0.",
            ),
        ],
    )


def convert_options(command: Command) -> Command:
    """The options of `convert`, shared with `deploy`."""
    return data_options(
        add_options(
            command,
            [
                click.option(
                    "--quantize",
                    type=click.Choice(["float32", "int8"]),
                    default="int8",
                    show_default=True,
                    help="Level for float models; one that is quantised already keeps its own.",
                ),
                click.option(
                    "--calibration",
                    type=click.Path(path_type=Path),
                    help="Representative inputs, tens to hundreds; needed for float models. .npz: an array by input "
                    "name, or x for a single input. .py: load() returns a dict of them.",
                ),
                click.option(
                    "--ranges",
                    type=click.Choice(["mse", "minmax", "percentile"]),
                    help="Range of each activation: least squared error, all values, or all but the rarest.  "
                    "[default: mse]",
                ),
                click.option("--name", metavar="IDENT", help="C name of the model.  [default: from the file name]"),
                click.option(
                    "--input-shape",
                    multiple=True,
                    callback=shapes,
                    metavar="NAME=1,96,96,3",
                    help="Fixes dynamic dimensions (a dynamic batch becomes 1 by itself).",
                ),
                click.option(
                    "--state",
                    multiple=True,
                    callback=pairs("--state"),
                    metavar="IN=OUT",
                    help="Input IN is kept between runs and takes the value of output OUT.",
                ),
                click.option(
                    "--signature", metavar="NAME", help="Which signature of a SavedModel folder (serving_default)."
                ),
                click.option(
                    "--optimize",
                    type=click.Choice(["size", "balanced", "speed"]),
                    default="balanced",
                    show_default=True,
                    help="size: the least weights and tables. balanced: the fewest cycles within 1.25 x the least RAM. "
                    "speed: the fewest cycles, whatever RAM they ask.",
                ),
                click.option(
                    "--max-ram", type=click.IntRange(min=1), metavar="BYTES", help="Meet this arena budget or fail."
                ),
                click.option(
                    "--max-flash",
                    type=click.IntRange(min=1),
                    metavar="BYTES",
                    help="Meet this budget for weights and tables or fail.",
                ),
                click.option("--integer-only", is_flag=True, help="An operator that would run in float is an error."),
                click.option(
                    "--no-check",
                    is_flag=True,
                    help="Skip the comparison with the model's own runtime (said in the manifest).",
                ),
                click.option(
                    "--dump-after",
                    metavar="PASS",
                    help="Print the graph after this pass (tinydeploy/passes; a wrong name lists all).",
                ),
            ],
        )
    )


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Report stages on stderr: a spinner and the stage's time on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda text: click.echo(f"  {text}", err=True)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stage = bar.add_task("starting", total=None)
        yield lambda text: bar.reset(stage, description=text)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for text in warnings:
        click.echo(f"warning: {text}", err=True)


def write_json(target: str | None, document: Any) -> None:
    """Write ``document`` to a file, or to stdout for ``-``; nothing without a target."""
    if target is None:
        return
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if target == "-":
        click.echo(text, nl=False)
    else:
        Path(target).write_text(text, "utf-8")


def cpu_of(cpu: str | None, board: str | None) -> str | None:
    """The CPU to convert for: ``--cpu``, or the board's. Both are allowed where the board runs the CPU's code.

    Raises: UsageError, BoardError.
    """
    from tinydeploy.target.board import load_board
    from tinydeploy.target.cpu import CPUS

    if cpu is not None and cpu not in CPUS:
        raise UsageError(Problem(f"--cpu {cpu}", "unknown CPU", f"one of {', '.join(CPUS)}"))
    if board is None:
        return cpu
    core = load_board(board).cpu
    if cpu is None:
        return core.name
    missing = [feature for feature in CPUS[cpu].needs if feature not in core.needs]
    if missing and core.name != "host":
        what = f"the board has a {core.name}, which lacks {', '.join(missing)}"
        raise UsageError(Problem(f"--cpu {cpu} --board {board}", what, hint="leave out --cpu: a board implies it"))
    return cpu


def quoted(path: Path) -> str:
    """A path as it may be pasted into a shell."""
    return shlex.quote(str(path))


def in_bytes(count: int | None) -> str:
    """Bytes with thousands separators; an unknown count as a dash."""
    return "-" if count is None else f"{count:,} B"
