"""tinydeploy inspect: what is in a model, and what of it is unsupported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tinydeploy.cli._shared import pairs, shapes, warn, write_json


@click.command(name="inspect", short_help="Show what is in a model, and what of it is unsupported.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--input-shape", multiple=True, callback=shapes, metavar="NAME=1,96,96,3", help="Fixes dynamic dimensions."
)
@click.option(
    "--state",
    multiple=True,
    callback=pairs("--state"),
    metavar="IN=OUT",
    help="Input IN is kept between runs and takes OUT's value.",
)
@click.option("--signature", metavar="NAME", help="Which signature of a SavedModel folder (serving_default).")
@click.option("--raw", is_flag=True, help="Before the passes, as it was imported.")
@click.option("--json", "json_file", metavar="FILE", help="Write it to FILE (- for stdout).")
def command(
    model: Path,
    input_shape: dict[str, tuple[int, ...]],
    state: dict[str, str],
    signature: str | None,
    raw: bool,
    json_file: str | None,
) -> None:
    """Show MODEL's inputs, outputs, nodes, shapes, MACs and parameters;
    unsupported parts end in an error that lists all.
    """
    from tinydeploy import pipeline

    graph = pipeline.load(model, input_shapes=input_shape, states=state, signature=signature)
    document = pipeline.describe(graph) if raw else pipeline.inspect(graph)
    write_json(json_file, document)
    if json_file == "-":
        return
    click.echo(
        f"{model}: {document['name']}, {document['format']}, {document['macs']:,} MACs, "
        f"{document['parameters']:,} parameters"
    )
    dead = document.get("dead_channels")
    if dead is not None and dead["removed"]:
        click.echo(
            f"  dead weight removed: {dead['removed']:,} of {dead['channels']:,} channels are constant or unread; "
            f"MACs {dead['macs_before']:,} -> {document['macs']:,}, "
            f"parameters {dead['parameters_before']:,} -> {document['parameters']:,}"
        )
    for role in ("inputs", "outputs", "states"):
        for item in document[role]:
            click.echo(f"  {role[:-1]:7s}{item['name']}: {item['type']}")
    click.echo(f"  {'node':30s} {'operator':18s} {'output':28s} {'MACs':>12s} {'parameters':>11s}")
    for node in document["nodes"]:
        kind = node["output"].partition(" ")[0]  # scales stand in the JSON
        click.echo(
            f"  {_short(node['name']):30s} {node['op']:18s} {_short(kind, 28):28s} "
            f"{node['macs']:12,} {node['parameters']:11,}"
        )
    warn(document["warnings"])


def _short(text: Any, width: int = 30) -> str:
    text = str(text)
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"
