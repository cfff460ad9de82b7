"""Dead channels on the way from a model to a folder: reported, counted, and no hindrance to validation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from tests.conftest import need_shared
from tests.unit.passes.graphs import Maker
from tinydeploy import pipeline
from tinydeploy.cli.inspect import command
from tinydeploy.ir import Graph
from tinydeploy.validation import check


def half_dead() -> Graph:
    """A float model whose second of four channels lies below its relu for every input in range."""
    make = Maker()
    weights, bias = make.rng.normal(size=(4, 3, 3, 2)), np.array([0.1, -1e4, 0.2, 0.3])
    y = make.op("conv2d", make.input(1, 8, 8, 2), make.constant(weights), make.constant(bias), clamp=(0.0, 6.0))
    y = make.conv(y, 3, padding=(1, 1, 1, 1))
    return make.done(make.op("mean", y, axes=(1, 2), keep_dims=False))


def test_what_our_own_quantiser_shows_to_be_dead_goes() -> None:
    graph = half_dead()
    reference = pipeline.optimise(graph)
    inputs = make_inputs(graph)
    quantised = pipeline.quantise(reference, "int8", inputs)
    assert [reference.type(reference.nodes[0].outputs[0]).shape[-1], dead_width(quantised)] == [4, 3]
    rows = check.per_layer(quantised, reference, check.prepare(quantised, inputs, None))
    by_name = {row["name"]: row["sqnr_db"] for row in rows}
    assert by_name["conv2d"] is None, "it has no counterpart of its shape"
    assert by_name["mean"] > 20


def test_the_manifest_has_both_counts() -> None:
    graph = half_dead()
    options = pipeline.ConvertOptions(calibration=make_inputs(graph), check=False, name="half")
    manifest = pipeline.convert(graph, None, options).manifest
    before = 36 * 4 * 18 + 36 * 3 * 36
    assert (manifest["macs"], manifest["macs_after_optimisation"]) == (before, 36 * 3 * 18 + 36 * 3 * 27)


def test_inspect_tells_what_was_found(tmp_path: Path) -> None:
    model = need_shared("models", "mlperf_tiny", "vww_int8.tflite")
    file = tmp_path / "vww.json"
    result = CliRunner().invoke(command, [str(model), "--json", str(file)])
    assert "1,958 of 2,998 channels are constant or unread; MACs 7,489,664 -> 3,727,313" in result.output
    document = json.loads(file.read_text("utf-8"))
    assert document["dead_channels"]["removed"] == 1958
    assert document["dead_channels"]["parameters_before"] == 210850
    assert document["macs"] == 3_727_313
    raw = CliRunner().invoke(command, [str(model), "--raw"])
    assert "7,489,664 MACs" in raw.output


def make_inputs(graph: Graph) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {name: rng.normal(size=(16, *graph.type(name).shape)).astype(np.float32) for name in graph.inputs}


def dead_width(graph: Graph) -> int:
    """Channels of the first convolution's result."""
    first = next(node for node in graph.nodes if node.op.name == "conv2d")
    return graph.type(first.outputs[0]).shape[-1]
