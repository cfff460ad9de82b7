"""fuse_clamp."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from tests.unit.passes.graphs import Maker, apply, operators
from tinydeploy.ir import Elem, Graph, Quant
from tinydeploy.ops.execute import run_integer
from tinydeploy.passes import fuse_clamp

INF = float("inf")


def host(make: Maker, kind: str) -> str:
    x = make.input(1, 6, 6, 4)
    match kind:
        case "conv2d":
            return make.conv(x, 3)
        case "depthwise_conv2d":
            return make.depthwise(x)
        case "fully_connected":
            return make.dense(x, 3)
        case "transpose_conv2d":
            return make.op(kind, x, make.random(3, 2, 2, 4))
        case "conv3d" | "transpose_conv3d":
            return make.op(kind, make.op("reshape", x, shape=(1, 6, 2, 3, 4)), make.random(3, 2, 2, 2, 4))
        case "average_pool3d" | "max_pool3d":
            return make.op(kind, make.op("reshape", x, shape=(1, 6, 2, 3, 4)), kernel=(2, 2, 2))
        case "batch_matmul":
            return make.op(kind, x, make.random(4, 5))
        case "add" | "sub" | "mul":
            return make.op(kind, x, make.random(4))
    return make.op(kind, x, kernel=(2, 2))


@pytest.mark.parametrize("kind", fuse_clamp.HOSTS)
def test_into_each_host(kind: str) -> None:
    make = Maker()
    after = apply(make.done(make.relu(host(make, kind), 0.3)), "fuse_clamp", tolerance=0)
    assert operators(after)[-1] == kind
    assert after.nodes[-1].op.clamp == (0.0, 0.3)


def test_all_pairs_of_clamps() -> None:
    bounds = [
        (a, b) for a, b in itertools.product((-INF, -1.0, 0.0, 0.5, INF), repeat=2) if a <= b and (a, b) != (INF, INF)
    ]
    x = np.linspace(-2, 2, 41)
    for first, second in itertools.product(bounds, repeat=2):
        low, high = fuse_clamp.intersect(first, second)
        np.testing.assert_array_equal(np.clip(np.clip(x, *first), *second), np.clip(x, low, high))


def test_a_value_seen_elsewhere_keeps_its_clamp_apart() -> None:
    make = Maker()
    x = host(make, "conv2d")
    apply(make.done(make.relu(x), make.op("tanh", x)), "fuse_clamp", changes=False)
    apply(make.done(make.relu(x), x), "fuse_clamp", changes=False)


def quantised(scale: float) -> Graph:
    """A quantised pooling and a clamp whose output has ``scale``."""
    make = Maker()
    y = make.relu(host(make, "max_pool2d"), 0.6)
    graph = make.done(y)
    for name, value in graph.values.items():
        quant = Quant.per_tensor(scale if name == y else 0.01, -5)
        value.type = dataclasses.replace(value.type, elem=Elem.S8, quant=quant)
    return graph


def test_quantised_only_where_no_scale_changes() -> None:
    graph = quantised(0.01)
    feeds = {"x": np.random.default_rng(1).integers(-128, 128, (3, 1, 6, 6, 4)).astype(np.int8)}
    want = run_integer(graph, feeds)
    assert fuse_clamp.run(graph)
    assert operators(graph) == ["max_pool2d"]
    np.testing.assert_array_equal(run_integer(graph, feeds)[graph.outputs[0]], want[graph.outputs[0]])
    assert fuse_clamp.run(quantised(0.02)) is False
