"""Files that Keras 2 wrote (TensorFlow 2.15, in an environment of its own) compute what Keras 2 computed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import REPO
from tinydeploy.frontends import load
from tinydeploy.ops.execute import run_float

pytestmark = pytest.mark.slow
PACKAGE = "tensorflow-cpu==2.15.*"
VARIABLE = "TINYDEPLOY_KERAS2_PYTHON"  # a Python that has it


def _python(folder: Path) -> Path:
    """A Python with TensorFlow 2.15: the one the environment names, or one made here."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    base = next((found for v in ("3.11", "3.10", "3.9") if (found := shutil.which(f"python{v}"))), None)
    if base is None and sys.version_info < (3, 12):
        base = sys.executable
    if base is None:
        pytest.skip(f"TensorFlow 2.15 needs Python 3.9 to 3.11; name one that has it in {VARIABLE}")
    python = folder / "bin" / "python"
    for command in ([base, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", PACKAGE]):
        run = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if run.returncode:
            pytest.skip(f"{PACKAGE} cannot be installed ({run.stderr.strip()[-200:]}); see {VARIABLE}")
    return python


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The folder with all files."""
    folder = tmp_path_factory.mktemp("keras2")
    python = _python(tmp_path_factory.mktemp("environment"))
    run = subprocess.run(
        [str(python), "-m", "tests.conformance.keras2_files", str(folder)],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return folder


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_keras_2_files(written, suffix) -> None:
    cases = json.loads((written / "cases.json").read_text())
    made = [(number, case["text"]) for number, case in enumerate(cases) if not case["error"]]
    assert len(made) >= 200, [case["error"] for case in cases if case["error"]]
    faults = []
    for number, text in made:
        arrays = np.load(written / f"{number}.npz")
        graph = load(written / f"{number}.{suffix}")
        feeds = {name: arrays[f"x{i}"][:, np.newaxis] for i, name in enumerate(graph.inputs)}
        results = run_float(graph, feeds)
        theirs = [arrays[f"y{i}"] for i in range(len([name for name in arrays.files if name.startswith("y")]))]
        ours = [results[name].reshape(2, -1).astype(np.float32) for name in graph.outputs]
        same = [
            a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(ours, theirs, strict=False)
        ]
        if len(ours) != len(theirs) or not all(same):
            faults.append(text)
    assert not faults
