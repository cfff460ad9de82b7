"""What `doctor` says of tools and packages."""

import importlib.metadata
import json

import pytest


@pytest.fixture
def installed(monkeypatch):
    """Sets which distributions there are."""
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    return versions


def rows(run) -> dict[str, dict]:
    return {row["name"]: row for row in json.loads(run("doctor", "--json")[1])}


def test_either_of_two_packages_will_do(run, installed):
    installed["tensorflow-cpu"] = "2.18"
    found = rows(run)
    assert found["tensorflow-cpu"]["version"] == "2.18"
    assert "tensorflow" not in found
    assert not found["ai-edge-litert"]["found"]
    assert "tinydeploy[oracle-litert]" in found["ai-edge-litert"]["install"]


def test_a_missing_tool_is_exit_code_3_and_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    code, out, _ = run("doctor")
    assert code == 3
    assert "apt-get install gcc-arm-none-eabi" in out
