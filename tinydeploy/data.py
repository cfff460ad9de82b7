"""Reads calibration and evaluation data: .npz files (hostile input) and .py files that make arrays themselves."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import runpy
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from tinydeploy.errors import InputError, Problem
from tinydeploy.ir import Array, Graph
from tinydeploy.quant import feeds

LABELS = "y"
MAX_BYTES = 4 << 30  # of all arrays that are read, as float32 where they are numbers
_OUTSIDE_SHARE = 0.01


@dataclasses.dataclass(frozen=True)
class Data:
    """Samples for a model.

    ``x``: by input name, [samples, ...shape] or [samples, steps, ...shape]; real numbers as float32, or integers of
    the input's own type that are fed as they are. ``y``: labels or target values as they stand in the file.
    ``warnings``: what looks wrong with them.
    """

    x: dict[str, Array]
    y: Array | None
    warnings: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(next(iter(self.x.values()))) if self.x else 0


def load_data(
    path: str | Path,
    graph: Graph,
    *,
    data_map: Mapping[str, str] | None = None,
    input_scale: Mapping[str, tuple[float, float]] | None = None,
    need_labels: bool = False,
) -> Data:
    """Read ``path`` for the inputs of ``graph``.

    ``data_map``: array of the file by the name it is wanted under (an input, ``x`` for the only one, ``y``).
    ``input_scale``: (multiplier, offset) by input name or ``x``; integer data become ``data * multiplier + offset``.
    Without it, integer data of the input's own type are fed as they are, other numbers are real values.

    Raises: InputError if the file cannot be read or does not fit the model; every reason is listed.
    """
    path = Path(path)
    where = str(path)
    renames, scales = dict(data_map or {}), dict(input_scale or {})
    names = _wanted(graph, renames)
    arrays = _load_python(path) if path.suffix.lower() == ".py" else _load_npz(path, names)
    _check_options(graph, arrays, renames, scales, where)
    arrays = {**arrays, **{name: arrays[key] for name, key in renames.items()}}
    y = None if LABELS in graph.inputs else arrays.pop(LABELS, None)
    if y is None and need_labels:
        raise InputError(
            Problem(
                where,
                f"no labels: it has no array '{LABELS}'",
                "labels or target values, one a sample",
                f"--data-map {LABELS}=KEY takes the array KEY for them",
            )
        )
    if y is not None and y.ndim == 0:
        raise InputError(Problem(where, f"'{LABELS}' is a single value", "labels or target values, one a sample"))
    warnings: list[str] = []
    for name, (multiplier, offset) in scales.items():
        key = name if name in arrays else feeds.ALIAS
        if arrays[key].dtype.kind in "iu":
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
                arrays[key] = (arrays[key].astype(np.float64) * multiplier + offset).astype(np.float32)
        else:
            warnings.append(f"{where}: '{name}' holds {arrays[key].dtype}; --input-scale is for integers, not applied")
    x = feeds.fit(graph, arrays, where)
    warnings += _range_warnings(graph, x, where)
    return Data(x, None if y is None else np.asarray(y), tuple(warnings))


def _wanted(graph: Graph, renames: Mapping[str, str]) -> set[str]:
    """Names of the arrays that matter; others are not even unpacked."""
    return {*graph.inputs, *renames.values(), feeds.ALIAS, LABELS}


def _check_options(
    graph: Graph,
    arrays: Mapping[str, Array],
    renames: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    where: str,
) -> None:
    alias = [feeds.ALIAS] if len(graph.inputs) == 1 else []
    targets = list(dict.fromkeys([*graph.inputs, *alias]))
    listed = ", ".join(f"'{name}'" for name in targets)
    problems = [
        Problem(where, f"--data-map {name}={key}: there is no array '{key}'", f"it holds {_listing(arrays)}")
        for name, key in renames.items()
        if key not in arrays
    ]
    problems += [
        Problem(where, f"--data-map {name}=...: the model has no input '{name}'", f"one of {listed}, '{LABELS}'")
        for name in renames
        if name not in (*targets, LABELS)
    ]
    problems += [
        Problem(where, f"--input-scale {name}=...: the model has no input '{name}'", f"one of {listed}")
        for name in scales
        if name not in targets
    ]
    given = {*arrays, *renames}
    problems += [
        Problem(where, f"--input-scale {name}=...: there is no array for it", f"it holds {_listing(arrays)}")
        for name in scales
        if name in targets and name not in given and not (alias and feeds.ALIAS in given)
    ]
    if problems:
        raise InputError(problems)


def _listing(arrays: Mapping[str, Array]) -> str:
    return ", ".join(f"'{name}' {np.shape(array)}" for name, array in arrays.items()) or "nothing"


def _load_python(path: Path) -> dict[str, Array]:
    """Arrays from the user's own ``load()``."""
    if not path.is_file():
        raise InputError(Problem(str(path), "there is no such file"))
    rule = "a function load() that takes nothing and returns a dict of arrays"
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints is no part of our own output
            found = runpy.run_path(str(path))
            made = dict(found["load"]()) if "load" in found else None
            arrays = {} if made is None else {str(name): np.asarray(array) for name, array in made.items()}
    except (Exception, SystemExit) as error:
        raise InputError(Problem(str(path), f"it failed: {type(error).__name__}: {error}", rule)) from error
    if made is None:
        raise InputError(Problem(str(path), "no 'load' in it", rule))
    return arrays


