"""Opens `.h5` and `.keras` files as data only: JSON text and arrays of numbers. Nothing in them is ever executed.

Layouts: HDF5 with the attribute ``model_config`` and the group ``model_weights`` (Keras 1 to 3), and a zip of
``config.json`` and ``model.weights.h5`` (Keras 2.12 and later).
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.frontends.keras_hdf5 import Hdf5
from tinydeploy.frontends.keras_hdf5_objects import SIGNATURE
from tinydeploy.ir import Array

MAX_JSON_BYTES = 64 << 20
MAX_WEIGHTS_BYTES = 1 << 30
MAX_MEMBERS = 1000
MAX_INFLATION = 1100  # deflate cannot do better than about 1030 to 1
_OTHER_NAMES = {"GroupQueryAttention": "GroupedQueryAttention"}  # in the configuration: in the file of weights
_OWN_PACKAGES = ("keras", "tf_keras", "keras_core", "tensorflow.keras", "builtins")


def is_own_module(module: str) -> bool:
    """True if a module that a file names belongs to Keras: Keras itself imports whatever the file says."""
    return any(module == package or module.startswith(f"{package}.") for package in _OWN_PACKAGES)


@dataclasses.dataclass(frozen=True)
class Ref:
    """One step towards a layer: its name, and its slot (numbered class in snake_case) by which newer files store it.

    ``attribute``: the layer is held by a wrapper, and ``slot`` is the wrapper's attribute.
    """

    name: str
    slot: str
    attribute: bool = False


class Weights(Protocol):
    """The weights of a file."""

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        """The float32 weights of the layer at ``path`` (models within models), in Keras' own order.

        Raises: InputError if they are missing or not numbers.
        """

    def parts(self, path: tuple[Ref, ...], counts: Mapping[str, int]) -> list[list[Array]]:
        """The weights of layers inside the layer at ``path``: how many each has by its attributes, "a/b".

        Raises: InputError as `of`.
        """


@dataclasses.dataclass(frozen=True)
class KerasFile:
    """The model's configuration as parsed JSON, its weights, and the main version of the Keras that wrote it."""

    config: dict[str, Any]
    weights: Weights
    version: int = 3


def slot_stem(class_name: str) -> str:
    """A class name in Keras' snake_case: "DepthwiseConv2D" is "depthwise_conv2d". Source: keras.utils.naming."""
    text = re.sub(r"\W+", "", _OTHER_NAMES.get(class_name, class_name))
    text = re.sub(r"(?<=.)(?=[A-Z][a-z])", "_", text)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()


def open_keras(data: bytes, path: Path) -> KerasFile:
    """Recognise the layout by content and open it.

    Raises: InputError if it is neither, is damaged, or holds no model; UnsupportedError for a layout that is not read.
    """
    where = str(path)
    if data.startswith(SIGNATURE):
        return _open_h5(data, where)
    if data.startswith(b"PK"):
        return _open_zip(data, where)
    kind = "a Keras archive (zip)" if path.suffix.lower() == ".keras" else "an HDF5 file"
    raise InputError(Problem(where, f"is not {kind}", hint="is the suffix right, and the download whole?"))


def _parse(text: str | bytes, where: str) -> dict[str, Any]:
    if len(text) > MAX_JSON_BYTES:
        raise InputError(Problem(where, f"has a configuration of {len(text)} bytes", f"at most {MAX_JSON_BYTES}"))
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(where, f"the model's configuration is not JSON: {str(error)[:200]}")) from None
    if not isinstance(config, dict) or not isinstance(config.get("class_name"), str):
        raise InputError(Problem(where, "the model's configuration names no class"))
    return config


def _open_h5(data: bytes, where: str) -> KerasFile:
    store = Hdf5(data, where)
    text = store.strings("", "model_config")
    if text is None or len(text) != 1:
        groups = ("layers", "_layer_checkpoint_dependencies")
        if any(store.is_group(group) for group in groups) or store.strings("", "layer_names") is not None:
            hint = "save the whole model: model.save('model.keras')"
            raise InputError(Problem(where, "holds weights only, without the model", hint=hint))
        raise InputError(Problem(where, "is HDF5 but no Keras model", "the attribute model_config describes the model"))
    version = store.strings("", "keras_version") or ["2"]
    return KerasFile(_parse(text[0], where), _LegacyWeights(store), _main_version(version[0]))


def _open_zip(data: bytes, where: str) -> KerasFile:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: info for info in archive.infolist()[: MAX_MEMBERS + 1]}
            if len(members) > MAX_MEMBERS:
                raise InputError(Problem(where, f"has more than {MAX_MEMBERS} members"))
            if "config.json" not in members:
                raise InputError(Problem(where, "is a zip without config.json", "a Keras archive has one"))
            config = _parse(_member(archive, members["config.json"], MAX_JSON_BYTES, where), where)
            if "model.weights.h5" not in members:
                hint = "save with Keras 2.12 or later: model.save('model.keras')"
                raise UnsupportedError(Problem(where, "has no model.weights.h5", hint=hint))
            weights = _member(archive, members["model.weights.h5"], MAX_WEIGHTS_BYTES, where)
            version = "3"
            if "metadata.json" in members:
                version = _version(_member(archive, members["metadata.json"], MAX_JSON_BYTES, where))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InputError(Problem(where, f"damaged archive: {error}", hint="download or save it again")) from None
    return KerasFile(config, _SlotWeights(Hdf5(weights, f"{where}: model.weights.h5")), _main_version(version))


