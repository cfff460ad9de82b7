"""How TFLite files store tensors: packed, sparse, as brain floats, behind the file; and damaged forms of each."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.frontends.tflite_build import TfliteModel
from tests.unit.frontends.tflite_models import pack, sparse_model
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends import load
from tinydeploy.frontends.tflite_model import Model
from tinydeploy.ir import Elem
from tinydeploy.validation.oracle import check_against


def read(model: TfliteModel, index: int):
    return Model(model.to_bytes([], []), "x").subgraph().tensor(index)


@pytest.mark.parametrize(("elem", "bits", "low", "high"), [("INT4", 4, -8, 7), ("INT2", 2, -2, 1), ("UINT4", 4, 0, 15)])
@pytest.mark.parametrize("shape", [(3, 5), (1,), (2, 2), ()])
def test_packed_constants(elem, bits, low, high, shape) -> None:
    values = np.random.default_rng(0).integers(low, high + 1, shape)
    model = TfliteModel()
    index = model.tensor(list(shape), elem, raw=pack(values, bits), scale=0.5)
    tensor = read(model, index)
    assert tensor.type.elem is Elem.S8
    np.testing.assert_array_equal(tensor.data, values)


def test_packed_constant_of_a_wrong_size_and_a_computed_one() -> None:
    model = TfliteModel()
    index = model.tensor([3], "INT4", raw=b"\1", scale=0.5)
    with pytest.raises(InputError, match="has 1 bytes"):
        read(model, index)
    index = model.tensor([3], "INT4", scale=0.5)
    with pytest.raises(UnsupportedError, match="computed as INT4"):
        read(model, index)


@pytest.mark.parametrize("quantised", [False, True])
def test_int4_weights_equal_litert(tmp_path, quantised) -> None:
    rng = np.random.default_rng(3)
    model = TfliteModel()
    scale = {"scale": 0.05, "zero": 4} if quantised else {}
    elem = "int8" if quantised else "float32"
    x = model.tensor([1, 7], elem, **scale)
    weights = rng.integers(-8, 8, (3, 7))
    w = model.tensor([3, 7], "INT4", raw=pack(weights, 4), scale=0.25)
    y = model.tensor([1, 3], elem, **({"scale": 0.1, "zero": -3} if quantised else {}))
    model.op("FULLY_CONNECTED", [x, w, -1], [y], activation="NONE")
    path = model.save(tmp_path, [x], [y])
    graph = load(path)
    assert check_against(path, graph), graph.warnings


def test_brain_floats() -> None:
    values = np.array([1.0, -2.5, 0.15625], np.float32)
    model = TfliteModel()
    index = model.tensor([3], "BFLOAT16", raw=(values.view(np.uint32) >> 16).astype("<u2").tobytes())
    tensor = read(model, index)
    assert tensor.type.elem is Elem.F32
    np.testing.assert_array_equal(tensor.data, values)


DENSE = np.array([[1, 0, 0, 2], [0, 0, 0, 0], [0, 3, 4, 0]], np.float32)
LAYOUTS = {
    "csr": (([0, 1], [], [3, ([0, 2, 2, 4], [0, 3, 1, 2])]), [1, 2, 3, 4]),
    "csc": (([1, 0], [], [4, ([0, 1, 2, 3, 4], [0, 2, 2, 0])]), [1, 3, 4, 2]),
    "both": (([0, 1], [], [([0, 2], [0, 2]), ([0, 2, 4], [0, 3, 1, 2])]), [1, 2, 3, 4]),
    "blocks": (([0, 1, 2], [1], [3, ([0, 2, 2, 4], [0, 1, 0, 1]), 2]), [1, 0, 0, 2, 0, 3, 4, 0]),
    "dense": (([1, 0], [], [4, 3]), DENSE.T.ravel()),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_sparse_constants(tmp_path, name) -> None:
    model, y = sparse_model(*LAYOUTS[name])
    np.testing.assert_array_equal(read(model, 1).data, DENSE)
    path = model.save(tmp_path, [0], [y])
    graph = load(path)
    assert [node.op.name for node in graph.nodes] == ["fully_connected"]
    if name != "dense":  # LiteRT wants a compressed dimension
        assert check_against(path, graph), graph.warnings


@pytest.mark.parametrize(
    ("layout", "values"),
    [
        (([0, 1], [], [3]), [1]),
        (([0, 0], [], [3, 4]), [1]),
        (([0, 1, 2], [7], [3, 4, 2]), [1]),
        (([0, 1, 2], [1], [3, 4, 3]), [1]),
        (([0, 1], [], [3, ([0, 2, 2], [0, 3])]), [1, 2]),
        (([0, 1], [], [3, ([0, 2, 1, 4], [0, 3, 1, 2])]), [1, 2, 3, 4]),
        (([0, 1], [], [3, ([0, 2, 2, 4], [0, 4, 1, 2])]), [1, 2, 3, 4]),
        (([0, 1], [], [3, ([0, 2, 2, 4], [0, -1, 1, 2])]), [1, 2, 3, 4]),
        (([0, 1], [], [3, ([0, 2, 2, 4], [0, 3, 1, 2])]), [1, 2, 3]),
        (([0, 1], [], [2, ([0, 2, 4], [0, 3, 1, 2])]), [1, 2, 3, 4]),
    ],
)
def test_damaged_sparse_constants(layout, values) -> None:
    model, _ = sparse_model(layout, values)
    with pytest.raises(InputError):
        read(model, 1)


@pytest.mark.parametrize("bits", [8, 4])
def test_fake_quant(tmp_path, bits) -> None:
    model = TfliteModel()
    x, y = model.tensor([1, 50]), model.tensor([1, 50])
    model.op("FAKE_QUANT", [x], [y], min=-1.3, max=2.1, num_bits=bits)
    path = model.save(tmp_path, [x], [y])
    graph = load(path)
    assert check_against(path, graph), graph.warnings
