"""Damaged model files: an error that says so, never a crash, a hang or a run on the memory."""

from __future__ import annotations

import contextlib
import random
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tests.conftest import need_shared
from tests.fuzz.corpus import SEEDS
from tests.fuzz.mutate import damage, of_bytes
from tests.fuzz.run import campaign
from tests.unit.frontends.tflite_build import TfliteModel
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load

ROUNDS = 150
MAX_SECONDS = 5.0
MAX_BYTES = 64 << 20


def try_load(path: Path) -> None:
    """Load; only errors that blame the file are allowed, in little time and memory."""
    start = time.monotonic()
    tracemalloc.start(1)
    try:
        with contextlib.suppress(InputError, UnsupportedError):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - start < MAX_SECONDS
    assert peak < MAX_BYTES


@pytest.mark.parametrize("suffix", sorted(SEEDS))
def test_damaged_files(tmp_path, suffix) -> None:
    seeds, path = SEEDS[suffix](), tmp_path / f"model{suffix}"
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        path.write_bytes(damage(suffix, rng.choice(seeds), rng))
        try:
            try_load(path)
        except BaseException:
            print(f"seed {seed}")
            raise


@pytest.mark.parametrize("suffix", sorted(SEEDS))
def test_short_campaign(suffix) -> None:
    """Beyond reading: what can be loaded is optimised and becomes C, in a process of its own with a watchdog."""
    tried, findings = campaign(suffix, seconds=60, start=10_000, tries=200)
    assert not findings, "\n".join(f"seed {seed}: {what}" for seed, what in findings)
    assert tried >= 200


@pytest.mark.parametrize(("suffix", "place"), [(".tflite", 1), (".h5", 0), (".h5", 1), (".keras", 0), (".onnx", 300)])
def test_every_truncation_is_an_input_error(tmp_path, suffix, place) -> None:
    data, path = SEEDS[suffix]()[place], tmp_path / f"model{suffix}"
    for length in {1, 2, 4, 7, 8, 16, 32, 64, 100, *range(0, len(data) - 1, max(1, len(data) // 60))}:
        path.write_bytes(data[:length])
        if suffix == ".onnx":  # protobuf has no end mark: a prefix may be a whole, smaller model
            try_load(path)
            continue
        with pytest.raises(InputError):
            load(path)


@pytest.mark.parametrize("suffix", [".tflite", ".h5", ".keras", ".onnx"])
@pytest.mark.parametrize("head", [b"", b"\x1c\0\0\0TFL3", b"\x89HDF\r\n\x1a\n", b"PK\3\4", b"\x08\x08"])
def test_noise(tmp_path, suffix, head) -> None:
    path = tmp_path / f"noise{suffix}"
    for seed in range(30):
        rng = random.Random(seed)
        path.write_bytes(head + rng.randbytes(rng.choice([1, 30, 300, 3000])))
        with pytest.raises((InputError, UnsupportedError)):
            load(path)


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
        path.write_bytes(of_bytes(data, random.Random(seed)))
        try_load(path)
