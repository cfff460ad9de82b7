"""What all tests share: the given material, outside tools, and a deadline for the long tables."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TD_SHARED", REPO.parent / "shared"))
_START = time.monotonic()
_LATE = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deadline", type=float, default=None, help="seconds after which no further test is started")
    parser.addoption("--rewrite-golden", action="store_true", help="rewrite the golden files instead of comparing")


def pytest_runtest_setup(item: pytest.Item) -> None:
    deadline = item.config.getoption("--deadline")
    if deadline is not None and time.monotonic() - _START > deadline:
        pytest.skip("NOT REACHED: the time for this run was used up")


def pytest_terminal_summary(terminalreporter, exitstatus, config) -> None:
    late = [r.nodeid for r in terminalreporter.stats.get("skipped", []) if "NOT REACHED" in str(r.longrepr)]
    if late:
        terminalreporter.section(f"not reached in the time given: {len(late)} tests")
        for name in late:
            terminalreporter.write_line(name)


def missing(what: str) -> None:
    """Skip because an outside tool is missing; fail instead where TD_REQUIRE_TOOLS=1 (CI)."""
    if os.environ.get("TD_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{what} is missing and TD_REQUIRE_TOOLS=1")
    pytest.skip(f"{what} is missing")


def need_tool(*names: str) -> None:
    """Skip (in CI: fail) unless these commands are found."""
    for name in names:
        if shutil.which(name) is None:
            missing(name)


def need_module(*names: str) -> None:
    """Skip (in CI: fail) unless these Python packages are installed. Nothing is imported."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            missing(name)


def need_shared(*parts: str) -> Path:
    """A file or folder of ../shared; skip, saying so, where it is absent (the project is whole without it)."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared/{'/'.join(parts)} is absent")
    return path


@pytest.fixture(scope="session")
def repo() -> Path:
    """The checkout."""
    return REPO
