"""tinydeploy ops: which operators are supported, with every rule; printed from the code itself."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import click

from tinydeploy.cli._shared import write_json
from tinydeploy.errors import Problem, UsageError, did_you_mean


@click.command(name="ops", short_help="List the operators, or show the rules of one.")
@click.argument("op", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(op: str | None, as_json: bool) -> None:
    """List the operators, or show OP with its rules and kernels.

    OP is one of ours (conv2d), or what a model file calls it (Gemm, FULLY_CONNECTED, Dense).
    """
    from tinydeploy.lower import kernel_names
    from tinydeploy.ops import registry

    known, files = registry(), _file_operators()
    kernels = kernel_names()

    def row(name: str) -> dict[str, Any]:
        cls = known[name]
        doc = inspect.getdoc(cls) or ""
        return {
            "name": name,
            "summary": doc.partition("\n")[0],
            "description": doc,
            "rules": [rule.text for rule in cls.rules],
            "integer": cls.quant.integer,
            "kernels": kernels.get(name, []),
        }

    if op is None:
        rows = [row(name) for name in sorted(known)]
    elif op in known:
        rows = [row(op)]
    else:
        rows = [row(name) for name in sorted(known) if re.search(rf"Source:.*\b{re.escape(op)}\b", _doc(known[name]))]
        readers = [kind for kind, names in files.items() if op in names]
        if not readers:
            everything = {*known, *(name for names in files.values() for name in names)}
            hint = did_you_mean(op, sorted(everything), otherwise="`tinydeploy ops` lists all")
            raise UsageError(Problem(op, "no such operator", hint=hint))
        if not as_json:
            click.echo(f"{op} is read ({'; '.join(readers)}); `tinydeploy inspect MODEL` shows what it becomes")
    if as_json:
        write_json("-", rows)
    elif op is None:
        _list(rows, files)
    else:
        for item in rows:
            _show(item)


def _doc(cls: type) -> str:
    """The description of an operator without line breaks."""
    return " ".join((inspect.getdoc(cls) or "").split())


def _file_operators() -> dict[str, list[str]]:
    """What the importers read, by format, as the files call it."""
    from tinydeploy.frontends import keras_graph, onnx_ops, tflite

    computed, folded = ({kind for _, kind in table} for table in onnx_ops.tables())
    return {
        "ONNX": sorted(computed),
        "ONNX, of constants only": sorted(folded - computed),
        "TFLite": sorted(tflite.OPERATORS),
        "Keras": sorted(keras_graph.LAYERS),
    }


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
    click.echo(f"kernels: {', '.join(item['kernels']) or 'none'}")


def _plain(text: str) -> str:
    """A docstring without its markup."""
    return text.replace("``", "")
