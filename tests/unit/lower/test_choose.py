"""Choosing among offers: by mode, all refusals at once, edges that agree."""

import dataclasses

import numpy as np
import pytest

from tinydeploy.errors import InternalError, UnsupportedError, UsageError
from tinydeploy.ir import Elem, Graph, Quant, Type
from tinydeploy.lower import choose, kernel_names, lower, lower_with_islands, target_for
from tinydeploy.lower._contract import Cost, Encoding, Lowered, Offer, Table
from tinydeploy.ops.max_pool2d import MaxPool2d
from tinydeploy.ops.mean import Mean
from tinydeploy.ops.reshape import Reshape


def graph_of(*ops, elem=Elem.S8, shape=(1, 4)):
    graph = Graph("g")
    quant = None if elem.is_float else Quant.per_tensor(1 / 256, -128)
    name = graph.add_value("x", Type(shape, elem, quant))
    graph.inputs.append(name)
    for op in ops:
        node = graph.add_node(op.name, op, (name,))
        name = node.outputs[0]
        graph.values[name].type = dataclasses.replace(graph.type(name), quant=quant)
    graph.outputs = [name]
    return graph


def offer(kernel, cycles, nbytes=0):
    tables = (Table("weights", "int8_t", np.zeros(nbytes, np.int8)),)
    return Offer(kernel, None, None, tables=tables, cost=Cost(cycles, cycles))


def test_classes():
    assert target_for("cortex-m0").cpu_class == "plain"
    assert not target_for("cortex-m23").has_long_multiply
    assert target_for("cortex-m3").has_long_multiply
    assert target_for("cortex-m33").cpu_class == "dsp"
    assert target_for("cortex-m85", "size").cpu_class == "mve"
    assert target_for("host").has_long_multiply
    with pytest.raises(UsageError):
        target_for("z80")


def test_speed_takes_cycles_and_size_takes_bytes():
    offers = [offer("fast", 10, 100), offer("small", 50, 20), offer("smallest", 60, 20)]
    assert [o.kernel for o in choose.rank(offers, target_for("cortex-m4"))] == ["fast", "small", "smallest"]
    assert choose.rank(offers, target_for("cortex-m4", "size"))[0].kernel == "small"


def test_a_view_needs_no_call():
    low = lower(graph_of(Reshape(shape=(4,))), target_for("cortex-m4"))
    assert low[0].offer.view


def test_every_refusal_is_listed_with_types_and_origin():
    graph = graph_of(Mean(axes=(1,), keep_dims=True), Reshape(shape=(2,)), shape=(2, 3), elem=Elem.F64)
    graph.add_node("other", Mean(axes=(0,)), (graph.inputs[0],), origin="'pool' (ReduceMean)")
    with pytest.raises(UnsupportedError) as caught:
        lower(graph, target_for("cortex-m4"))
    assert len(caught.value.problems) == 2
    assert "float64[2x3]" in caught.value.problems[0].what
    assert "pool" in caught.value.problems[1].where


def test_edges_must_agree():
    graph = graph_of(Reshape(shape=(4,)), Reshape(shape=(1, 4)))
    odd = Encoding(row_bytes=8)
    low = [Lowered(node, Offer("k", None, None, view=True)) for node in graph.nodes]
    choose.check_encodings(graph, low)
    low[0] = Lowered(graph.nodes[0], Offer("k", None, None, outputs=(odd,)))
    with pytest.raises(InternalError):
        choose.check_encodings(graph, low)


def test_each_operator_of_the_table_has_kernels():
    names = kernel_names()
    for operator in ("conv2d", "depthwise_conv2d", "fully_connected", "add", "mean", "softmax", "concat", "pad"):
        assert names[operator]


def test_a_batch_runs():
    graph = graph_of(MaxPool2d((2, 2), (1, 1)), shape=(4, 3, 3, 2))
    assert lower(graph, target_for("cortex-m4"))[0].offer.kernel == "max_pool_nd_s8"


def test_a_wide_float_is_said_to_be_in_the_way():
    graph = graph_of(MaxPool2d((2, 2), (1, 1)), shape=(1, 3, 3, 2), elem=Elem.F64)
    with pytest.raises(UnsupportedError, match=r"rule: floats are float32, not float64"):
        lower(graph, target_for("cortex-m4"))


@pytest.mark.parametrize("op", [Reshape(shape=(4,)), MaxPool2d(), Mean(axes=(1,), keep_dims=True)])
def test_what_only_moves_data_does_not_change_scales(op):
    """A copy of integers in another scale would be wrong without a word; it runs in float instead."""
    graph = graph_of(op, shape=(1, 2, 2, 1) if isinstance(op, MaxPool2d) else (1, 4))
    name = graph.outputs[0]
    graph.values[name].type = dataclasses.replace(graph.type(name), quant=Quant.per_tensor(1 / 100, -128))
    moved, lowered = lower_with_islands(graph, target_for("cortex-m4"))
    kernels = [low.offer.kernel for low in lowered]
    assert (kernels == ["mean_s8"]) == isinstance(op, Mean)
    assert len(moved.nodes) == (1 if isinstance(op, Mean) else 3)
