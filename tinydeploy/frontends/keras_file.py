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
_OWN_PACKAGES = ("keras", "tf_keras", "keras_core", "tensorflow.keras", "builtins")


def is_own_module(module: str) -> bool:
    """True if a module that a file names belongs to Keras: Keras itself imports whatever the file says."""
    return any(module == package or module.startswith(f"{package}.") for package in _OWN_PACKAGES)


@dataclasses.dataclass(frozen=True)
class Ref:
    """One step towards a layer: its name, and its slot (numbered class in snake_case) by which newer files store it."""

    name: str
    slot: str


class Weights(Protocol):
    """The weights of a file."""

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        """The float32 weights of the layer at ``path`` (models within models), in Keras' own order.

        Raises: InputError if they are missing or not numbers.
        """


@dataclasses.dataclass(frozen=True)
class KerasFile:
    """The model's configuration as parsed JSON, and its weights."""

    config: dict[str, Any]
    weights: Weights


def slot_stem(class_name: str) -> str:
    """A class name in Keras' snake_case: "DepthwiseConv2D" is "depthwise_conv2d". Source: keras.utils.naming."""
    text = re.sub(r"\W+", "", class_name)
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
    return KerasFile(_parse(text[0], where), _LegacyWeights(store))


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
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InputError(Problem(where, f"damaged archive: {error}", hint="download or save it again")) from None
    return KerasFile(config, _SlotWeights(Hdf5(weights, f"{where}: model.weights.h5")))


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
        group = f"model_weights/{path[0].name}"
        names = self._names(group)
        if len(path) > 1:
            # A nested model's arrays are all in its own group; the last part but one is the layer that owns them.
            names = [name for name in names if name.split("/")[-2:-1] == [path[-1].name]]
        return [self._read(f"{group}/{name}") for name in names]

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


class _SlotWeights:
    """``layers/<slot>/vars/<number>``; Keras 2.12 used another outer name, and ``\\`` on Windows."""

    def __init__(self, store: Hdf5) -> None:
        self._store = store

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        for outer in ("layers", "_layer_checkpoint_dependencies"):
            for separator in ("/", "\\"):
                group = separator.join(part for ref in path for part in (outer, ref.slot))
                if self._store.is_group(f"{group}/vars"):
                    return self._vars(f"{group}/vars")
        return []

    def _vars(self, group: str) -> list[Array]:
        arrays: list[Array] = []
        while (array := self._store.array(f"{group}/{len(arrays)}")) is not None and len(arrays) < MAX_MEMBERS:
            arrays.append(array)
        return arrays
