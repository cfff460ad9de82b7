"""The Python interface does what the README says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tinydeploy as td
from tests.conftest import REPO, need_tool
from tinydeploy.errors import InputError
from tinydeploy.ir.types import dequantise

DIGITS = REPO / "examples" / "digits"


@pytest.fixture(scope="module")
def model() -> td.Model:
    x = np.random.default_rng(0).random((60, 8, 8, 1)).astype(np.float32)
    return td.quantize(td.load(DIGITS / "digits.onnx"), "int8", calibration=x)


def test_twin_is_near_the_float_reference(model: td.Model) -> None:
    x = np.random.default_rng(1).random((20, 8, 8, 1)).astype(np.float32)
    (real,), (integers,) = model.run_float(x).values(), model.run_integer(x).values()
    kind = model.graph.type(model.graph.outputs[0])
    assert np.abs(dequantise(integers, kind) - real).max() < 0.15


def test_compile_write_validate(model: td.Model, tmp_path: Path) -> None:
    need_tool("gcc")
    project = td.compile(model, cpu="cortex-m4", name="digits")
    project.write(tmp_path / "digits")
    assert (tmp_path / "digits" / "digits.c").is_file()
    assert project.manifest["arena_bytes"] > 0
    x = np.random.default_rng(2).random((5, 8, 8, 1)).astype(np.float32)
    result = td.validate(project, board="host", data=x)
    assert result["bit_exact"]
    assert result["samples"] == 5


def test_quantised_models_are_kept(tmp_path: Path) -> None:
    model = td.load(DIGITS / "digits_int8.tflite")
    assert td.quantize(model, "int8") == model


def test_wrong_shapes_are_explained(model: td.Model) -> None:
    with pytest.raises(InputError, match="shape"):
        model.run_integer(np.zeros((3, 7, 8, 1), np.float32))
    with pytest.raises(InputError, match="no array for input"):
        model.run_integer({"nothing": np.zeros((3, 8, 8, 1), np.float32)})


def test_what_a_notebook_shows_is_short(model: td.Model) -> None:
    assert repr(model).startswith("Model('digits', quantised, ")
    project = td.compile(model, cpu="cortex-m4", name="model")
    assert repr(project).startswith("Project('model', cpu='cortex-m4', arena_bytes=")
    assert max(len(repr(model)), len(repr(project))) < 120


def test_unknown_names_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = td.nonsense
