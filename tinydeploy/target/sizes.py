"""Where a firmware's flash, RAM and stack go, and ``build.json``, which keeps it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from tinydeploy.target.board import Board
from tinydeploy.target.disasm import disassemble
from tinydeploy.target.elf import read_elf
from tinydeploy.target.mapfile import read_map
from tinydeploy.target.project import Project
from tinydeploy.target.stack import StackAnalysis, read_su

#: How the objects of a build are called: the model's, its kernels'; all others are the harness's.
MODEL_PREFIX, KERNEL_PREFIX = "model-", "kernel-"

_CONSTANTS = (".rodata", ".td_weights")
_IN_RAM = (".data", ".bss")
_LATER_IMAGES = ("firmware.elf", "firmware.bin", "firmware.hex")


@dataclasses.dataclass(frozen=True)
class FlashUse:
    """Bytes of flash: ``total`` = ``weights`` (constants of NAME.c) + ``code`` (the model's rest) + ``baseline``.

    ``baseline`` is what the same firmware takes with an empty model.
    """

    total: int
    weights: int
    code: int
    baseline: int


@dataclasses.dataclass(frozen=True)
class RamUse:
    """Bytes of RAM. ``static``: variables of the model, its kernels and their C library, beside arena and state.

    ``stack_bound``: proven use of NAME_run and all it calls, None if there is no proof. ``firmware``: all variables of
    the image, arena, state and test harness included.
    """

    arena: int
    state: int
    static: int
    stack_bound: int | None
    firmware: int


@dataclasses.dataclass(frozen=True)
class StackUse:
    """Proven stack bounds in bytes: of NAME_run, and of all from main on; None without proof (see ``reasons``)."""

    run: int | None
    main: int | None
    reasons: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class BuildResult:
    """A firmware image and its accounts. ``folder`` is ``DIR/build/BOARD``."""

    project: Project
    board: Board
    folder: Path
    flash: FlashUse
    ram: RamUse
    stack: StackUse
    opt: str
    compiler: str
    key: str

    @property
    def elf(self) -> Path:
        """The linked image with symbols."""
        return self.folder / "firmware.elf"

    @property
    def bin(self) -> Path:
        """The bytes of flash from its first address."""
        return self.folder / "firmware.bin"

    @property
    def hex(self) -> Path:
        """The image as Intel HEX."""
        return self.folder / "firmware.hex"

    def as_json(self) -> dict[str, Any]:
        """Return what ``build.json`` holds."""
        return {
            "name": self.project.name,
            "board": self.board.name,
            "cpu": self.board.cpu.name,
            "opt": self.opt,
            "compiler": self.compiler,
            "flash": dataclasses.asdict(self.flash),
            "ram": dataclasses.asdict(self.ram),
            "stack": dataclasses.asdict(self.stack),
            "key": self.key,
        }

    def save(self) -> None:
        """Write ``build.json``, the last file of a build: its presence says that the others are whole."""
        (self.folder / "build.json").write_text(json.dumps(self.as_json(), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, project: Project, board: Board, key: str) -> BuildResult | None:
        """Return an earlier build of the same inputs, or None."""
        try:
            data = json.loads((folder / "build.json").read_text(encoding="utf-8"))
            if data["key"] != key or not all((folder / name).is_file() for name in _LATER_IMAGES):
                return None
            stack = StackUse(data["stack"]["run"], data["stack"]["main"], tuple(data["stack"]["reasons"]))
            flash, ram = FlashUse(**data["flash"]), RamUse(**data["ram"])
            return cls(project, board, folder, flash, ram, stack, data["opt"], data["compiler"], key)
        except (OSError, ValueError, KeyError, TypeError):
            return None


def is_harness(object_name: str) -> bool:
    """Whether an object belongs to start-up, main and port, not to the model."""
    return not object_name.startswith((MODEL_PREFIX, KERNEL_PREFIX))


def analyse_stack(folder: Path, name: str) -> StackUse:
    """Bound the stack of ``NAME_run`` and of main in ``folder/firmware.elf``."""
    elf = read_elf(folder / "firmware.elf")
    listing = disassemble(folder / "firmware.elf", elf)
    analysis = StackAnalysis(elf, listing, read_su(sorted((folder / "obj").glob("*.su"))))
    bounds: dict[str, int | None] = {}
    reasons: tuple[str, ...] = ()
    for function in (f"{name}_run", "main"):
        symbol = elf.function(function)
        bound = analysis.bound(symbol.address) if symbol else None
        bounds[function] = bound.bytes if bound else None
        if function != "main":
            reasons = bound.reasons if bound else (f"{function} is not in the firmware",)
    return StackUse(bounds[f"{name}_run"], bounds["main"], reasons)


def _flash_bytes(path: Path) -> int:
    return sum(section.size for section in read_elf(path).sections if section.allocated and section.has_bytes)


def account(folder: Path, project: Project, stack: StackUse) -> tuple[FlashUse, RamUse]:
    """Work out flash and RAM of the firmware in ``folder`` from its images and link map."""
    total, baseline = _flash_bytes(folder / "firmware.elf"), _flash_bytes(folder / "baseline.elf")
    placed = read_map(folder / "firmware.map")
    model_object = f"obj/{MODEL_PREFIX}{project.name}.o"
    harness = {f"obj/{path.name}" for path in (folder / "obj").glob("*.o") if is_harness(path.name)}
    weights = sum(p.size for p in placed if p.object == model_object and p.section.startswith(_CONSTANTS))
    in_ram = [p for p in placed if p.output in _IN_RAM]
    static = sum(p.size for p in in_ram if p.object not in harness)
    firmware = sum(s.size for s in read_elf(folder / "firmware.elf").sections if s.name in _IN_RAM)
    flash = FlashUse(total, weights, total - weights - baseline, baseline)
    return flash, RamUse(project.arena_bytes, project.state_bytes, static, stack.run, firmware)
