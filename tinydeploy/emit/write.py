"""Writes a project folder whole or not at all, over an older one of ours but never over anybody else's files."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from tinydeploy.errors import InputError, Problem, UsageError

GENERATOR = "tinydeploy"
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux's renameat2
_AT_FDCWD = -100


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write ``files`` (by relative path) as the folder ``path``, replacing a folder of ours in one step.

    The new folder is made beside the old one and takes its place by renaming; a run that is killed leaves ``path`` as
    it was, and a sibling ".NAME.tinydeploy-PID-..." that the next run removes. Files that somebody added to the old
    folder are kept; what we wrote and what was built from it is not.

    Raises: UsageError if ``path`` is a file or a folder that is not ours, InputError if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.parent.is_dir():
            _sweep(target)
        old = _our_files(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.parent / f".{target.name}.{GENERATOR}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            for name, content in files.items():
                file = fresh / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            if old is not None:
                _keep_others(target, fresh, old)
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        what, rule = f"cannot be written: {error.strerror or error}", "a folder that can be made, with room for it"
        raise InputError(Problem(str(path), what, rule)) from error


def check_folder(path: Path) -> None:
    """Refuse ``path`` before any work is done where `write_folder` would refuse it.

    Raises: UsageError.
    """
    _our_files(Path(os.path.realpath(path)))


def _our_files(target: Path) -> set[str] | None:
    """Relative paths of the files an older run wrote; None if there is nothing yet."""
    if not target.exists():
        return None
    hint = "name a new folder, or one that `tinydeploy convert` wrote"
    if not target.is_dir():
        raise UsageError(Problem(str(target), "is a file, and a folder is to be written there", hint=hint))
    if not any(target.iterdir()):
        return set()
    try:
        manifest = json.loads((target / "manifest.json").read_text("utf-8"))
        if manifest["generator"] == GENERATOR:
            return {str(name) for name in manifest["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    what = "holds files that tinydeploy did not write; nothing was changed"
    raise UsageError(Problem(str(target), what, rule="an output folder is empty, new or ours", hint=hint))


def _keep_others(target: Path, fresh: Path, old: set[str]) -> None:
    """Copy what somebody added to the old folder, unless the new one has a file of that name. build/ is ours."""
    for folder, folders, names in os.walk(target):
        where = Path(folder).relative_to(target)
        if where == Path("."):
            folders[:] = [name for name in folders if name != "build"]
        for name in (*names, *(name for name in folders if (Path(folder) / name).is_symlink())):
            file = where / name
            if file.as_posix() not in old and not (fresh / file).exists():
                (fresh / where).mkdir(parents=True, exist_ok=True)
                shutil.copy2(target / file, fresh / file, follow_symlinks=False)


def _swap(fresh: Path, target: Path) -> None:
    """Put ``fresh`` in the place of ``target``; an old folder ends up under the name of ``fresh``."""
    if not target.exists():
        fresh.rename(target)
        return
    if _exchange(fresh, target):
        return
    aside = target.parent / f"{fresh.name}-old"
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two folders in one step where the system can (Linux); False where it cannot."""
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        return bool(rename(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _EXCHANGE) == 0)
    return False


def _sweep(target: Path) -> None:
    """Remove what runs that are no longer alive left beside ``target``; put back a folder that was set aside."""
    pattern = re.compile(re.escape(f".{target.name}.{GENERATOR}-") + r"(\d+)-[0-9a-f]{8}(-old)?\Z")
    for entry in sorted(target.parent.iterdir()):
        match = pattern.match(entry.name)
        if match is None or _alive(int(match.group(1))):
            continue
        if match.group(2) and not target.exists():
            entry.rename(target)
        else:
            shutil.rmtree(entry, ignore_errors=True)


def _alive(pid: int) -> bool:
    if pid == os.getpid():
        return False
    if os.name == "nt":  # there, signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
