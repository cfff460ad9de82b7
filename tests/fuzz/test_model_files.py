"""Damaged model files: an error that says so, never a crash, a hang or a run on the memory."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import need_module, need_shared
from tests.unit.frontends import keras_build
from tests.unit.frontends.tflite_build import TfliteModel, small_cnn
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load

ROUNDS = 150
MAX_SECONDS = 5.0
MAX_BYTES = 64 << 20
WORDS = [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\0\0", b"\0\0\1\0", b"\xff" * 8]


def tflite_file(folder: Path) -> Path:
    model = small_cnn(quantised=True)
    return model.save(folder, [0], [len(model.tensors) - 1])


def h5_file(folder: Path) -> Path:
    return keras_build.save_h5(folder, *keras_build.dense_model())


def packed_h5_file(folder: Path) -> Path:
    return keras_build.save_h5(folder, *keras_build.dense_model(), compression="gzip", shuffle=True)


def keras_file(folder: Path) -> Path:
    config, weights = keras_build.dense_model()
    return keras_build.save_keras(folder, config, keras_build.by_slot(config, weights))


def onnx_file(folder: Path) -> Path:
    need_module("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(0).normal(size=(3, 2, 3, 3)).astype("f4")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Flatten", ["b"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 2, 6, 6]), ("y", [1, 27]))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(weights, "w")])
    path = folder / "model.onnx"
    opset = helper.make_opsetid("", 17)
    path.write_bytes(helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString())
    return path


MAKERS = [tflite_file, h5_file, packed_h5_file, keras_file, onnx_file]


def damage(data: bytes, rng: random.Random) -> bytes:
    """One of: cut short, bits flipped, bytes replaced, a word replaced, a run of noise."""
    mode, bad = rng.randrange(5), bytearray(data)
    if mode == 0:
        return data[: rng.randrange(len(data))]
    if mode == 1:
        for _ in range(rng.choice([1, 2, 8, 64])):
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
    elif mode == 2:
        for _ in range(rng.choice([1, 4, 16])):
            bad[rng.randrange(len(bad))] = rng.choice([0, 1, 127, 128, 255])
    elif mode == 3:
        word, start = rng.choice(WORDS), rng.randrange(len(bad))
        bad[start : start + len(word)] = word
    else:
        start = rng.randrange(len(bad))
        bad[start : start + 32] = rng.randbytes(min(32, len(bad) - start))
    return bytes(bad)


def try_load(path: Path) -> None:
    """Load; only errors that blame the file are allowed, in little time and memory."""
    start = time.monotonic()
    tracemalloc.reset_peak()
    with contextlib.suppress(InputError, UnsupportedError):
        load(path)
    assert time.monotonic() - start < MAX_SECONDS
    assert tracemalloc.get_traced_memory()[1] < MAX_BYTES


@pytest.fixture(autouse=True)
def traced():
    tracemalloc.start(1)
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("make", MAKERS)
def test_damaged_files(tmp_path, make) -> None:
    source = make(tmp_path)
    data = source.read_bytes()
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        source.write_bytes(damage(data, rng))
        try:
            try_load(source)
        except BaseException:
            print(f"seed {seed}")
            raise


@pytest.mark.parametrize("make", MAKERS)
def test_every_truncation_is_an_input_error(tmp_path, make) -> None:
    source = make(tmp_path)
    data = source.read_bytes()
    for length in {1, 2, 4, 7, 8, 16, 32, 64, 100, *range(0, len(data) - 1, max(1, len(data) // 60))}:
        source.write_bytes(data[:length])
        if make is onnx_file:  # protobuf has no end mark: a prefix may be a whole, smaller model
            try_load(source)
            continue
        with pytest.raises(InputError):
            load(source)


@pytest.mark.parametrize("suffix", [".tflite", ".h5", ".keras", ".onnx"])
@pytest.mark.parametrize("head", [b"", b"\x1c\0\0\0TFL3", b"\x89HDF\r\n\x1a\n", b"PK\3\4", b"\x08\x08"])
def test_noise(tmp_path, suffix, head) -> None:
    path = tmp_path / f"noise{suffix}"
    for seed in range(30):
        rng = random.Random(seed)
        path.write_bytes(head + rng.randbytes(rng.choice([1, 30, 300, 3000])))
        with pytest.raises((InputError, UnsupportedError)):
            load(path)


VALUES: list[Any] = [
    *(
        None,
        0,
        -1,
        1,
        2.5,
        1e30,
        10**30,
        "",
        "x",
        "same",
        [],
        {},
        [1, 2],
        [[1, 2], [3, 4]],
        True,
        False,
        [None],
        "relu",
    ),
    *(2**31, "channels_first", ["x", 0, 0], [["x", 0, 0]], {"class_name": "ReLU", "config": {}}, {"config": None}),
]


def _spots(item: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    for key in item if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ():
        found.append((item, key))
        _spots(item[key], found)
    return found


@pytest.mark.parametrize("modern", [False, True])
def test_damaged_configurations(tmp_path, modern) -> None:
    """JSON that parses but means nothing: values replaced, removed, or taken from elsewhere."""
    rng = np.random.default_rng(0)
    names = ["x", "c", "b", "p", "f", "d"]
    kinds = ["InputLayer", "Conv2D", "BatchNormalization", "MaxPooling2D", "Flatten", "Dense"]
    extra: list[dict[str, Any]] = [
        {"batch_shape": [None, 6, 6, 2], "dtype": "float32"},
        {
            "kernel_size": [3, 3],
            "strides": [1, 1],
            "padding": "same",
            "activation": "relu",
            "data_format": "channels_last",
        },
        {"axis": [3], "epsilon": 0.001, "scale": True, "center": True},
        {"pool_size": [2, 2], "strides": None, "padding": "valid"},
        {},
        {"units": 3, "activation": {"class_name": "function", "config": "softmax"}},
    ]
    layers = [
        keras_build.layer(kind, name, names[i - 1 : i] if i else [], modern=modern, **extra[i])
        for i, (kind, name) in enumerate(zip(kinds, names, strict=True))
    ]
    config = keras_build.functional(layers, ["x"], ["d"])
    shapes = {"c": [(3, 3, 2, 4), (4,)], "b": [(4,)] * 4, "d": [(36, 3), (3,)]}
    weights = {n: {str(i): rng.normal(size=s).astype("f4") for i, s in enumerate(v)} for n, v in shapes.items()}
    path = keras_build.save_keras(tmp_path, config, keras_build.by_slot(config, weights))
    load(path)
    content = zipfile.ZipFile(path).read("model.weights.h5")
    for seed in range(ROUNDS):
        dice, bad = random.Random(seed), copy.deepcopy(config)
        for _ in range(dice.choice([1, 1, 2, 4])):
            spots = _spots(bad, [])
            item, key = dice.choice(spots)
            if dice.randrange(3) == 0 and isinstance(item, dict):
                del item[key]
            else:
                other = dice.choice(spots)
                item[key] = copy.deepcopy(
                    dice.choice([dice.choice(VALUES), other[0].get(other[1]) if isinstance(other[0], dict) else None])
                )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json", json.dumps(bad))
            archive.writestr("model.weights.h5", content)
        try:
            try_load(path)
        except BaseException:
            print(f"seed {seed}")
            raise


@pytest.mark.parametrize("depth", [10_000, 1_000_000])
def test_deeply_nested_json(tmp_path, depth) -> None:
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "[" * depth + "]" * depth)
        archive.writestr("model.weights.h5", b"")
    with pytest.raises(InputError):
        load(path)


def test_overlapping_parts_do_not_multiply_the_work(tmp_path) -> None:
    """A vector of 30,000 tensors that all are the one tensor with a name of 100 kB."""
    model = TfliteModel()
    model.op("TANH", [model.tensor([1, 4], name="n" * 100_000)], [model.tensor([1, 4])])
    data = bytearray(model.to_bytes([0], [1]))
    root = struct.unpack_from("<I", data, 0)[0]

    def field(table: int, number: int) -> int:
        vtable = table - struct.unpack_from("<i", data, table)[0]
        return table + struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0]

    def follow(position: int) -> int:
        return position + struct.unpack_from("<I", data, position)[0]

    subgraph = follow(follow(field(root, 2)) + 4)
    tensors = follow(field(subgraph, 0))
    first = follow(tensors + 4)
    count = 30_000
    start = len(data)
    data += struct.pack("<I", count)
    for index in range(count):
        data += struct.pack("<I", (first - (start + 4 + 4 * index)) & 0xFFFFFFFF)
    struct.pack_into("<I", data, field(subgraph, 0), start - field(subgraph, 0))
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(data))
    try_load(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlperf_tiny/ad_int8.tflite", "mlperf_tiny/kws.keras", "tinymaix/mnist_dw.h5"])
def test_damaged_real_models(tmp_path, name) -> None:
    source = need_shared("models", *name.split("/"))
    data, path = source.read_bytes(), tmp_path / f"m{source.suffix}"
    for seed in range(60):
        path.write_bytes(damage(data, random.Random(seed)))
        try_load(path)
