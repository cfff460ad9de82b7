"""A generated project folder, read back: its manifest's facts and its C files."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinydeploy.errors import InputError, Problem

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

#: Element types of the C API: NumPy's name -> C type and bytes.
C_TYPES: dict[str, tuple[str, int]] = {
    "int8": ("int8_t", 1),
    "uint8": ("uint8_t", 1),
    "bool": ("uint8_t", 1),
    "int16": ("int16_t", 2),
    "uint16": ("uint16_t", 2),
    "int32": ("int32_t", 4),
    "uint32": ("uint32_t", 4),
    "int64": ("int64_t", 8),
    "uint64": ("uint64_t", 8),
    "float32": ("float", 4),
}


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """A model input or output: the model's name for it, shape of one step, and element type (a NumPy name)."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        """Elements of one step."""
        return math.prod(self.shape)

    @property
    def step_bytes(self) -> int:
        """Bytes of one step in memory and in a sample stream."""
        return self.elements * C_TYPES[self.dtype][1]


@dataclasses.dataclass(frozen=True)
class Project:
    """A folder that `convert` wrote. ``nodes`` are (node name, operator, C function), in order of execution."""

    folder: Path
    name: str
    cpu: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    arena_bytes: int
    state_bytes: int
    weights_bytes: int
    nodes: tuple[tuple[str, str, str], ...]
    caller_io: bool

    @property
    def model_source(self) -> Path:
        """``NAME.c``."""
        return self.folder / f"{self.name}.c"

    @property
    def runtime_sources(self) -> list[Path]:
        """The kernels' C files, sorted."""
        return sorted((self.folder / "runtime" / "src").glob("*.c"))

    @property
    def headers(self) -> list[Path]:
        """Every header of the folder, sorted."""
        return [self.folder / f"{self.name}.h", *sorted((self.folder / "runtime" / "include").glob("*.h"))]

    @property
    def include_flags(self) -> list[str]:
        """The ``-I`` options its C files need."""
        return [f"-I{self.folder}", f"-I{self.folder / 'runtime' / 'include'}"]


def _tensor(entry: Mapping[str, Any]) -> TensorSpec:
    spec = TensorSpec(str(entry["name"]), tuple(int(size) for size in entry["shape"]), str(entry["dtype"]))
    if spec.dtype not in C_TYPES or any(size <= 0 for size in spec.shape):
        raise ValueError(f"tensor {spec.name!r}: {spec.dtype} {list(spec.shape)}")
    return spec


def parse_manifest(data: Mapping[str, Any], folder: Path) -> Project:
    """Read the facts of a manifest; ``folder`` is where the project lies.

    Raises: ValueError, KeyError or TypeError if it is not a manifest of ours.
    """
    name = str(data["name"])
    if not _IDENTIFIER.match(name):
        raise ValueError(f"name {name!r} is no C identifier")
    return Project(
        folder=folder,
        name=name,
        cpu=str(data["cpu"]),
        inputs=tuple(_tensor(entry) for entry in data["inputs"]),
        outputs=tuple(_tensor(entry) for entry in data["outputs"]),
        arena_bytes=int(data["arena_bytes"]),
        state_bytes=int(data["state_bytes"]),
        weights_bytes=int(data.get("weights_bytes", 0)),
        nodes=tuple((str(n["name"]), str(n["op"]), str(n.get("function") or "")) for n in data["nodes"]),
        caller_io=data.get("io_buffers") == "caller",
    )


def load_project(folder: str | Path) -> Project:
    """Read a project folder's manifest.

    Raises: InputError if the folder is not one that `tinydeploy convert` wrote, or files are missing from it.
    """
    root = Path(folder).resolve()  # compilers run in another folder
    path = root / "manifest.json"
    hint = "a project folder is what `tinydeploy convert MODEL -o DIR` writes"
    try:
        project = parse_manifest(json.loads(path.read_text(encoding="utf-8")), root)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(Problem(str(root), "holds no manifest.json", hint=hint)) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(Problem(str(path), f"is not a manifest of tinydeploy: {error!r}", hint=hint)) from error
    missing = [file.name for file in (project.model_source, root / f"{project.name}.h") if not file.is_file()]
    if missing:
        raise InputError(Problem(str(root), f"lacks {', '.join(missing)}", hint="convert the model again"))
    return project
