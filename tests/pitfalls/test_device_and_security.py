"""Lines of "Device differs from desktop" and "Security of model files" in ../shared/PITFALLS.md."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import need_module, need_tool
from tests.pitfalls.whole import agreed, in_c, normal
from tests.unit.frontends import onnx_build
from tests.unit.frontends.tflite_build import TfliteModel, small_cnn
from tinydeploy import pipeline
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.validation import check

RNG = np.random.default_rng(3)
BOARDS = ["microbit", "mps2-an385", "mps2-an386", "mps3-an547"]  # v6-M, v7-M, v7E-M, v8.1-M with vectors


def _on_board(path: Path, folder: Path, board: str) -> dict:
    from tinydeploy.target.board import load_board

    graph = agreed(path)
    options = pipeline.ConvertOptions(check=False, name="model", cpu=load_board(board).cpu.name)
    pipeline.compile_graph(graph, graph, options, None).write(folder / "project")
    opened = pipeline.open_folder(folder / "project")
    samples = check.prepare(opened.quantised, check.random_samples(opened.quantised, 2), None)
    return pipeline.validate(opened, board, samples, profile=False, per_layer=True)


def _temporal_network() -> tuple[TfliteModel, int, int]:
    """Two dilated 1-D convolutions, a sum around them, a mean and a dense layer, all int8."""
    model = TfliteModel()
    x = model.tensor([1, 1, 24, 4], "int8", scale=0.05, zero=3)
    last, kind = x, {"padding": "SAME", "stride_w": 1, "stride_h": 1, "activation": "RELU"}
    for dilation in (1, 2):
        w = model.constant(RNG.integers(-127, 128, (4, 1, 3, 4), np.int8), scale=[0.01, 0.02, 0.004, 0.03])
        b = model.constant(RNG.integers(-99, 99, 4).astype(np.int32), scale=1e-3)
        y = model.tensor([1, 1, 24, 4], "int8", scale=0.06, zero=-128)
        model.op("CONV_2D", [last, w, b], [y], dilation_w=dilation, dilation_h=1, version=3, **kind)
        last = y
    total = model.tensor([1, 1, 24, 4], "int8", scale=0.08, zero=-60)
    model.op("ADD", [x, last], [total])
    flat, axes = model.tensor([1, 4], "int8", scale=0.05, zero=-30), model.constant(np.asarray([1, 2], np.int32))
    model.op("MEAN", [total, axes], [flat])
    w = model.constant(RNG.integers(-127, 128, (3, 4), np.int8), scale=0.02)
    y = model.tensor([1, 3], "int8", scale=0.05, zero=4)
    model.op("FULLY_CONNECTED", [flat, w, -1], [y])
    return model, x, y


@pytest.mark.parametrize("board", BOARDS)
def test_tflm_960_and_stm32_752775_the_device_gives_the_reference_kernels_bits(tmp_path, board) -> None:
    """The import equals LiteRT's reference kernels, the twin the import, and the board the twin, layer by layer."""
    need_module("flatbuffers", "ai_edge_litert")
    need_tool("arm-none-eabi-gcc", "qemu-system-arm")
    model, x, y = _temporal_network()
    result = _on_board(model.save(tmp_path, [x], [y]), tmp_path, board)
    assert result["bit_exact"]
    assert result["first_differing_node"] is None
    assert len(result["per_layer"]) == 5


