"""TFLite's operators that move, pick, repeat and reduce, as files read by us and run by LiteRT's reference kernels."""

import numpy as np
import pytest

from tests.conformance.tf_models import Spec, agree, imported, litert
from tests.unit.frontends.tflite_build import TfliteModel
from tinydeploy import passes
from tinydeploy.lower import lower, target_for
from tinydeploy.ops.execute import run_integer

ANY = ("float32", "int8", "int32")
QUANT = {"scale": 0.1, "zero": 3}


def ints(*values, dtype="i4"):
    return np.asarray(values, dtype)


def model(kind, elem, inputs, outputs, version=1, quants=None, **options):
    """One operator. ``inputs``: shapes (of ``elem``), (shape, elem) pairs and constants; ``outputs``: likewise.

    int8 tensors have the scale ``QUANT``; ``quants``: those of the outputs.
    """
    made, fed, numbers, specs = TfliteModel(), [], [], []
    for item in inputs:
        if isinstance(item, np.ndarray):
            scale = QUANT if item.dtype == np.int8 else {}
            numbers.append(made.constant(item, **scale))
            continue
        indices = bool(item) and isinstance(item[0], tuple)
        shape, own = item if indices else (item, elem)
        numbers.append(made.tensor(shape, own, **(QUANT if own == "int8" else {})))
        fed.append(numbers[-1])
        specs.append(Spec(shape, own, 0, 1) if indices else Spec(shape, own, -3, 3))
    results = []
    for index, item in enumerate(outputs):
        shape, own = item if item and isinstance(item[0], tuple) else (item, elem)
        quant = (QUANT if quants is None else quants[index]) if own == "int8" else {}
        results.append(made.tensor(shape, own, **quant))
    made.op(kind, numbers, results, version=version, **options)
    return made.to_bytes(fed, results), specs


