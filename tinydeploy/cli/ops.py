"""tinydeploy ops: which operators are supported, with every rule; printed from the code itself."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from tinydeploy.cli._shared import write_json
from tinydeploy.errors import Problem, UsageError, did_you_mean


@click.command(name="ops", short_help="List the operators, or show the rules of one.")
@click.argument("op", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Write the whole table as Markdown.")
def command(op: str | None, as_json: bool, write: Path | None) -> None:
    """List the operators, or show OP with its rules and kernels.

    OP is one of ours (conv2d), or what a model file calls it (Gemm, FULLY_CONNECTED, Dense).
    """
    from tinydeploy import coverage
    from tinydeploy.ops import registry

    if write is not None:
        write.write_text(coverage.document(), "utf-8")
        click.echo(f"wrote {write}")
        return
    known, files = registry(), coverage.file_operators()
    if op is None:
        rows = [coverage.row(name) for name in sorted(known)]
    elif op in known:
        rows = [coverage.row(op)]
    else:
        readers = [form for form, table in files.items() if op in table]
        if not readers:
            everything = {*known, *(name for table in files.values() for name in table)}
            hint = did_you_mean(op, sorted(everything), otherwise="`tinydeploy ops` lists all")
            raise UsageError(Problem(op, "no such operator", hint=hint))
        used = [ours for ours, forms in coverage.sources().items() if any(op in names for names in forms.values())]
        rows = [coverage.row(name) for name in sorted(used)]
        if not as_json:
            click.echo(f"{op} is read ({'; '.join(readers)}); `tinydeploy inspect MODEL` shows what it becomes")
    if as_json:
        write_json("-", rows)
    elif op is None:
        _list(rows, {form: sorted(table) for form, table in files.items()})
    else:
        for item in rows:
            _show(item)


def _list(rows: list[dict[str, Any]], files: dict[str, list[str]]) -> None:
    """All operators, and what becomes of a file's."""
    for item in rows:
        click.echo(f"{item['name']:20s} {_plain(item['summary'])}")
    click.echo("\nModel files may hold (`tinydeploy ops NAME` tells the rules):")
    for kind, names in files.items():
        click.echo(textwrap.fill(f"{kind}: {', '.join(names)}", 110, initial_indent="  ", subsequent_indent="    "))


def _show(item: dict[str, Any]) -> None:
    """One operator with its rules."""
    click.echo(f"\n{item['name']}: {_plain(item['description'])}")
    click.echo("rules:")
    for text in item["rules"] or ["none"]:
        click.echo(f"  - {text}")
    click.echo("kernels (of an example, by level and CPU class):")
    for level, classes in item["levels"].items():
        for klass, names in classes.items():
            click.echo(f"  {level:8s} {klass:6s} {', '.join(names)}")
    if not item["levels"]:
        click.echo("  none")


def _plain(text: str) -> str:
    """A docstring without its markup."""
    return text.replace("``", "")