@pytest.mark.parametrize("depth", [1, 3])
def test_executorch_13399_weights_that_are_computed_before_a_linear_layer(tmp_path, depth) -> None:
    from onnx import helper

    nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w0"])]
    nodes += [helper.make_node("Mul", [f"w{i}", "s"], [f"w{i + 1}"]) for i in range(depth - 1)]
    nodes += [helper.make_node("Add", [f"w{depth - 1}", "v"], ["w"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    constants = {"q": RNG.integers(-99, 99, (4, 3), np.int8), "s": np.float32(0.1), "z": np.int8(3)}
    proto = onnx_build.model(nodes, {"x": (2, 4), "v": (4, 3)}, ["y"], constants)
    graph = agreed(onnx_build.save(proto, tmp_path))
    in_c(graph, tmp_path)
    in_c(graph, tmp_path / "int8", "int8", {"x": normal(20, 2, 4), "v": normal(20, 4, 3, seed=1)})


@pytest.mark.parametrize("index", [1, 2**31 - 1, 2**32 - 1, 10**6])
def test_tflm_3389_buffer_index_out_of_bounds(tmp_path, index) -> None:
    model = TfliteModel()
    x, w, y = model.tensor([1, 3]), model.constant(normal(2, 3)), model.tensor([1, 2])
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    data = bytearray(model.to_bytes([x], [y]))
    found = 0
    for place in range(0, len(data) - 4, 4):  # every word that could be a buffer's number
        if struct.unpack_from("<I", data, place)[0] in (1, 2, 3):
            bad = bytearray(data)
            struct.pack_into("<I", bad, place, index)
            (tmp_path / "m.tflite").write_bytes(bytes(bad))
            try:
                pipeline.load(tmp_path / "m.tflite")
            except (InputError, UnsupportedError):
                found += 1
    assert found


@pytest.mark.parametrize("shape", [[65536, 65536], [2**31 - 1] * 4, [1, -5], [0, 3], [46341, 46341, 2]])
def test_tflm_3071_products_of_dimensions(tmp_path, shape) -> None:
    model = TfliteModel()
    x, y = model.tensor(shape), model.tensor(shape)
    model.op("TANH", [x], [y])
    with pytest.raises((InputError, UnsupportedError)):
        pipeline.load(model.save(tmp_path, [x], [y]))


@pytest.mark.parametrize("kind", ["constant", "reshape", "tile"])
def test_tflm_3761_element_counts_that_overflow(tmp_path, kind) -> None:
    model = TfliteModel()
    x = model.tensor([1, 16])
    if kind == "constant":
        w = model.tensor([2**20, 2**20], "int8", raw=b"\1\2\3\4")
        y = model.tensor([1, 2**20])
        model.op("FULLY_CONNECTED", [x, w, -1], [y])
    elif kind == "reshape":
        y = model.tensor([1, 16])
        model.op("RESHAPE", [x, model.constant(np.asarray([2**16, 2**16, 2**16], np.int32))], [y])
    else:
        y = model.tensor([1, 16])
        model.op("TILE", [x, model.constant(np.asarray([2**30, 2**30], np.int32))], [y])
    with pytest.raises((InputError, UnsupportedError)):
        pipeline.load(model.save(tmp_path, [x], [y]))


@pytest.mark.parametrize("content", [b"\x08\0\0\0TFL3", b"\x1c\0\0\0TFL3", b"\xff\xff\xff\xffTFL3", b"TFL3TFL3"])
def test_tf_115308_files_of_8_bytes(tmp_path, content) -> None:
    (tmp_path / "m.tflite").write_bytes(content)
    with pytest.raises(InputError):
        pipeline.load(tmp_path / "m.tflite")


@pytest.mark.parametrize("rank", [7, 9, 1000, 100_000])
def test_tf_124982_reshape_to_many_dimensions(tmp_path, rank) -> None:
    model = TfliteModel()
    x, y = model.tensor([1, 16]), model.tensor([1, 16])
    model.op("RESHAPE", [x, model.constant(np.ones(rank, np.int32))], [y])
    with pytest.raises((InputError, UnsupportedError)):
        pipeline.load(model.save(tmp_path, [x], [y]))


NAMES = [
    'quo"te', "back\\slash", "new\nline", "*/ int x; /*", "../../etc/passwd", "\U0001f600", "int", "while",
    "a" * 100_000, "", "%s%n", "$(touch x)", "-o", "??/", "main", "td_expf", "__COUNTER__",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["tflite", "onnx"])
def test_names_of_a_file_never_reach_c_or_a_path_unmangled(tmp_path, kind) -> None:
    if kind == "tflite":
        model = TfliteModel()
        tensors = [model.tensor([1, 4], name=name) for name in [*NAMES, *NAMES]]
        for a, b in itertools.pairwise(tensors):
            model.op("TANH", [a], [b])
        path = model.save(tmp_path, [tensors[0]], [tensors[-1]])
    else:
        from onnx import helper

        names = list(dict.fromkeys(name for name in NAMES if name))
        nodes = [helper.make_node("Tanh", [a], [b], name=b) for a, b in itertools.pairwise(names)]
        path = onnx_build.save(onnx_build.model(nodes, {names[0]: (1, 4)}, [names[-1]]), tmp_path)
    graph = agreed(path, runtime=False)
    in_c(graph, tmp_path)
    outside = [p for p in tmp_path.rglob("*") if "passwd" in p.name]
    assert not outside


def test_names_with_nul_are_refused(tmp_path) -> None:
    model = TfliteModel()
    x, y = model.tensor([1, 4], name="nul\0byte"), model.tensor([1, 4])
    model.op("TANH", [x], [y])
    with pytest.raises(InputError, match="NUL"):
        in_c(agreed(model.save(tmp_path, [x], [y]), runtime=False), tmp_path)


def test_a_model_twice_is_the_same_bytes(tmp_path) -> None:
    model = small_cnn(quantised=True)
    path = model.save(tmp_path, [0], [len(model.tensors) - 1])
    folders = []
    for name in ("a", "b"):
        graph = pipeline.optimise(pipeline.load(path))
        pipeline.compile_graph(graph, graph, pipeline.ConvertOptions(name="m"), None).write(tmp_path / name)
        folders.append({p.name: p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()})
    assert folders[0] == folders[1]
