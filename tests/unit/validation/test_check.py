"""What a validation says of single nodes: pairing with the float graph, float nodes, the samples that are traced."""

import numpy as np
import pytest

from tests.unit.quant.quant_graphs import Maker
from tinydeploy import ops
from tinydeploy.ir import Graph, Node
from tinydeploy.ops import execute
from tinydeploy.quant import quantise
from tinydeploy.validation import check, compare, trace
from tinydeploy.validation.check import Samples
from tinydeploy.validation.compare import Mismatch
from tinydeploy.validation.trace import NodeTrace, Trace


def with_island() -> tuple[Graph, Graph, Samples]:
    """Integer dense layers around a batch normalisation, which has float arithmetic only; it is an output too."""
    made = Maker()
    x = made.dense(made.input(1, 8), 6)
    constants = [made.constant(np.full(6, value)) for value in (1.5, 0.1, 0.2, 0.7)]
    middle = made.node("batch_norm", x, *constants)
    graph = made.done(middle, made.dense(middle, 4))
    feeds = made.samples()
    quantised = quantise(graph, "int8", feeds)
    return graph, quantised, check.prepare(quantised, feeds, None)


def test_every_node_has_its_counterpart_in_the_float_graph():
    graph, quantised, samples = with_island()
    assert len(quantised.nodes) > len(graph.nodes)
    for row in check.per_layer(quantised, graph, samples):
        assert row["sqnr_db"] is not None, row
        assert row["sqnr_db"] > 25, row


def test_a_quantised_file_is_compared_with_its_own_float_run():
    _, quantised, samples = with_island()
    rows = check.per_layer(quantised, quantised, samples)
    assert [row["name"] for row in rows] == [node.name for node in quantised.nodes]
    assert all(row["sqnr_db"] > 25 for row in rows)


def test_all_outputs_of_a_node_count():
    made = Maker()
    x = made.input(1, 8)
    node = made.graph.add_node("halves", made_op("split", axis=1, sizes=(4, 4)), (x,))
    graph = made.done(*node.outputs)
    feeds = {x: np.ones((3, 1, 8), np.float32)}
    feeds[x][..., 4:] = 1000
    quantised = quantise(graph, "int8", feeds)
    samples = check.prepare(quantised, feeds, None)
    twin = execute.run_integer(quantised, samples.fed)
    real = compare.to_real(quantised, twin)
    want = np.concatenate([feeds[x][..., :4], feeds[x][..., 4:]])
    got = np.concatenate([real[name] for name in quantised.outputs])
    row = next(row for row in check.per_layer(quantised, graph, samples) if row["name"] == "halves")
    assert row["sqnr_db"] == pytest.approx(compare.sqnr_db(got, want))


def made_op(name: str, **attributes):
    return ops.registry()[name](**attributes)


def test_float_nodes_are_listed_with_their_error():
    graph, quantised, samples = with_island()
    device = execute.run_integer(quantised, samples.fed)
    islands = check.figures(quantised, graph, samples, device, None)["float_islands"]
    kinds = {node.name: node.op.name for node in quantised.nodes}
    assert sorted(kinds[island["node"]] for island in islands) == ["batch_norm", "dequantize"]
    assert {island["max_rel_error"] for island in islands} == {None}  # inside the model: a trace shows them
    assert all(island["tolerance"] == 1e-5 for island in islands)


@pytest.mark.parametrize(
    ("got", "want", "error"),
    [
        ([1.0, np.nan, np.inf, 0.0], [1.0, np.nan, np.inf, -0.0], 0.0),
        ([1.5, -2.0], [1.0, -2.0], 0.5),
        ([1e-42], [0.0], 1e-42 / np.finfo(np.float32).tiny),
        ([np.nan], [1.0], np.finfo(np.float64).max),
        ([np.inf], [1.0], np.finfo(np.float64).max),
        ([], [], 0.0),
    ],
)
def test_relative_error(got, want, error):
    found = compare.max_relative_error(np.array(got, np.float32), np.array(want, np.float32))
    assert found == pytest.approx(error, rel=1e-2)


def test_floats_differ_in_every_bit():
    zeros = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    np.testing.assert_array_equal(compare.differs(zeros, zeros), [False] * 4)
    np.testing.assert_array_equal(compare.differs(zeros, np.abs(zeros)), [False, True, False, False])


def some(count: int, length: int = 0) -> Samples:
    shape = (count, length, 2) if length else (count, 2)
    fed = {"x": np.arange(np.prod(shape)).reshape(shape).astype(np.int8)}
    return Samples(fed, fed, None, bool(length))


@pytest.mark.parametrize(
    ("samples", "size", "differing", "chosen", "length"),
    [
        (some(10), 100, None, (0, 1, 2, 3), None),
        (some(2), 100, None, (0, 1), None),
        (some(10), 100, (7, 0, 0), (0, 1, 2, 3, 7), None),
        (some(10), 100, (2, 0, 0), (0, 1, 2, 3), None),
        (some(10), trace.BUDGET, (7, 0, 0), (7,), None),
        (some(10), 2 * trace.BUDGET, None, (0,), None),
        (some(10, 5), trace.BUDGET // 10, None, (0, 1), 5),
        (some(10, 5), trace.BUDGET // 2, None, (0,), 2),
        (some(10, 5), trace.BUDGET // 2, (6, 3, 0), (6,), 4),
    ],
)
def test_what_is_traced_is_bounded(samples, size, differing, chosen, length):
    places, fed = trace._choose(samples, size, differing)
    assert places == chosen
    np.testing.assert_array_equal(fed["x"], samples.fed["x"][list(chosen)][:, : length or 2])


def test_a_difference_comes_from_the_first_node_of_the_earliest_step():
    one = Node("one", made_op("reshape", shape=(2,)), ("x",), ("y",))
    twin = {"y": np.zeros((2, 3, 2), np.int8)}
    device = {"y": twin["y"].copy()}
    assert trace._compare(one, device, twin, (1, 5), True) == NodeTrace(None, None, None)
    device["y"][0, 2, 0] = device["y"][1, 1, 1] = 4
    found = trace._compare(one, device, twin, (1, 5), True)
    assert found == NodeTrace(Mismatch("y", (1, 2, 0), 4.0, 0.0), 1, None)
    late = {"first": NodeTrace(found.first, 2, None), "second": found, "third": found}
    assert Trace((1, 5), late).first_differing == "second"
    assert Trace((1, 5), {}).first_differing is None
    rows = [{"name": "second", "op": "add", "sqnr_db": None}, {"name": "view", "op": "reshape", "sqnr_db": None}]
    annotated = Trace((1, 5), late).annotate(rows)
    assert [row["exact"] for row in annotated] == [False, None]
    assert annotated[0]["first_difference"] == {"output": "y", "index": (1, 2, 0), "device": 4.0, "twin": 0.0}