X = (2, 3, 4, 5)
MOVES = {
    "squeeze": ("SQUEEZE", [(1, 3, 1, 5)], [(3, 5)], {"squeeze_dims": [0, 2]}),
    "expand": ("EXPAND_DIMS", [(3, 5), ints(-1)], [(3, 5, 1)], {}),
    "transpose": ("TRANSPOSE", [X, ints(3, 0, 2, 1)], [(5, 2, 4, 3)], {}),
    "pad": ("PAD", [X, ints([0, 0], [1, 2], [0, 3], [0, 0])], [(2, 6, 7, 5)], {}),
    "mirror reflect": ("MIRROR_PAD", [X, ints([0, 0], [1, 2], [0, 3], [0, 0])], [(2, 6, 7, 5)], {"mode": 0}),
    "mirror symmetric": ("MIRROR_PAD", [X, ints([1, 0], [1, 3], [0, 3], [0, 0])], [(3, 7, 7, 5)], {"mode": 1}),
    "concat": ("CONCATENATION", [X, X], [(2, 3, 8, 5)], {"axis": -2}),
    "split": ("SPLIT", [ints(3), (2, 3, 4, 6)], [(2, 3, 4, 2)] * 3, {"num_splits": 3}),
    "split_v": ("SPLIT_V", [X, ints(1, -1, 2), ints(2)], [(2, 3, n, 5) for n in (1, 1, 2)], {"num_splits": 3}),
    "slice": ("SLICE", [X, ints(0, 1, 2, 0), ints(-1, 2, 1, 4)], [(2, 2, 1, 4)], {}),
    "strided": ("STRIDED_SLICE", [X, ints(0, 2, 0), ints(2, 0, 9), ints(1, -1, 2)], [(2, 2, 2, 5)], {}),
    "begin mask": (
        "STRIDED_SLICE",
        [X, ints(1, 1, 1, 1), ints(2, 2, 2, 2), ints(1, 1, 1, 1)],
        [(2, 1, 3, 1)],
        {"begin_mask": 1, "end_mask": 4},
    ),
    "shrink": ("STRIDED_SLICE", [X, ints(-1, 0), ints(0, 2), ints(1, 1)], [(2, 4, 5)], {"shrink_axis_mask": 1}),
    "ellipsis": (
        "STRIDED_SLICE",
        [X, ints(0, 0, 1), ints(1, 0, 4), ints(1, 1, 2)],
        [(1, 3, 4, 2)],
        {"ellipsis_mask": 2},
    ),
    "new axis": (
        "STRIDED_SLICE",
        [(3, 4), ints(0, 0, 1), ints(2, 0, 4), ints(1, 1, 1)],
        [(2, 1, 3)],
        {"new_axis_mask": 2},
    ),
    "new and shrink": (
        "STRIDED_SLICE",
        [(3, 4, 5), ints(0, 0, 1), ints(2, 0, 4), ints(1, 1, 1)],
        [(1, 3, 4)],
        {"ellipsis_mask": 2, "new_axis_mask": 1, "shrink_axis_mask": 4},
    ),
    "pack": ("PACK", [(3, 5), (3, 5)], [(3, 2, 5)], {"values_count": 2, "axis": 1}),
    "unpack": ("UNPACK", [(3, 2, 5)], [(3, 5)] * 2, {"num": 2, "axis": -2}),
    "unpack one": ("UNPACK", [(1, 5)], [(5,)], {"num": 1, "axis": 0}),
    "gather": ("GATHER", [X, ints(2, 0, 1, 1)], [(2, 4, 4, 5)], {"axis": 1}),
    "gather computed": ("GATHER", [X, ((2, 2), "int32")], [(2, 2, 2, 4, 5)], {"axis": 1}),
    "gather batch": ("GATHER", [(2, 4, 5), ((2, 3), "int64")], [(2, 3, 5)], {"axis": 1, "batch_dims": 1}),
    "gather_nd": ("GATHER_ND", [X, ((4, 2), "int32")], [(4, 4, 5)], {}),
    "gather_nd fixed": ("GATHER_ND", [X, ints([1, 2, 3, 4], [0, 0, 0, 0])], [(2,)], {}),
    "tile": ("TILE", [(2, 3), ints(2, 3)], [(4, 9)], {}),
    "tile three": ("TILE", [(2, 3, 2), ints(2, 3, 2)], [(4, 9, 4)], {}),
    "broadcast": ("BROADCAST_TO", [(3, 1), ints(2, 3, 4)], [(2, 3, 4)], {}),
    "space_to_depth": ("SPACE_TO_DEPTH", [(2, 4, 6, 3)], [(2, 2, 3, 12)], {"block_size": 2}),
    "depth_to_space": ("DEPTH_TO_SPACE", [(2, 2, 3, 12)], [(2, 4, 6, 3)], {"block_size": 2}),
    "space_to_batch": (
        "SPACE_TO_BATCH_ND",
        [(2, 3, 4, 5), ints(2, 3), ints([0, 1], [1, 1])],
        [(12, 2, 2, 5)],
        {},
    ),
    "space_to_batch 1d": ("SPACE_TO_BATCH_ND", [(2, 6, 5), ints(3), ints([0, 0])], [(6, 2, 5)], {}),
    "batch_to_space": ("BATCH_TO_SPACE_ND", [(12, 2, 2, 5), ints(2, 3), ints([0, 1], [1, 1])], [(2, 3, 4, 5)], {}),
    "batch_to_space 1d": ("BATCH_TO_SPACE_ND", [(6, 2, 5), ints(3), ints([0, 0])], [(2, 6, 5)], {}),
    "reverse": ("REVERSE_V2", [X, ints(1, 2)], [X], {}),
    "reverse_sequence": ("REVERSE_SEQUENCE", [(3, 4, 2), ints(2, 0, 4)], [(3, 4, 2)], {"seq_dim": 1, "batch_dim": 0}),
    "nearest": ("RESIZE_NEAREST_NEIGHBOR", [(1, 3, 4, 2), ints(7, 6)], [(1, 7, 6, 2)], {}),
    "nearest corners": ("RESIZE_NEAREST_NEIGHBOR", [(1, 3, 4, 2), ints(7, 6)], [(1, 7, 6, 2)], {"align_corners": True}),
    "nearest centers": (
        "RESIZE_NEAREST_NEIGHBOR",
        [(1, 5, 4, 2), ints(3, 6)],
        [(1, 3, 6, 2)],
        {"half_pixel_centers": True},
    ),
    "update slice": ("DYNAMIC_UPDATE_SLICE", [X, (2, 1, 2, 5), ints(0, 1, 2, 0)], [X], {}),
    "update computed": ("DYNAMIC_UPDATE_SLICE", [X, (2, 1, 2, 5), ((4,), "int32")], [X], {}),
    "set_diag": ("MATRIX_SET_DIAG", [(2, 3, 3), (2, 3)], [(2, 3, 3)], {}),
    "diag": ("MATRIX_DIAG", [(2, 3)], [(2, 3, 3)], {}),
}
VERSIONS = {
    "PAD": 2,
    "MIRROR_PAD": 2,
    "STRIDED_SLICE": 2,
    "GATHER": 5,
    "GATHER_ND": 3,
    "BROADCAST_TO": 3,
    "RESIZE_NEAREST_NEIGHBOR": 3,
    "TRANSPOSE": 2,
    "CONCATENATION": 2,
    "SPLIT": 2,
    "SPLIT_V": 2,
    "SLICE": 2,
    "PACK": 2,
    "UNPACK": 2,
    "SPACE_TO_BATCH_ND": 2,
    "BATCH_TO_SPACE_ND": 2,
    "SPACE_TO_DEPTH": 2,
    "REVERSE_V2": 3,
    "MEAN": 2,
    "REDUCE_MAX": 2,
    "REDUCE_MIN": 2,
    "SUM": 2,
    "ARG_MAX": 2,
    "ARG_MIN": 2,
    "TOPK_V2": 2,
}
LACKING = {("REVERSE_SEQUENCE", "int8")}  # what LiteRT itself does not compute


@pytest.mark.parametrize("elem", ANY)
@pytest.mark.parametrize("name", MOVES)
def test_moves(name, elem):
    kind, inputs, outputs, options = MOVES[name]
    if (kind, elem) in LACKING:
        with pytest.raises(RuntimeError, match="not supported"):
            agree(*model(kind, elem, inputs, outputs, **options))
        return
    data, specs = model(kind, elem, inputs, outputs, VERSIONS.get(kind, 1), **options)
    assert lower(passes.optimise(agree(data, specs)), target_for("host"))


