"""Transposed convolutions and products of computed matrices get int8 arithmetic that stays near the float one."""

import numpy as np
import pytest

from tinydeploy.ir import Elem, Graph, Type
from tinydeploy.lower import lower, target_for
from tinydeploy.ops.batch_matmul import BatchMatmul
from tinydeploy.ops.conv2d import Conv2d
from tinydeploy.ops.conv3d import Conv3d
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.ops.transpose_conv import TransposeConv2d, TransposeConv3d
from tinydeploy.passes import optimise
from tinydeploy.quant.quantise import quantise

RNG = np.random.default_rng(5)


def layer(op, x, weights):
    graph = Graph("layer")
    graph.inputs = [graph.add_value("x", Type(x, Elem.F32))]
    data = RNG.normal(0, 0.3, weights).astype(np.float32)
    held = graph.add_value("w", Type(weights, Elem.F32), data)
    bias = graph.add_value("b", Type(weights[:1], Elem.F32), RNG.normal(size=weights[0]).astype(np.float32))
    graph.outputs = list(graph.add_node("layer", op, ("x", held, bias)).outputs)
    return graph


def product():
    graph = Graph("product")
    graph.inputs = [graph.add_value("a", Type((2, 3, 8), Elem.F32)), graph.add_value("b", Type((1, 8, 5), Elem.F32))]
    graph.outputs = list(graph.add_node("product", BatchMatmul(), ("a", "b")).outputs)
    return graph


GRAPHS = {
    "transpose_conv2d": lambda: layer(TransposeConv2d(stride=(2, 3), padding=(1, 0, 1, 0)), (1, 5, 4, 6), (7, 4, 4, 6)),
    "transpose_conv3d": lambda: layer(TransposeConv3d(stride=(2, 1, 2)), (1, 3, 4, 3, 2), (4, 2, 3, 3, 2)),
    "conv3d": lambda: layer(Conv3d(padding=(1, 1, 1, 1, 1, 1)), (1, 4, 5, 6, 3), (5, 3, 3, 3, 3)),
    "several samples": lambda: layer(Conv2d(groups=2), (3, 6, 6, 4), (6, 3, 3, 2)),
    "batch_matmul": product,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_int8(name):
    graph = optimise(GRAPHS[name]())
    feeds = {n: RNG.normal(size=(40, *graph.type(n).shape)).astype(np.float32) for n in graph.inputs}
    quantised = quantise(graph, "int8", feeds)
    assert all(quantised.type(n.outputs[0]).elem is Elem.S8 for n in quantised.nodes)
    assert lower(quantised, target_for("cortex-m0"))
    real = run_float(graph, feeds)
    (out,) = quantised.outputs
    kinds = {n: quantised.type(n) for n in (*quantised.inputs, out)}
    integers = {
        n: np.clip(np.rint(a / kinds[n].scale) + kinds[n].zero_point, -128, 127).astype(np.int8)
        for n, a in feeds.items()
    }
    made = run_integer(quantised, integers)[out].astype(np.float64)
    error = (made - kinds[out].zero_point) * kinds[out].scale - real[graph.outputs[0]]
    assert np.sqrt(np.mean(error**2)) < 0.03 * real[graph.outputs[0]].std()
    assert abs(error.mean()) < kinds[out].scale
