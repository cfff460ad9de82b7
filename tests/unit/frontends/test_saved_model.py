"""SavedModel folders: what is refused before TensorFlow sees it, and what its converter makes of the rest."""

from __future__ import annotations

import contextlib
import os

import numpy as np
import pytest

import tinydeploy as td
from tests.conftest import need_module, need_shared
from tinydeploy.errors import InputError, ToolError, UnsupportedError, UsageError
from tinydeploy.frontends import _saved_model_scan, load


def field(number: int, content: bytes | str) -> bytes:
    """A length-delimited protobuf field."""
    data = content.encode() if isinstance(content, str) else content
    head = bytearray([number << 3 | 2])
    size = len(data)
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes(head) + bytes([size]) + data


def node(op: str, name: str = "n") -> bytes:
    return field(1, name) + field(2, op)


def saved_model(nodes=(), functions=(), signatures=("serving_default",)) -> bytes:
    """saved_model.pb of ``nodes``, and of functions (name, nodes)."""
    library = b"".join(
        field(1, field(1, field(1, name)) + b"".join(field(3, each) for each in inside)) for name, inside in functions
    )
    graph = b"".join(field(1, each) for each in nodes) + field(2, library)
    entries = b"".join(field(5, field(1, name) + field(2, b"")) for name in signatures)
    return b"\x08\x01" + field(2, field(2, graph) + entries)


def folder(tmp_path, data: bytes):
    (tmp_path / "saved_model.pb").write_bytes(data)
    return tmp_path


@pytest.mark.parametrize(
    "op",
    ["PyFunc", "EagerPyFunc", "ReadFile", "WriteFile", "MatchingFiles", "TFRecordDataset", "DebugIdentity", "PrintV2"],
)
@pytest.mark.parametrize("inside", [False, True])
def test_operators_that_do_more_than_compute_are_named(tmp_path, op, inside) -> None:
    data = saved_model([], [("f", [node(op)])]) if inside else saved_model([node("MatMul"), node(op)])
    with pytest.raises(UnsupportedError, match=f"holds the operator {op}"):
        load(folder(tmp_path, data))


@pytest.mark.parametrize(("place", "refused"), [("save/SaveV2", False), ("evil/SaveV2", True)])
def test_saving_is_let_through_in_its_own_place_only(tmp_path, place, refused) -> None:
    data = saved_model([node("SaveV2", place)], [("__inference__traced_save_12", [node("MergeV2Checkpoints")])])
    if refused:
        with pytest.raises(UnsupportedError, match="SaveV2"):
            _saved_model_scan.check(folder(tmp_path, data), data)
    else:
        _saved_model_scan.check(folder(tmp_path, data), data)


def test_damaged_files(tmp_path) -> None:
    data = saved_model([node("MatMul")], [("f", [node("Relu")])])
    for cut in range(1, len(data)):
        piece = data[:cut]
        with contextlib.suppress(InputError):
            _saved_model_scan.check(folder(tmp_path, piece), piece)


def test_links_out_of_the_folder(tmp_path) -> None:
    inner = tmp_path / "model"
    (inner / "variables").mkdir(parents=True)
    folder(inner, saved_model())
    os.symlink("/etc/hostname", inner / "variables" / "variables.index")
    with pytest.raises(InputError, match="is a link"):
        load(inner)


def test_signatures_are_listed(tmp_path) -> None:
    data = saved_model(signatures=("one", "two", "__saved_model_init_op"))
    with pytest.raises(InputError, match="its signatures are one, two"):
        load(folder(tmp_path, data))


def test_without_tensorflow_it_says_how_to_get_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tensorflow", None)
    with pytest.raises(ToolError, match="pip install"):
        load(folder(tmp_path, saved_model()))


def test_a_signature_of_another_format(tmp_path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(b"x")
    with pytest.raises(UsageError, match="signature"):
        load(path, signature="serving_default")


@pytest.mark.slow
def test_equals_the_same_training_run_as_tflite() -> None:
    need_module("tensorflow")
    models = need_shared("models/mlperf_tiny")
    ours, other = td.load(models / "kws_saved_model"), td.load(models / "kws_float.tflite")
    x = np.random.default_rng(0).normal(size=(2, 1, 49, 10, 1)).astype("f4")
    (a,), (b,) = ours.run_float(x).values(), other.run_float(x).values()
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_exported_by_keras_3(tmp_path) -> None:
    need_module("keras", "tensorflow")
    import keras

    model = keras.Sequential(
        [keras.Input((5, 4)), keras.layers.Conv1D(3, 2, activation="relu"), keras.layers.Flatten()]
    )
    model.export(str(tmp_path / "exported"), verbose=False)
    x = np.random.default_rng(0).normal(size=(2, 1, 5, 4)).astype("f4")
    (ours,) = td.load(tmp_path / "exported").run_float(x).values()
    theirs = np.stack([np.asarray(model(sample)) for sample in x])
    np.testing.assert_allclose(ours.reshape(theirs.shape), theirs, rtol=1e-5, atol=1e-6)
