"""The whole way of a tiny model: import against its runtime, C on this machine against the twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy import pipeline
from tinydeploy.ir import Array, Graph
from tinydeploy.validation import check
from tinydeploy.validation.oracle import check_against


def agreed(path: Path, *, runtime: bool = True, **options: Any) -> Graph:
    """Load and optimise a file and compare it with its runtime, which has to run it unless ``runtime`` is False."""
    graph = pipeline.optimise(pipeline.load(path, **options))
    text = check_against(path, graph)
    assert text is not None or not runtime, graph.warnings
    return graph


def in_c(graph: Graph, folder: Path, level: str = "", calibration: dict[str, Array] | None = None) -> dict[str, Any]:
    """Convert, build and run on this machine; the C has to give the twin's bits. Returns the manifest.

    ``level``: as the file is quantised, else float32.
    """
    level = level or ("int8" if graph.is_quantised() else "float32")
    quantised = pipeline.quantise(graph, level, calibration)
    options = pipeline.ConvertOptions(quantize=level, check=False, name="model")
    project = pipeline.compile_graph(quantised, graph, options, None)
    project.write(folder / "project")
    opened = pipeline.open_folder(folder / "project")
    samples = check.prepare(opened.quantised, check.random_samples(opened.quantised, 3), None)
    result = pipeline.validate(opened, "host", samples)
    assert result["bit_exact"], result["first_mismatch"]
    return dict(project.manifest)


def normal(*shape: int, seed: int = 0) -> Array:
    """Normally distributed float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