def _version(metadata: bytes) -> str:
    """``keras_version`` of a metadata.json; "3" if there is none."""
    try:
        found = json.loads(metadata)
    except (ValueError, RecursionError):
        return "3"
    return str(found.get("keras_version", "3")) if isinstance(found, dict) else "3"


def _main_version(text: str) -> int:
    """The number before the first dot."""
    head = text.split(".")[0]
    return int(head) if head.isdigit() and len(head) < 4 else 3


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int, where: str) -> bytes:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise InputError(Problem(where, f"{info.filename} is encrypted or packed in an unusual way"))
    if info.file_size > min(limit, MAX_INFLATION * (info.compress_size + 1)):
        raise InputError(Problem(where, f"{info.filename} claims {info.file_size} bytes", f"at most {limit}"))
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise InputError(Problem(where, f"damaged archive: {info.filename} has not the size it claims"))
    return content


class _LegacyWeights:
    """Group ``model_weights``: a group a top-level layer whose attribute ``weight_names`` lists its arrays in order."""

    def __init__(self, store: Hdf5) -> None:
        self._store = store

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        while path[-1].attribute:  # the one layer in a wrapper: all that the wrapper has
            path = path[:-1]
        group = f"model_weights/{path[0].name}"
        names = [name for name in self._names(group) if not _is_bookkeeping(name)]
        if len(path) > 1:
            # A nested model's arrays are all in its own group; the parts of a name tell which layer owns it.
            owner = tuple(ref.name for ref in path)
            ranks = [_rank(tuple(name.split("/")[:-1]), owner) for name in names]
            best = max(ranks, default=0)
            names = [name for name, rank in zip(names, ranks, strict=True) if rank == best > 0]
        return [self._read(f"{group}/{name}") for name in names]

    def parts(self, path: tuple[Ref, ...], counts: Mapping[str, int]) -> list[list[Array]]:
        arrays, result = self.of(path), []
        for count in counts.values():
            result.append(arrays[:count])
            arrays = arrays[count:]
        return result

    def _names(self, group: str) -> list[str]:
        """``weight_names``; a list too long for one attribute is in ``weight_names0``, ``weight_names1`` ..."""
        whole = self._store.strings(group, "weight_names")
        if whole is not None:
            return whole
        names: list[str] = []
        for number in range(MAX_MEMBERS):
            part = self._store.strings(group, f"weight_names{number}")
            if part is None:
                break
            names += part
        return names

    def _read(self, path: str) -> Array:
        array = self._store.array(path)
        if array is None:
            raise InputError(Problem("", f"the weights {path} are missing"))
        return array


def _is_bookkeeping(name: str) -> bool:
    """True for variables that no run needs: seeds, counts of Normalization, what SpectralNormalization learns by."""
    return name.split("/")[-1].split(":")[0] in ("seed_generator_state", "count", "vector_u", "sn_u")


def _rank(parts: tuple[str, ...], owner: tuple[str, ...]) -> int:
    """How well the parts of a weight's name fit the path of a layer: 0 if the layer's own name is not among them.

    Newer files name the models around the layer too, older ones begin with the layer.
    """
    if owner[-1] not in parts:
        return 0
    end = len(parts) - parts[::-1].index(owner[-1])
    same = 0
    for part, name in zip(parts[:end][::-1], owner[::-1], strict=False):
        if part != name:
            break
        same += 1
    return same


class _SlotWeights:
    """``layers/<slot>/vars/<number>``; Keras 2.12 used another outer name, and ``\\`` on Windows."""

    def __init__(self, store: Hdf5) -> None:
        self._store = store

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        for outer in ("layers", "_layer_checkpoint_dependencies"):
            for separator in ("/", "\\"):
                steps = [step for ref in path for step in ((ref.slot,) if ref.attribute else (outer, ref.slot))]
                group = separator.join(steps)
                if self._store.is_group(f"{group}/vars"):
                    return self._vars(f"{group}/vars")
        return []

    def parts(self, path: tuple[Ref, ...], counts: Mapping[str, int]) -> list[list[Array]]:
        result = []
        for attributes in counts:
            steps = attributes.split("/")
            public, private = (
                self.of((*path, *(Ref("", mark + step, attribute=True) for step in steps))) for mark in ("", "_")
            )
            result.append(public or private)  # Keras 2 put a "_" before the parts of its attention layers
        return result

    def _vars(self, group: str) -> list[Array]:
        arrays: list[Array] = []
        while len(arrays) < MAX_MEMBERS and self._store.is_floats(f"{group}/{len(arrays)}"):
            array = self._store.array(f"{group}/{len(arrays)}")
            assert array is not None
            arrays.append(array)
        return arrays
