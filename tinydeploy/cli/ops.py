"""tinydeploy ops: which operators are supported, with every rule; printed from the code itself."""

from __future__ import annotations

import inspect
from typing import Any

import click

from tinydeploy.cli._shared import write_json
from tinydeploy.errors import Problem, UsageError, did_you_mean


@click.command(name="ops")
@click.argument("op", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(op: str | None, as_json: bool) -> None:
    """List the operators, or show one with its rules and kernels."""
    from tinydeploy.lower import kernel_names
    from tinydeploy.ops import registry

    known = registry()
    if op is not None and op not in known:
        hint = did_you_mean(op, known, otherwise="`tinydeploy ops` lists all")
        raise UsageError(Problem(op, "no such operator", hint=hint))
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

    rows = [row(name) for name in ([op] if op else sorted(known))]
    if as_json:
        write_json("-", rows)
    elif op is None:
        for item in rows:
            click.echo(f"{item['name']:20s} {item['summary']}")
    else:
        click.echo(rows[0]["description"])
        click.echo("rules:")
        for text in rows[0]["rules"] or ["none"]:
            click.echo(f"  - {text}")
        click.echo(f"kernels: {', '.join(rows[0]['kernels']) or 'none'}")
