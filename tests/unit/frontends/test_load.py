"""`frontends.load`: what is refused before any frontend looks, and the default name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.unit.frontends.tflite_build import TfliteModel, small_cnn
from tinydeploy.errors import InputError
from tinydeploy.frontends import frontends, load
from tinydeploy.frontends._common import model_name, same_padding


def test_frontends_are_found_by_folder() -> None:
    assert {".tflite", ".h5", ".keras", ".onnx"} <= set(frontends())


def test_source_and_name(tmp_path) -> None:
    model = small_cnn()
    path = model.save(tmp_path, [0], [len(model.tensors) - 1], name="my-net v2.tflite")
    graph = load(str(path))
    assert graph.name == "my_net_v2"
    assert graph.source is not None
    assert (graph.source.file, graph.source.format) == ("my-net v2.tflite", "tflite")
    assert graph.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("kws.onnx", "kws"),
        ("2fast.onnx", "model_2fast"),
        ("int.h5", "int_model"),
        ("class.h5", "class_model"),
        ("__x__.h5", "x"),
        ("größe.h5", "gr_e"),
        ("模型.h5", "model"),
        ("a.b.c.tflite", "a_b_c"),
    ],
)
def test_model_name_is_a_c_identifier(file, name) -> None:
    assert model_name(Path(file)) == name


@pytest.mark.parametrize("suffix", [".tflite", ".h5", ".keras", ".onnx"])
def test_files_that_hold_something_else(tmp_path, suffix) -> None:
    path = tmp_path / f"m{suffix}"
    with pytest.raises(InputError, match="does not exist"):
        load(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        load(path)
    path.write_text("# just some text, with nothing of a model in it\n" * 10)
    with pytest.raises(InputError):
        load(path)
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match="folder"):
        load(folder)


def test_unknown_suffix_names_the_known_ones(tmp_path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match=r"\.onnx .*\.tflite"):
        load(path)


def test_truncated_tflite(tmp_path) -> None:
    model = TfliteModel()
    model.op("TANH", [model.tensor([1, 4])], [model.tensor([1, 4])])
    data = model.to_bytes([0], [1])
    path = tmp_path / "m.tflite"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="damaged file"):
        load(path)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "pads"),
    [(5, 3, 1, 1, (1, 1)), (6, 3, 2, 1, (0, 1)), (5, 3, 2, 1, (1, 1)), (4, 1, 3, 1, (0, 0)), (8, 3, 1, 2, (2, 2))],
)
def test_same_padding(size, kernel, stride, dilation, pads) -> None:
    assert same_padding(size, kernel, stride, dilation) == pads