def _load_npz(path: Path, names: set[str]) -> dict[str, Array]:
    """The arrays of an .npz, never unpickled. Only ``names`` are read; the others are there in shape, for messages.

    Sizes are read from the headers and checked before memory is taken.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            headers = {name: _checked_header(archive, info, str(path)) for name, info in members.items()}
            total = sum(math.prod(headers[n][0]) * max(headers[n][1].itemsize, 4) for n in headers if n in names)
            if total > MAX_BYTES:
                raise InputError(
                    Problem(
                        str(path),
                        f"its arrays take {total:,} bytes in memory",
                        f"{MAX_BYTES:,} bytes at most",
                        "give fewer samples; some hundreds are enough for calibration",
                    )
                )
            return {
                name: _read(archive, info) if name in names else np.broadcast_to(np.zeros(()), headers[name][0])
                for name, info in members.items()
            }
    except FileNotFoundError as error:
        raise InputError(Problem(str(path), "there is no such file")) from error
    except (OSError, zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError, NotImplementedError) as error:
        raise InputError(
            Problem(
                str(path),
                f"not an .npz file that can be read: {error}",
                "arrays written by numpy.savez",
                "numpy.savez_compressed('data.npz', x=x, y=y)",
            )
        ) from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    with archive.open(info) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def _checked_header(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array, from its header; what the archive says of its size must agree.

    Raises: InputError for arrays of objects, ValueError for anything that is not an array.
    """
    with archive.open(info) as file:
        shape, dtype = _header(file)
        start = file.tell()
    name = info.filename.removesuffix(".npy")
    if dtype.hasobject:
        raise InputError(
            Problem(
                where,
                f"array '{name}' holds Python objects, which are never unpickled",
                "arrays of numbers",
                "numpy.asarray(list, dtype=numpy.float32) before it is saved",
            )
        )
    if min(shape, default=0) < 0 or len(shape) > 8 or start + math.prod(shape) * dtype.itemsize != info.file_size:
        raise ValueError(f"array '{name}' says it is {dtype}{list(shape)} but is stored in {info.file_size} bytes")
    return shape, dtype


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"arrays of .npy version {version} hold no plain numbers")
    parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, _, dtype = parse(file)
    except Exception as error:  # NumPy evaluates the header as Python literals; many things can go wrong in there
        raise ValueError(f"the header of an array cannot be read ({type(error).__name__})") from error
    if any(type(size) is not int for size in shape):  # NumPy's own check lets True pass
        raise ValueError("the header of an array cannot be read (its shape)")
    return shape, dtype


def _range_warnings(graph: Graph, x: Mapping[str, Array], where: str) -> list[str]:
    """Real data that a quantised input cannot hold: a scale is missing, most likely."""
    found = []
    for name, array in x.items():
        kind = graph.type(name)
        if kind.quant is None or array.dtype == kind.elem.dtype:
            continue
        low, high = ((limit - kind.zero_point) * kind.scale for limit in kind.elem.limits)
        outside = float(np.mean((array < low - kind.scale) | (array > high + kind.scale)))
        if outside > _OUTSIDE_SHARE:
            found.append(
                f"{where}: {outside:.0%} of '{name}' lies outside what the model's input holds, {low:.4g} to "
                f"{high:.4g} (the data go from {array.min():.4g} to {array.max():.4g}): is --input-scale "
                f"{name}=MUL,ADD missing?"
            )
    return found
