"""TFLite's functions of one and two elements read from files: the twin is LiteRT's kernel, int8 bit for bit."""

import numpy as np
import pytest

from tests.conformance.tflite_build import s8
from tests.conformance.tflite_raw import model, run
from tinydeploy import frontends
from tinydeploy.ir import Elem, Type
from tinydeploy.ops.execute import run_float, run_integer

EVERY = np.arange(-128, 128).astype(np.int8)[None]
PAIRS = (np.repeat(EVERY[0], 256)[None], np.tile(EVERY[0], 256)[None])
ONLY_OPTIMISED = ("ELU", "CEIL", "ROUND")
TABLES = {"EXP": {}, "LOG": {}, "SQRT": {}, "RSQRT": {}, "ABS": {}, "HARD_SWISH": {}, "ELU": {}}
TABLES |= {"GELU": {"approximate": False}, "LEAKY_RELU": {"alpha": 0.3}}
COMPARISONS = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]


def quant(rng, low=0.003, high=0.3):
    return float(np.exp(rng.uniform(np.log(low), np.log(high)))), int(rng.integers(-128, 128))


def read(tmp_path, data):
    path = tmp_path / "one.tflite"
    path.write_bytes(data)
    return frontends.load(path, input_shapes={})


def integers(tmp_path, data, *arrays):
    graph = read(tmp_path, data)
    feeds = {name: array[None] for name, array in zip(graph.inputs, arrays, strict=True)}
    return run_integer(graph, feeds)[graph.outputs[0]][0]


@pytest.mark.parametrize("kind", TABLES)
def test_int8_of_one(tmp_path, kind):
    rng = np.random.default_rng(len(kind))
    for _ in range(12):
        scale, zero_point = quant(rng)
        if kind in ("LOG", "SQRT", "RSQRT"):
            zero_point = -128
        data = model(kind, [s8((1, 256), scale, zero_point)], [s8((1, 256), *quant(rng))], TABLES[kind])
        want = run(data, EVERY, optimised=kind in ONLY_OPTIMISED)
        np.testing.assert_array_equal(integers(tmp_path, data, EVERY), want)


@pytest.mark.parametrize("kind", ["PRELU", "SQUARED_DIFFERENCE", *COMPARISONS])
def test_int8_of_two(tmp_path, kind):
    rng = np.random.default_rng(len(kind))
    for _ in range(3):
        kinds = [s8((1, 65536), *quant(rng, 0.01)) for _ in range(3)]
        result = Type((1, 65536), Elem.BOOL) if kind in COMPARISONS else kinds[2]
        data = model(kind, kinds[:2], [result])
        np.testing.assert_array_equal(integers(tmp_path, data, *PAIRS), run(data, *PAIRS))


def test_int8_quotients(tmp_path):
    """Where LiteRT neither refuses (division by 0) nor shifts by more bits than a register has."""
    rng = np.random.default_rng(1)
    for _ in range(4):
        divisor = quant(rng, 0.02)
        keep = (PAIRS[1][0] != divisor[1]) & (np.abs(PAIRS[0][0].astype(int) + 7) >= 32)
        a, b = (x[:, keep] for x in PAIRS)
        data = model("DIV", [s8(a.shape, 0.2, -7), s8(a.shape, *divisor)], [s8(a.shape, 0.1 + rng.uniform() / 9, 3)])
        np.testing.assert_array_equal(integers(tmp_path, data, a, b), run(data, a, b))


@pytest.mark.parametrize("kind", ["MAXIMUM", "MINIMUM"])
def test_int8_extremes(tmp_path, kind):
    same = s8((1, 65536), 0.1, 3)
    data = model(kind, [same, same], [same], table="MaximumMinimum")
    np.testing.assert_array_equal(integers(tmp_path, data, *PAIRS), run(data, *PAIRS))


