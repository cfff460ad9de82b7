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

import numpy as np

from tinydeploy.errors import InputError, Problem, UnsupportedError
from tinydeploy.ir import Array

MAX_JSON_BYTES = 64 << 20
MAX_ARRAY_BYTES = 1 << 30
MAX_CHUNK_BYTES = 64 << 20
MAX_MEMBERS = 1000
MAX_INFLATION = 1100  # deflate cannot do better than about 1030 to 1
_HDF5 = b"\x89HDF\r\n\x1a\n"


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
    if data.startswith(_HDF5):
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
    store = H5Store(data, where)
    text = store.text_attribute("", "model_config")
    if text is None:
        if (
            store.is_group("layers")
            or store.is_group("_layer_checkpoint_dependencies")
            or store.names("", "layer_names")
        ):
            hint = "save the whole model: model.save('model.keras')"
            raise InputError(Problem(where, "holds weights only, without the model", hint=hint))
        raise InputError(Problem(where, "is HDF5 but no Keras model", "the attribute model_config describes the model"))
    return KerasFile(_parse(text, where), _LegacyWeights(store))


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
            weights = _member(archive, members["model.weights.h5"], MAX_ARRAY_BYTES, where)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InputError(Problem(where, f"damaged archive: {error}", hint="download or save it again")) from None
    return KerasFile(config, _SlotWeights(H5Store(weights, f"{where}: model.weights.h5")))


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


class H5Store:
    """An HDF5 file in memory. Links that leave the file are refused, and sizes are checked before anything is read."""

    def __init__(self, data: bytes, where: str) -> None:
        import h5py

        self._h5py = h5py
        self._where = where
        self._limit = min(MAX_ARRAY_BYTES, MAX_INFLATION * len(data))
        try:
            self._file = h5py.File(h5py.h5f.open_file_image(data))
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise InputError(Problem(where, f"damaged HDF5 file: {error}", hint="download or save it again")) from None

    def _damaged(self, path: str, error: object) -> InputError:
        return InputError(Problem(self._where, f"{path or 'root'}: cannot be read: {str(error)[:200]}"))

    def _object(self, path: str) -> Any:
        """The group or dataset at ``path``, or None."""
        node: Any = self._file
        try:
            for part in path.split("/") if path else ():
                if not isinstance(node, self._h5py.Group):
                    return None
                link = node.get(part, getlink=True)
                if link is None:
                    return None
                if not isinstance(link, self._h5py.HardLink):
                    raise UnsupportedError(
                        Problem(self._where, f"{path} is a link to somewhere else", "links are refused")
                    )
                node = node[part]
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
            raise self._damaged(path, error) from None
        return node

    def is_group(self, path: str) -> bool:
        """True if there is a group at ``path``."""
        return isinstance(self._object(path), self._h5py.Group)

    def _attribute(self, path: str, name: str) -> Any:
        node = self._object(path)
        try:
            if node is None or name not in node.attrs:
                return None
            handle = node.attrs.get_id(name)
            if handle.get_storage_size() > self._limit or int(np.prod(handle.shape or (1,))) > 1 << 16:
                raise self._damaged(path, f"attribute {name} is too large")
            return node.attrs[name]
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
            raise self._damaged(path, error) from None

    def text_attribute(self, path: str, name: str) -> str | bytes | None:
        """An attribute that is one string."""
        value = self._attribute(path, name)
        return value if isinstance(value, (str, bytes)) else None

    def names(self, path: str, name: str) -> list[str]:
        """An attribute that is a list of strings; long lists are spread over ``name0``, ``name1`` ..."""
        value = self._attribute(path, name)
        if value is None:
            parts: list[Array] = []
            while (part := self._attribute(path, f"{name}{len(parts)}")) is not None and len(parts) < MAX_MEMBERS:
                parts.append(np.asarray(part).ravel())
            items = [item for part in parts for item in part]
        else:
            items = list(np.asarray(value).ravel())
        return [item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in items]

    def array(self, path: str) -> Array | None:
        """A dataset of numbers as float32; None if there is none.

        Raises: InputError if it is too large, outside the file or not of a float type.
        """
        node = self._object(path)
        if not isinstance(node, self._h5py.Dataset):
            return None
        try:
            kind, shape = node.dtype, node.shape
            size = int(np.prod([int(d) for d in shape], dtype=object)) * kind.itemsize
            chunk = int(np.prod([int(d) for d in node.chunks or (1,)], dtype=object)) * kind.itemsize
            if kind.kind != "f" or node.is_virtual or node.external:
                raise self._damaged(path, f"it is {kind}, or stored outside the file")
            if size > self._limit or chunk > MAX_CHUNK_BYTES:
                raise self._damaged(path, f"it claims {size} bytes in pieces of {chunk}")
            return np.ascontiguousarray(node[()], dtype=np.float32)
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
            raise self._damaged(path, error) from None


class _LegacyWeights:
    """Group ``model_weights``: a group a top-level layer whose attribute ``weight_names`` lists its arrays in order."""

    def __init__(self, store: H5Store) -> None:
        self._store = store

    def of(self, path: tuple[Ref, ...]) -> list[Array]:
        group = f"model_weights/{path[0].name}"
        names = self._store.names(group, "weight_names")
        if len(path) > 1:
            # A nested model's arrays are all in its own group; the last part but one is the layer that owns them.
            names = [name for name in names if name.split("/")[-2:-1] == [path[-1].name]]
        return [self._read(f"{group}/{name}") for name in names]

    def _read(self, path: str) -> Array:
        array = self._store.array(path)
        if array is None:
            raise InputError(Problem("", f"the weights {path} are missing"))
        return array


class _SlotWeights:
    """``layers/<slot>/vars/<number>``; Keras 2.12 used another outer name, and ``\\`` on Windows."""

    def __init__(self, store: H5Store) -> None:
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
