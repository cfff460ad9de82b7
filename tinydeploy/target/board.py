"""Boards: one folder with one ``board.toml`` each, read strictly."""

from __future__ import annotations

import dataclasses
import itertools
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from tinydeploy.assets import asset_dir
from tinydeploy.errors import BoardError, Problem, UsageError, did_you_mean
from tinydeploy.target.cpu import CPUS, Cpu

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

BoardKind = Literal["host", "qemu", "real"]

_TOP_KEYS = {"description", "cpu", "kind", "clock_hz", "vectors_in", "stack_bytes", "port", "memory", "run", "flash"}
_KINDS = ("host", "qemu", "real")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_WORD = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclasses.dataclass(frozen=True)
class Memory:
    """A memory region: first address and size in bytes."""

    name: str
    origin: int
    size: int


@dataclasses.dataclass(frozen=True)
class Board:
    """One board as its ``board.toml`` describes it.

    ``memories`` holds ``flash``, ``ram`` and any others, in the file's order (none on the host). ``vectors_in`` is the
    memory the core fetches its vector table from. ``stack_bytes`` is the least room the linker keeps for the stack.
    ``port`` names the I/O under the firmware's main: ``port_<port>.c`` in the board's folder or in ``boards/common``.
    """

    name: str
    description: str
    cpu: Cpu
    kind: BoardKind
    clock_hz: int
    folder: Path
    memories: tuple[Memory, ...] = ()
    vectors_in: str = "flash"
    stack_bytes: int = 512
    port: str = "semihosting"
    qemu_machine: str = ""
    qemu_args: tuple[str, ...] = ()
    flash_command: tuple[str, ...] = ()

    def memory(self, name: str) -> Memory:
        """Return the memory of that name; KeyError if there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)

    @property
    def flash_bytes(self) -> int | None:
        """Bytes of flash, None on the host."""
        return self.memory("flash").size if self.memories else None

    @property
    def ram_bytes(self) -> int | None:
        """Bytes of the main RAM, None on the host."""
        return self.memory("ram").size if self.memories else None

    def as_json(self) -> dict[str, Any]:
        """Return the entry of ``tinydeploy boards --json``."""
        return {
            "name": self.name,
            "description": self.description,
            "cpu": self.cpu.name,
            "kind": self.kind,
            "flash_bytes": self.flash_bytes,
            "ram_bytes": self.ram_bytes,
            "clock_hz": self.clock_hz or None,
        }


class _Reader:
    """Collects every problem of one board.toml before any is raised."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []

    def bad(self, what: str, rule: str = "") -> None:
        self.problems.append(Problem(str(self.path), what, rule=rule))

    def unknown(self, table: Mapping[str, Any], allowed: set[str], where: str) -> None:
        for key in sorted(set(table) - allowed):
            self.bad(f"unknown key {key!r} {where}", rule="allowed: " + ", ".join(sorted(allowed)))

    def table(self, parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = parent.get(key, {})
        if isinstance(value, dict):
            return value
        self.bad(f"{key} must be a table")
        return {}

    def text(self, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
        value = table.get(key, default)
        if isinstance(value, str) and (value or default is not None):
            return value
        self.bad(f"{key} must be a text" if key in table else f"{key} is missing")
        return ""

    def number(
        self, table: Mapping[str, Any], key: str, where: str = "", default: int | None = None, least: int = 0
    ) -> int:
        value = table.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= 0xFFFFFFFF:
            return value
        self.bad(f"{where}{key} " + (f"must be an integer from {least} to 2^32 - 1" if key in table else "is missing"))
        return least

    def texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.bad(f"{key} must be a list of texts")
        return ()


def _read_memories(reader: _Reader, data: Mapping[str, Any]) -> tuple[Memory, ...]:
    memories = []
    for name, entry in reader.table(data, "memory").items():
        where = f"memory.{name}: "
        if not isinstance(entry, dict) or not _WORD.match(name):
            reader.bad(f"memory.{name} must be a table with origin and size, named by a lower-case word")
            continue
        reader.unknown(entry, {"origin", "size"}, f"in memory.{name}")
        memory = Memory(name, reader.number(entry, "origin", where), reader.number(entry, "size", where, least=256))
        if memory.origin + memory.size > 1 << 32:
            reader.bad(f"memory.{name} ends beyond the 32-bit address space")
        memories.append(memory)
    ordered = sorted(memories, key=lambda memory: memory.origin)
    for lower, upper in itertools.pairwise(ordered):
        if lower.origin + lower.size > upper.origin:
            reader.bad(f"memory.{lower.name} and memory.{upper.name} overlap")
    return tuple(memories)


def _read_board(path: Path, name: str) -> Board:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BoardError(Problem(str(path), f"cannot be read as TOML: {error}")) from error
    reader = _Reader(path)
    if not _NAME.match(name):
        reader.bad(f"the folder's name {name!r} is the board's name: lower-case letters, digits, '.', '_' and '-' only")
    reader.unknown(data, _TOP_KEYS, "at the top level")
    kind = reader.text(data, "kind")
    if kind and kind not in _KINDS:
        reader.bad(f"kind is {kind!r}", rule="one of: " + " ".join(_KINDS))
    cpu_name = reader.text(data, "cpu")
    if cpu_name and cpu_name not in CPUS:
        reader.bad(f"cpu is {cpu_name!r}", rule="one of: " + " ".join(CPUS))
    if cpu_name and (cpu_name == "host") != (kind == "host"):
        reader.bad("cpu and kind must both be 'host' or neither")
    run, flash = reader.table(data, "run"), reader.table(data, "flash")
    reader.unknown(run, {"qemu_machine", "qemu_args"}, "in run")
    reader.unknown(flash, {"command"}, "in flash")
    memories = _read_memories(reader, data)
    names = {memory.name for memory in memories}
    vectors_in = reader.text(data, "vectors_in", "flash")
    if kind in ("qemu", "real"):
        for needed in ("flash", "ram"):
            if needed not in names:
                reader.bad(f"memory.{needed} is missing")
        if vectors_in not in names | {"flash"}:
            reader.bad(f"vectors_in names no memory: {vectors_in!r}")
    if kind == "qemu" and not run.get("qemu_machine"):
        reader.bad("run.qemu_machine is missing", rule="a board of kind 'qemu' names QEMU's machine")
    board = Board(
        name=name,
        description=reader.text(data, "description", ""),
        cpu=CPUS.get(cpu_name, CPUS["host"]),
        kind=cast(BoardKind, kind),
        clock_hz=reader.number(data, "clock_hz", default=0),
        folder=path.parent,
        memories=memories,
        vectors_in=vectors_in,
        stack_bytes=reader.number(data, "stack_bytes", default=512, least=128),
        port=reader.text(data, "port", "files" if kind == "host" else "semihosting"),
        qemu_machine=reader.text(run, "qemu_machine", ""),
        qemu_args=reader.texts(run, "qemu_args"),
        flash_command=reader.texts(flash, "command"),
    )
    if reader.problems:
        raise BoardError(reader.problems)
    return board


def board_names() -> list[str]:
    """Return the names of the boards that come with tinydeploy, sorted."""
    return sorted(path.parent.name for path in asset_dir("boards").glob("*/board.toml"))


def load_board(name_or_path: str | Path) -> Board:
    """Load a board by name, or from a path to a ``board.toml`` or its folder.

    Raises: BoardError with everything that is wrong with the file, UsageError naming the nearest ones where there is no
    such board.
    """
    text = str(name_or_path)
    if text in board_names():
        return _read_board(asset_dir("boards") / text / "board.toml", text)
    path = Path(name_or_path)
    if path.is_dir():
        path = path / "board.toml"
    if path.is_file():
        return _read_board(path, path.resolve().parent.name)
    raise UsageError(
        Problem(
            f"board {text!r}",
            "is not known, and there is no such board.toml",
            rule="one of: " + " ".join(board_names()) + ", or a path to a board.toml",
            hint="" if path.suffix == ".toml" else did_you_mean(text, board_names(), "`tinydeploy boards` lists them"),
        )
    )


def all_boards() -> list[Board]:
    """Return every board that comes with tinydeploy, sorted by name."""
    return [load_board(name) for name in board_names()]


_TEMPLATE = """\
description = "what the board is"
cpu = "cortex-m4f"              # {cpus}
kind = "real"                   # or "qemu", with run.qemu_machine
clock_hz = 80_000_000
# vectors_in = "flash"          # the memory the core fetches its vector table from
# stack_bytes = 512             # the least room to keep for the stack
# port = "semihosting"          # or NAME of a port_NAME.c beside this file: see boards/common/td_port.h

[memory.flash]
origin = 0x08000000
size = 0x100000

[memory.ram]
origin = 0x20000000
size = 0x20000

[flash]
command = ["pyocd", "flash", "--target", "TARGET", "{hex}"]
"""


def write_template(folder: Path) -> Path:
    """Write ``folder/board.toml`` for a new board and return its path.

    Raises: UsageError if there is one already or the folder's name does not serve as a board's name.
    """
    path = folder / "board.toml"
    name = folder.resolve().name
    if not _NAME.match(name):
        raise UsageError(
            Problem(name, "does not serve as a board's name", rule="lower-case letters, digits, '.', '_', '-'")
        )
    if path.exists() or name in board_names():
        raise UsageError(Problem(str(path), "a board of that name is there already"))
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_TEMPLATE.replace("{cpus}", ", ".join(name for name in CPUS if name != "host")), encoding="utf-8")
    return path