FLOATS = [
    "ABS",
    "NEG",
    "EXP",
    "LOG",
    "SQRT",
    "RSQRT",
    "SQUARE",
    "SIN",
    "COS",
    "ELU",
    "HARD_SWISH",
    "FLOOR",
    "CEIL",
    "ROUND",
]
FLOATS += ["SIGN", "GELU", "LEAKY_RELU"]
FLOATS_OF_TWO = ["DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD", "POW", "PRELU", "ATAN2"]


@pytest.mark.parametrize("kind", FLOATS)
def test_float_of_one(tmp_path, kind):
    x = np.concatenate([np.linspace(-5, 5, 101), [0.5, 1.5, 2.5]]).astype(np.float32)[None]
    if kind in ("LOG", "SQRT", "RSQRT"):
        x = np.abs(x) + np.float32(0.01)
    shape = Type(x.shape, Elem.F32)
    data = model(kind, [shape], [shape], TABLES.get(kind, {}))
    graph = read(tmp_path, data)
    got = run_float(graph, {graph.inputs[0]: x[None]})[graph.outputs[0]][0]
    np.testing.assert_allclose(got, run(data, x, optimised=kind in ONLY_OPTIMISED), rtol=1e-5, atol=1e-6)


INTEGERS_OF_TWO = [kind for kind in FLOATS_OF_TWO if kind not in ("PRELU", "ATAN2")]  # LiteRT takes no others


@pytest.mark.parametrize(
    ("kind", "elem"),
    [
        *((kind, Elem.F32) for kind in (*FLOATS_OF_TWO, *COMPARISONS, "SELECT_V2", "ADD_N")),
        *((kind, Elem.S32) for kind in (*INTEGERS_OF_TWO, *COMPARISONS, "SELECT_V2", "ADD_N")),
    ],
)
def test_of_two(tmp_path, kind, elem):
    rng = np.random.default_rng(1)
    a, b = (rng.uniform(-9, 9, shape).astype(elem.dtype) for shape in ((2, 3, 40), (2, 3, 40)))
    b[b == 0] = 2
    if kind == "POW":
        a = np.abs(a) + 1
        b = np.abs(b)
    arrays, kinds = [a, b], [Type(a.shape, elem), Type(b.shape, elem)]
    if kind == "SELECT_V2":
        arrays, kinds = [a > 0, a, b], [Type(a.shape, Elem.BOOL), *kinds]
    result = Type(a.shape, Elem.BOOL if kind in COMPARISONS else elem)
    data = model(kind, kinds, [result], table="MaximumMinimum" if kind in ("MAXIMUM", "MINIMUM") else "")
    graph = read(tmp_path, data)
    feeds = {name: array[None] for name, array in zip(graph.inputs, arrays, strict=True)}
    got = run_integer(graph, feeds)[graph.outputs[0]][0]
    np.testing.assert_allclose(got, run(data, *arrays), rtol=1e-5, atol=1e-6)


def test_select_of_whole_entries(tmp_path):
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), -np.ones((3, 4), np.float32)
    kinds = [Type((3,), Elem.BOOL), Type((3, 4), Elem.F32), Type((3, 4), Elem.F32)]
    data = model("SELECT", kinds, [kinds[1]])
    which = np.array([True, False, True])
    graph = read(tmp_path, data)
    feeds = dict(zip(graph.inputs, (which[None], a[None], b[None]), strict=True))
    np.testing.assert_array_equal(run_float(graph, feeds)[graph.outputs[0]][0], run(data, which, a, b))


def test_a_quotient_with_an_activation(tmp_path):
    a, b = np.linspace(-9, 9, 19, dtype=np.float32)[None], np.full((1, 19), 2, np.float32)
    kind = Type(a.shape, Elem.F32)
    data = model("DIV", [kind, kind], [kind], {"fusedActivationFunction": 1})
    np.testing.assert_allclose(integers(tmp_path, data, a, b), run(data, a, b))
