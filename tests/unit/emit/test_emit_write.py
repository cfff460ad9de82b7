"""A folder is written whole or not at all, and never over anybody else's files."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tinydeploy.emit import write
from tinydeploy.emit.write import write_folder
from tinydeploy.errors import InputError, UsageError


def files(text: str, *more: str) -> dict[str, bytes]:
    names = ["net.c", "runtime/src/k.c", "manifest.json", *more]
    manifest = json.dumps({"generator": "tinydeploy", "files": names}).encode()
    return {name: manifest if name == "manifest.json" else text.encode() for name in names}


def listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_new_folder_and_its_parents(tmp_path):
    write_folder(tmp_path / "a" / "b", files("1"))
    assert listing(tmp_path / "a" / "b") == ["manifest.json", "net.c", "runtime/src/k.c"]
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["b"]


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", files("1"))
    assert (tmp_path / "out" / "net.c").read_text() == "1"


@pytest.mark.parametrize("exchange", [True, False])
def test_ours_is_replaced_and_added_files_are_kept(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(write, "_exchange", lambda a, b: False)
    out = tmp_path / "out"
    write_folder(out, files("1", "old.c"))
    (out / "build" / "host").mkdir(parents=True)
    (out / "build" / "host" / "x.o").write_text("")
    (out / "mine").mkdir()
    (out / "mine" / "notes.txt").write_text("keep")
    (tmp_path / "elsewhere").mkdir()
    (out / "link").symlink_to(tmp_path / "elsewhere")
    write_folder(out, files("2"))
    assert (out / "link").readlink() == tmp_path / "elsewhere"
    (out / "link").unlink()
    (tmp_path / "elsewhere").rmdir()
    assert listing(out) == ["manifest.json", "mine/notes.txt", "net.c", "runtime/src/k.c"]
    assert (out / "net.c").read_text() == "2"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("content", ["", "{}", '{"generator": "other", "files": []}', "[1]", '"x"'])
def test_a_folder_of_others_is_refused(tmp_path, content):
    out = tmp_path / "out"
    out.mkdir()
    (out / "precious.txt").write_text("x")
    (out / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match="did not write"):
        write_folder(out, files("1"))
    assert listing(out) == ["manifest.json", "precious.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        write_folder(tmp_path / "out", files("1"))
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(tmp_path / "out" / "below", files("1"))


def test_a_failure_half_way_leaves_the_old_folder(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_folder(out, files("1"))

    def full(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        write_folder(out, files("2"))
    assert (out / "net.c").read_text() == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_kill_half_way_is_cleaned_up_by_the_next_run(tmp_path):
    out = tmp_path / "out"
    write_folder(out, files("1"))
    script = (
        "import sys, time; from pathlib import Path; from tinydeploy.emit.write import write_folder\n"
        "write = Path.write_bytes\n"
        "def slow(self, content):\n"
        "    write(self, content); print('one', flush=True); time.sleep(60)\n"
        "Path.write_bytes = slow\n"
        "write_folder(Path(sys.argv[1]), {'net.c': b'2', 'manifest.json': b'{}'})\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(out)], stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[3]
    )
    assert child.stdout is not None
    child.stdout.readline()
    left = [p.name for p in tmp_path.iterdir() if p.name != "out"]
    write_folder(out, files("3"))
    assert [p.name for p in tmp_path.iterdir() if p.name != "out"] == left, "a run that is alive is let be"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert (out / "net.c").read_text() == "3"
    assert len(left) == 1
    assert left[0].startswith(".out.tinydeploy-")
    write_folder(out, files("4"))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_was_set_aside_comes_back(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    aside = tmp_path / f".out.tinydeploy-{dead.pid}-0123abcd-old"
    write_folder(aside, files("1"))
    (aside / "mine.txt").write_text("keep")
    write_folder(tmp_path / "out", files("2"))
    assert listing(tmp_path / "out") == ["manifest.json", "mine.txt", "net.c", "runtime/src/k.c"]


def test_through_a_link_the_real_folder_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", files("1"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "net.c").read_text() == "1"


def test_readers_never_see_a_missing_folder(tmp_path):
    """Replaced in one step where the system can."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux exchanges folders in one step")
    out = tmp_path / "out"
    write_folder(out, files("0"))
    pid = os.fork()
    if pid == 0:
        for i in range(40):
            write_folder(out, files(str(i)))
        os._exit(0)
    misses = 0
    end = time.monotonic() + 30
    while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < end:
        misses += not (out / "net.c").exists()
    assert misses == 0
