"""Removes channels that are constant or that nobody reads, and computes nothing for constant ones that stay. Exact.

A channel may go if everything that reads it can do without: a dense layer or a convolution whose weights for it are
all zero, or which takes the constant into its bias. Padding does not let it, unless the constant is the zero point:
near the border there would be less of it. Other operators lose the channel before and behind them together. (Sums of
floats are then added up in another order: a float result may differ in the last bits.)
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from tinydeploy.ir import Array, Graph, Node
from tinydeploy.numerics.requantise import INT32_MAX
from tinydeploy.ops import _linear
from tinydeploy.passes._channels import Tie, ties
from tinydeploy.passes._edit import constant, promise, replace_op, set_input
from tinydeploy.passes._ranges import WEIGHTED, Ranges, analyse, kernel_sums


def requires(graph: Graph) -> None:
    """Nothing."""


def run(graph: Graph) -> bool:
    """Find the largest set of channels that can go together, and remove it."""
    search = _Search(graph)
    search.run()
    frozen = [_freeze(graph, reader, search) for reader in search.readers]
    dropped = {name: mask for name, mask in search.drop.items() if mask.any()}
    if dropped:
        for reader in search.readers:
            _fold(graph, reader, search)
        for node in graph.nodes:
            if node.op.name in WEIGHTED and node.outputs[0] in dropped:
                _cut_outputs(graph, node, ~dropped[node.outputs[0]])
        for name, mask in dropped.items():
            _cut_value(graph, name, ~mask)
        for node in graph.nodes:
            _adjust(graph, node)
    return bool(dropped) or any(frozen)


def ensures(graph: Graph) -> None:
    """No value lost its last channel."""
    empty = [name for name, value in graph.values.items() if value.type.shape[-1:] == (0,)]
    promise(not empty, graph, f"nothing is left of {empty}")


class _Reader:
    """A dense layer or ungrouped convolution: what it reads of its input, and what it can take into its bias."""

    def __init__(self, graph: Graph, node: Node, ranges: Ranges) -> None:
        self.node, self.x, self.y = node, str(node.inputs[0]), node.outputs[0]
        weights, kind = graph.constant(node.inputs[1]), graph.type(str(node.inputs[1]))
        assert weights is not None
        centred = weights if kind.quant is None else _linear.centred_weights(weights, kind)
        self.reads = kernel_sums(node, centred != 0) != 0  # [outputs, inputs]
        self.silent = ranges.constant(self.y, len(self.reads))  # outputs that could do without any input
        self.constant = np.zeros(self.reads.shape[1], np.bool_)
        if node.name in ranges.accumulators:
            value = ranges.values[self.x].low - graph.type(self.x).zero_point
            bias = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
            self.bias = np.zeros(len(self.reads), np.int64) if bias is None else bias.astype(np.int64)
            self.steps = kernel_sums(node, centred) * value  # [outputs, inputs], what a constant adds to the bias
            self.constant = ranges.constant(self.x, len(value))
            if any(getattr(node.op, "padding", ())):
                self.constant = self.constant & (value == 0)

    def needed(self, dropped: Array, outputs: Array) -> Array:
        """Inputs among the ``dropped`` that must stay for ``outputs``."""
        live = outputs & ~self.silent
        needed = self.reads[live].any(axis=0) & ~self.constant
        if (dropped & self.constant).any():
            steps = np.where(dropped & self.constant & ~needed, self.steps, 0)
            high = live & (np.abs(self.bias + steps.sum(axis=1)) > INT32_MAX)
            needed = needed | (steps[high] != 0).any(axis=0)
        return np.asarray(dropped & needed)


class _Search:
    """The largest set of channels that can go: all are in it at first, and those that cannot are taken out."""

    def __init__(self, graph: Graph) -> None:
        self.ranges = analyse(graph)
        self.drop: dict[str, Array] = {}
        self.readers: list[_Reader] = []
        self.ties: list[Tie] = []
        kept = {*graph.inputs, *graph.outputs, *(n for state in graph.states for n in (state.read, state.write))}
        for node in graph.nodes:
            found = ties(graph, node)
            if found is None:
                kept.update(name for name in (*node.inputs, *node.outputs) if name is not None)
                continue
            self.ties += found
            if node.op.name in WEIGHTED:
                kept.update(name for name in node.inputs[1:] if name is not None)
                if not found:
                    self.readers.append(_Reader(graph, node, self.ranges))
        for name, value in graph.values.items():
            quant = value.type.quant
            if name not in kept and value.type.shape[-1:] > (1,) and (quant is None or quant.axis is None):
                self.drop[name] = np.ones(value.type.shape[-1], np.bool_)

    def run(self) -> None:
        """Take out channels until the rest can go."""
        while self._round() or self._whole():
            pass

    def _round(self) -> bool:
        changed = False
        for reader in reversed(self.readers):
            dropped = self.drop.get(reader.x)
            if dropped is not None:
                outputs = self.drop.get(reader.y)
                needed = reader.needed(dropped, np.ones(len(reader.reads), np.bool_) if outputs is None else ~outputs)
                changed = self._keep(reader.x, np.flatnonzero(needed)) or changed
        for tie in reversed(self.ties):
            stays = ~(self._dropped(tie.first, tie.at) & self._dropped(tie.second, tie.there))
            changed = self._keep(tie.first, tie.at[stays]) or changed
            changed = self._keep(tie.second, tie.there[stays]) or changed
        return changed

    def _dropped(self, name: str, channels: Array) -> Array:
        mask = self.drop.get(name)
        return np.zeros(len(channels), np.bool_) if mask is None else np.asarray(mask[channels])

    def _keep(self, name: str, channels: Array) -> bool:
        mask = self.drop.get(name)
        if mask is None or not mask[channels].any():
            return False
        mask[channels] = False
        return True

    def _whole(self) -> bool:
        """One channel of each value stays."""
        whole = [name for name, mask in self.drop.items() if mask.all()]
        for name in whole:
            self._keep(name, np.zeros(1, np.int64))
        return bool(whole)


def _freeze(graph: Graph, reader: _Reader, search: _Search) -> bool:
    """Give constant outputs that stay zero weights, and a bias with the same result: they read nothing any more."""
    node = reader.node
    stays = reader.silent & reader.reads.any(axis=1)
    if reader.y in search.drop:
        stays = stays & ~search.drop[reader.y]
    if not stays.any():
        return False
    name = str(node.inputs[1])
    weights, kind = graph.constant(name), graph.type(name)
    assert weights is not None
    assert kind.quant is not None
    zero = np.broadcast_to(kind.quant.broadcast(kind.quant.zero_points(), weights.ndim), weights.shape)
    still = stays.reshape(-1, *[1] * (weights.ndim - 1))
    data = np.where(still, zero, weights).astype(weights.dtype)
    set_input(node, 1, graph.add_value(name, kind, data))
    reader.bias = np.where(stays, search.ranges.accumulators[node.name], reader.bias)
    _set_bias(graph, node, reader.bias)
    reader.steps = np.where(stays[:, np.newaxis], 0, reader.steps)
    return True


def _fold(graph: Graph, reader: _Reader, search: _Search) -> None:
    """Take the constants among the dropped inputs into the bias, and drop their weights."""
    dropped = search.drop.get(reader.x)
    if dropped is None or not dropped.any():
        return
    node = reader.node
    folded = dropped & reader.constant
    if folded.any():
        stays = ~search.drop.get(reader.y, np.zeros(len(reader.reads), np.bool_))
        bias = reader.bias + np.where(stays, reader.steps[:, folded].sum(axis=1), 0)
        if not np.array_equal(bias, reader.bias):
            _set_bias(graph, node, bias)
    set_input(node, 1, _cut(graph, str(node.inputs[1]), ~dropped, graph.type(str(node.inputs[1])).rank - 1))


def _set_bias(graph: Graph, node: Node, bias: Array) -> None:
    old = node.inputs[2] if len(node.inputs) > 2 else None
    quant = None if old is None else graph.type(old).quant
    name = constant(graph, old or f"{node.name}_bias", bias.astype(np.int32), quant)
    node.inputs = (*node.inputs[:2], name)


def _cut_outputs(graph: Graph, node: Node, stays: Array) -> None:
    set_input(node, 1, _cut(graph, str(node.inputs[1]), stays, WEIGHTED[node.op.name]))
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        set_input(node, 2, _cut(graph, node.inputs[2], stays, 0))


def _cut(graph: Graph, name: str, stays: Array, axis: int) -> str:
    """A constant with some indices of an axis only."""
    data, kind = graph.constant(name), graph.type(name)
    assert data is not None
    less, quant = np.compress(stays, data, axis=axis), kind.quant
    if quant is not None and quant.axis == axis:
        quant = dataclasses.replace(
            quant,
            scale=tuple(itertools.compress(quant.scale, stays)),
            zero_point=tuple(itertools.compress(quant.zero_point, stays)),
        )
    return graph.add_value(name, dataclasses.replace(kind, shape=less.shape, quant=quant), less)


def _cut_value(graph: Graph, name: str, stays: Array) -> None:
    value = graph.values[name]
    value.type = value.type.with_shape((*value.type.shape[:-1], int(np.count_nonzero(stays))))
    if value.data is not None:
        value.data = np.compress(stays, value.data, axis=-1)


def _adjust(graph: Graph, node: Node) -> None:
    """Sizes that the operator itself holds."""
    if node.op.name == "reshape":
        replace_op(node, shape=graph.type(node.outputs[0]).shape)
    elif node.op.name == "split":
        replace_op(node, sizes=tuple(graph.type(name).shape[node.op.axis] for name in node.outputs))
    elif node.op.name == "strided_slice" and node.op.stride[-1:] == (1,):
        source = graph.type(str(node.inputs[0])).shape[-1]
        if node.op.begin[-1] == 0 and node.op.end[-1] >= source:
            replace_op(node, end=(*node.op.end[:-1], source))
