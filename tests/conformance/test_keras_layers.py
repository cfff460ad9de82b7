"""Every Keras layer, in every configuration of `keras_cases`: our float graph gives what Keras gives.

Each model is saved as `.keras` and as `.h5`; the slow tests also export it to TFLite.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance import keras_cases
from tests.conftest import need_module
from tinydeploy import passes
from tinydeploy.frontends import load
from tinydeploy.ops.execute import run_float

CASES = keras_cases.everything(3)
QUICK = 6  # `make test` runs every sixth case


def _marks(index: int) -> tuple[pytest.MarkDecorator, ...]:
    return () if index % QUICK == 0 else (pytest.mark.slow,)


def _agrees(graph, arrays: list[np.ndarray], expected: list[np.ndarray]) -> None:
    feeds = {name: array[:, np.newaxis] for name, array in zip(graph.inputs, arrays, strict=True)}
    results = run_float(graph, feeds)
    assert len(graph.outputs) == len(expected)
    for name, theirs in zip(graph.outputs, expected, strict=True):
        ours = results[name].reshape(2, -1).astype(np.float32)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        pytest.param(text, shapes, id=f"{family}-{text}", marks=_marks(index))
        for index, (family, text, shapes) in enumerate(CASES)
    ],
)
def test_saved_files_compute_what_keras_computes(tmp_path, text, shapes) -> None:
    need_module("keras", "tensorflow")
    import keras

    model, arrays = keras_cases.build(keras, text, shapes), keras_cases.feeds(shapes)
    expected = keras_cases.outputs(model, arrays)
    for suffix in (".keras", ".h5"):
        path = tmp_path / f"model{suffix}"
        model.save(path)
        graph = load(path)
        _agrees(graph, arrays, expected)
        _agrees(passes.optimise(graph), arrays, expected)
