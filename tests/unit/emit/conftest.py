from pathlib import Path

import pytest

from tests.unit.emit import fakes


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    return fakes.runtime(tmp_path / "runtime_c")