REDUCED = {"all": ([0, 1, 2, 3], (1, 1, 1, 1)), "plane": ([1, 2], (2, 1, 1, 5)), "last": ([-1], (2, 3, 4, 1))}


@pytest.mark.parametrize("axes", REDUCED)
@pytest.mark.parametrize("elem", ["float32", "int8", "int32", "int64"])
@pytest.mark.parametrize("kind", ["SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"])
def test_reductions(kind, elem, axes):
    if kind == "REDUCE_PROD" and elem == "int8":
        return  # test_product_of_int8
    numbers, shape = REDUCED[axes]
    quants = [QUANT if kind.startswith("REDUCE") else {"scale": 0.3, "zero": -5}]
    data, specs = model(kind, elem, [X, ints(*numbers)], [shape], VERSIONS.get(kind, 1), quants, keep_dims=True)
    assert lower(passes.optimise(agree(data, specs)), target_for("host"))


def test_product_of_int8():
    """Ours is the product of real numbers, rounded once; LiteRT rounds after each factor."""
    quant = {"scale": 0.5, "zero": 2}
    data, _ = model("REDUCE_PROD", "int8", [(2, 3), ints(1)], [(2,)], 2, [quant], keep_dims=False)
    graph = imported(data)
    feeds = [np.random.default_rng(1).integers(-20, 20, (16, 2, 3)).astype(np.int8)]
    (theirs,) = litert(data, feeds)
    ours = run_integer(graph, dict(zip(graph.inputs, feeds, strict=True)))
    assert np.abs(ours[graph.outputs[0]].astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("kind", ["REDUCE_ANY", "REDUCE_ALL"])
def test_reductions_of_bool(kind):
    data, specs = model(kind, "bool", [X, ints(1, 2)], [(2, 5)], keep_dims=False)
    agree(data, specs)


@pytest.mark.parametrize("elem", ["float32", "int8", "int32"])
@pytest.mark.parametrize(("kind", "axis", "shape"), [("ARG_MAX", -1, (2, 3, 4)), ("ARG_MIN", 1, (2, 4, 5))])
def test_places(kind, axis, shape, elem):
    for word, number in (("int32", 2), ("int64", 4)):
        data, specs = model(kind, elem, [X, ints(axis)], [(shape, word)], 2, output_type=number)
        assert lower(passes.optimise(agree(data, specs)), target_for("host"))


@pytest.mark.parametrize("elem", ["float32", "int8", "int32"])
def test_best(elem):
    data, specs = model("TOPK_V2", elem, [(3, 7), np.asarray(3, "i4")], [(3, 3), ((3, 3), "int32")], 2)
    agree(data, specs)


@pytest.mark.parametrize("elem", ["float32", "int32", "int64"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sum(elem, exclusive, reverse):
    data, specs = model("CUMSUM", elem, [X, np.asarray(1, "i4")], [X], exclusive=exclusive, reverse=reverse)
    agree(data, specs)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    shape = {-1: (2, 3, 4), 0: (4, 2, 3), 1: (2, 4, 3)}[axis]
    inputs = [((2, 3), "int32"), np.asarray(4, "i4"), np.asarray(2, "f4"), np.asarray(-1, "f4")]
    data, _ = model("ONE_HOT", "float32", inputs, [shape], axis=axis)
    agree(data, [Spec((2, 3), "int32", -2, 6)])


@pytest.mark.parametrize("elem", ["float32", "int32"])
def test_scatter(elem):
    data, specs = model("SCATTER_ND", elem, [ints([1], [0], [1]), (3, 4), ints(3, 4)], [(3, 4)])
    agree(data, specs)
    data, specs = model("SCATTER_ND", elem, [((3, 1), "int32"), (3, 4), ints(4, 4)], [(4, 4)])
    agree(data, specs)


def test_embedding():
    table = np.arange(20, dtype="f4").reshape(5, 4)
    agree(*model("EMBEDDING_LOOKUP", "float32", [((3,), "int32"), table], [(3, 4)]))


def test_concatenation_of_int16_scales():
    """Each input is brought to the output's scale; LiteRT copies integers as they are. PITFALLS: TF#36058."""
    made = TfliteModel()
    a, b = made.tensor((1, 3), "int16", scale=0.1), made.tensor((1, 2), "int16", scale=0.05)
    y = made.tensor((1, 5), "int16", scale=0.2)
    made.op("CONCATENATION", [a, b], [y], version=2, axis=1)
    graph = imported(made.to_bytes([a, b], [y]))
    feeds = {graph.inputs[0]: np.array([[[10, -20, 300]]]), graph.inputs[1]: np.array([[[-40, 400]]])}
    (have,) = run_integer(graph, feeds).values()
    np.testing.assert_array_equal(have, [[[5, -10, 150, -10, 100]]])
    assert [low.offer.kernel for low in lower(passes.optimise(graph), target_for("host"))][-1] == "copy_blocks"
