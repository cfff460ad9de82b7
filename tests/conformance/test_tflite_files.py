"""Every .tflite file in ../shared/models: its import computes what LiteRT does, or is refused for a right reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SHARED, need_module
from tinydeploy import passes
from tinydeploy.errors import UnsupportedError
from tinydeploy.frontends import load
from tinydeploy.validation.oracle import check_against

MODELS = SHARED / "models"
FILES = sorted(str(path.relative_to(MODELS)) for path in MODELS.rglob("*.tflite"))
REFUSED = {"tflm/audio_preprocessor_int8.tflite": "is the custom operator 'SignalWindow'"}
# LiteRT cannot prepare them (models/README.md); test_int16_files.py compares them with a 64-bit formula.
NOT_RUN = {"tflm/seanet_ops/transpose_conv1.tflite", "tflm/seanet_ops/transpose_conv3.tflite"}


def test_there_are_files() -> None:
    if not MODELS.exists():
        pytest.skip("../shared/models is absent")
    assert len(FILES) > 100


@pytest.mark.parametrize("name", FILES)
def test_agrees_with_litert(name) -> None:
    need_module("ai_edge_litert")
    path = Path(MODELS, name)
    if name in REFUSED:
        with pytest.raises(UnsupportedError, match=REFUSED[name]):
            load(path)
        return
    graph = load(path)
    for seed, version in enumerate((graph, passes.optimise(graph))):
        text = check_against(path, version, seed)
        assert name in NOT_RUN or text is not None, version.warnings
