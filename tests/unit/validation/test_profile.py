"""Where the counting plugin is kept."""

import os
import pathlib
import stat
import tempfile

import pytest

from tinydeploy.validation.profile import _cache_folder


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder of temporary files of this test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def no_home(*_):
    raise RuntimeError("Could not determine home directory.")


def test_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert _cache_folder() == tmp_path / "cache" / "tinydeploy"


def test_a_relative_cache_counts_as_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(pathlib.Path, "home", lambda: tmp_path)
    assert _cache_folder() == tmp_path / ".cache" / "tinydeploy"


@pytest.mark.parametrize("home", [no_home, lambda: pathlib.Path(os.devnull)], ids=["none", "a file"])
def test_without_a_home(temporary, monkeypatch, home):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pathlib.Path, "home", home)
    folder = _cache_folder()
    assert folder == temporary / f"tinydeploy-{os.getuid()}" == _cache_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("planted", ["writable", "link", "file"])
def test_a_folder_that_others_can_write_is_not_trusted(temporary, monkeypatch, planted):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pathlib.Path, "home", no_home)
    place = temporary / f"tinydeploy-{os.getuid()}"
    if planted == "writable":
        place.mkdir()
        place.chmod(0o777)
    elif planted == "link":
        place.symlink_to(temporary)
    else:
        place.write_text("")
    folder = _cache_folder()
    assert folder.parent == temporary
    assert folder != place
    assert folder.is_dir()
