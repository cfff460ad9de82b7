"""tinydeploy validate: run the firmware and compare it with the integer twin and the float reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tinydeploy.cli._shared import add_options, data_options, in_bytes, progress, warn, write_json
from tinydeploy.errors import Problem, ValidationError


def run_options(command: Any) -> Any:
    """Options of a validation, shared with `deploy`."""
    return add_options(
        command,
        [
            click.option(
                "--metric",
                metavar="SPEC",
                help="top1, topk:K, auc; auc-reconstruction:GROUP (autoencoders: error over GROUP samples in a row); "
                "mse, cosine (to y, else to float); module:function or file.py:function, called with "
                "(outputs, labels, inputs).  [default: top1 where there are labels]",
            ),
            click.option("--samples", type=click.IntRange(min=1), metavar="N", help="Use the first N samples only."),
            click.option(
                "--random",
                "random_samples",
                type=click.IntRange(min=1),
                metavar="N",
                help="Use N random inputs (seeded) instead of data: bit-exactness only.",
            ),
            click.option(
                "--timeout",
                type=click.FloatRange(min=1),
                default=600,
                show_default=True,
                metavar="SECONDS",
                help="Give up on a run that takes longer.",
            ),
            click.option("--no-profile", is_flag=True, help="Do not count instructions (faster)."),
            click.option(
                "--per-layer",
                is_flag=True,
                help="SQNR of every node against float, and the first node that differs from the twin.",
            ),
        ],
    )


@click.command(name="validate", short_help="Run a project on a board and compare it bit for bit.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--board", required=True, help="A board's name or board.toml; `host` runs it here.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="EVAL",
    help="Samples by input name (or x), and labels y if there are any (.npz, or .py with load()).",
)
@run_options
@data_options
@click.option("--sanitize", is_flag=True, help="On the host: with address and undefined-behaviour sanitizers.")
@click.option("--json", "json_file", metavar="FILE", help="Write the result to FILE (- for stdout).")
def command(folder: Path, board: str, json_file: str | None, **options: Any) -> None:
    """Run DIR on BOARD, compare with the integer twin bit for bit and with the float reference.

    The twin is the quantised model computed here in integers; the float reference is the model before quantisation.
    Exit code 4 where the device and the twin differ.
    """
    result = validate_folder(folder, board, options)
    write_json(json_file, result)
    if json_file != "-":
        summary(result, options["random_samples"] is not None)
    require_exact(result, folder)


def validate_folder(folder: Path, board: str, options: dict[str, Any]) -> dict[str, Any]:
    """Build and run; returns the JSON document of CLI.md."""
    from tinydeploy import metrics, pipeline

    with progress() as report:
        opened = pipeline.open_folder(folder)
        data = pipeline.evaluation_data(
            opened,
            options["data"],
            data_map=options["data_map"],
            input_scale=options["input_scale"],
            samples=options["samples"],
            random_samples=options["random_samples"],
            report_warnings=warn,
        )
        if options["metric"] is not None:
            metrics.check(options["metric"], data.labels is not None)
        return pipeline.validate(
            opened,
            board,
            data,
            metric=options["metric"],
            profile=not options["no_profile"],
            per_layer=options["per_layer"],
            sanitize=options.get("sanitize", False),
            timeout=options["timeout"],
            report=report,
        )


def require_exact(result: dict[str, Any], folder: Path) -> None:
    """Raise ValidationError (exit code 4) if the device and the twin disagree."""
    if result["bit_exact"]:
        return
    first = result["first_mismatch"]
    node = result.get("first_differing_node")
    where = "" if node is None else f"; the first node that differs is {node!r}"
    more = "please report this with the model"
    raise ValidationError(
        Problem(
            str(folder),
            f"{result['board']} differs from the integer twin in {result['mismatches']:,} elements; the first is "
            f"{first['output']}{first['index']}: device {first['device']:g}, twin {first['twin']:g}{where}",
            hint=more if "per_layer" in result else f"--per-layer names the first node that differs; {more}",
        )
    )


def summary(result: dict[str, Any], random: bool) -> None:
    """Print the result in a few lines; ``random``: the inputs were."""
    figures, metric, counted = result["float"], result["metric"], result["instructions"]
    exact = "bit-exact with the integer twin" if result["bit_exact"] else f"{result['mismatches']:,} MISMATCHES"
    what = "random inputs" if random else "samples"
    click.echo(f"{result['board']} ({result['cpu']}), {result['samples']:,} {what}: {exact}")
    agreement = "" if figures["argmax_agreement"] is None else f", arg-max agrees on {figures['argmax_agreement']:.2%}"
    sqnr = "" if figures["sqnr_db"] is None else f", SQNR {figures['sqnr_db']:.1f} dB"
    click.echo(f"  against float: largest error {figures['max_abs_error']:.4g}{sqnr}{agreement}")
    if random:
        click.echo("  random inputs leave the calibrated ranges: how near it is to float on yours, --data EVAL tells")
    if metric is not None:
        click.echo(f"  {_metric(metric)}")
    if counted is not None:
        click.echo(f"  {_instructions(result)}")
    stack = "" if result["stack_bytes"] is None else f", stack used {in_bytes(result['stack_bytes'])}"
    click.echo(f"  arena {in_bytes(result['arena_bytes'])}{stack}")
    if result["float_islands"]:
        _float_summary(result["float_islands"])
    if "per_layer" in result:
        _layer_summary(result)


def _metric(metric: dict[str, Any]) -> str:
    """One metric of both models: rates in percent, everything else with four digits."""
    low, high = metric["interval"]
    if metric["unit"] == "points":
        return (
            f"{metric['name']}: float {metric['float']:.2f} %, quantised {metric['quantised']:.2f} %, "
            f"drop {metric['drop']:+.2f} points (95 % interval {low:+.2f} to {high:+.2f})"
        )
    return (
        f"{metric['name']}: float {metric['float']:.4g}, quantised {metric['quantised']:.4g}, "
        f"drop {metric['drop']:+.4g} (95 % interval {low:+.4g} to {high:+.4g})"
    )


def _instructions(result: dict[str, Any]) -> str:
    """What an inference and a reset cost, and how it was counted."""
    counted, cycles = result["instructions"], result["cycles_estimated"]
    text = f"{counted['per_inference']:,} instructions an inference ({counted['method']})"
    if counted["init"]:
        text += f", {counted['init']:,} a reset"
    if cycles is not None:
        text += f"; about {cycles['per_inference']:,} cycles at the costs of {cycles['model']}"
    return text


def _float_summary(islands: list[dict[str, Any]]) -> None:
    """One line about the nodes that compute in float."""
    errors = [island["max_rel_error"] for island in islands if island["max_rel_error"] is not None]
    known = f"largest relative error {max(errors):.2g} against the twin" if errors else "not compared one by one"
    names = ", ".join(island["node"] for island in islands[:3]) + (", ..." if len(islands) > 3 else "")
    click.echo(f"  {len(islands)} nodes in float ({names}): {known} (tolerance {islands[0]['tolerance']:g})")


def _layer_summary(result: dict[str, Any]) -> None:
    """A line a node, and the node where a difference comes from."""
    for row in result["per_layer"]:
        noise = "-" if row["sqnr_db"] is None else f"{row['sqnr_db']:.1f} dB"
        mark = "" if row["exact"] in (True, None) else "   DIFFERS from the twin"
        click.echo(f"    {row['name']:32s} {row['op']:18s} {noise:>9s}{mark}")
    count = len(result["traced_samples"])
    node = result["first_differing_node"]
    if node is None:
        click.echo(f"  every node equals the twin in every bit, in the {count} samples traced")
        return
    first = next(row["first_difference"] for row in result["per_layer"] if row["name"] == node)
    click.echo(
        f"  first node that differs from the twin: {node}, {first['output']}{list(first['index'])}: "
        f"device {first['device']:g}, twin {first['twin']:g}"
    )
