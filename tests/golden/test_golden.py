"""Generated text compared with the files beside this one, so that a review sees what a change does to the C.

`make golden` rewrites them.
"""

from pathlib import Path

import pytest

from tests.unit.emit import fakes
from tinydeploy import emit, plan

HERE = Path(__file__).resolve().parent
MODELS = {"small": fakes.small, "keeper": fakes.with_state}


@pytest.mark.parametrize("name", MODELS)
def test_generated_text(name, tmp_path, request):
    graph, lowered = MODELS[name]()
    planned = plan.plan(graph, lowered, fakes.TARGET)
    project = emit.project(
        graph, planned, target=fakes.TARGET, name=name, runtime=fakes.runtime(tmp_path / "runtime_c")
    )
    texts = {path: data for path, data in project.content().items() if not path.startswith("runtime/")}
    folder = HERE / name
    if request.config.getoption("--rewrite-golden"):
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for path, data in texts.items():
            (folder / path).write_bytes(data)
    assert sorted(path.name for path in folder.iterdir()) == sorted(texts)
    for path, data in texts.items():
        assert data.decode() == (folder / path).read_text(), f"{name}/{path}: `make golden` if this is meant"
