"""TFLite's hybrid operators: float activations, integer weights; and the copy of a file that LiteRT is compared with.

Their weights stay small and stand for real numbers here. LiteRT quantises the activations of each run instead, which
is less exact and depends on the data; what we compute is what it computes once the weights are made float.
"""

from __future__ import annotations

import struct

import numpy as np

from tinydeploy.frontends.tflite_flatbuffer import Table
from tinydeploy.frontends.tflite_model import Model, Operator, Subgraph
from tinydeploy.frontends.tflite_schema import ELEMENT_NAMES
from tinydeploy.ir import Array, Elem
from tinydeploy.ir.types import dequantise

_WITH_WEIGHTS_TEXT = """
    CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV CONV_3D FULLY_CONNECTED BATCH_MATMUL SVDF RNN LSTM
    UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN UNIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_LSTM
"""
_WITH_WEIGHTS = frozenset(_WITH_WEIGHTS_TEXT.split())
WARNING = (
    "weights are integers and activations float (a dynamic-range model): it runs in float with small weights; give "
    "--calibration to have it quantised to integers"
)


def for_litert(data: bytes, where: str) -> bytes | None:
    """A copy of a file that LiteRT computes as we do; None if the file is such already.

    The weights of hybrid operators are float32 in it: the numbers are put behind the file, and the types and offsets
    that lead to them are changed in place. Axes of scales that TOCO wrote wrong, and LiteRT refuses, are 0.
    Raises: ValueError if buffers are shared in a way that cannot be kept, InputError if the file is damaged.
    """
    model = Model(data, where)
    subgraphs = [model.subgraph(number) for number in range(model.subgraph_count)]
    copy = bytearray(data)
    _make_weights_float(model, subgraphs, copy)
    for table in (table for subgraph in subgraphs for table in subgraph.tables):
        _mend_axis(table, copy)
    return None if copy == data else bytes(copy)


def _make_weights_float(model: Model, subgraphs: list[Subgraph], copy: bytearray) -> None:
    filled: dict[int, bytes] = {}
    for table, real in (pair for subgraph in subgraphs for pair in _weights(subgraph)):
        buffer, content = int(table.scalar(2, "I")), real.astype("<f4").tobytes()
        if filled.setdefault(buffer, content) != content:
            raise ValueError("hybrid weights share a buffer")
        kind, place = table.place(1, 1), model.buffers[buffer].place(0, 4)
        if kind is None or place is None:
            raise ValueError("hybrid weights are stored outside their buffer")
        copy[kind] = ELEMENT_NAMES.index("FLOAT32")
        copy += b"\0" * (-(len(copy) + 4) % 16)  # content is aligned, its length stands before it
        struct.pack_into("<I", copy, place, len(copy) - place)
        copy += struct.pack("<I", len(content)) + content


def _mend_axis(tensor: Table, copy: bytearray) -> None:
    quantisation, shape = tensor.table(4), tensor.numbers(0, "<i4")
    if quantisation is None or shape is None or quantisation.scalar(6, "i") < max(len(shape), 1):
        return
    place = quantisation.place(6, 4)
    assert place is not None
    struct.pack_into("<i", copy, place, 0)


def _weights(subgraph: Subgraph) -> list[tuple[Table, Array]]:
    """(table, real numbers) of every tensor that a hybrid operator has as weights, once each."""
    found = {}
    for operator in subgraph.operators:
        for index in hybrid_inputs(subgraph, operator):
            tensor = subgraph.tensor(index)
            assert tensor.data is not None
            found[index] = subgraph.tables[index], np.asarray(dequantise(tensor.data, tensor.type))
    return list(found.values())


def hybrid_inputs(subgraph: Subgraph, operator: Operator) -> list[int]:
    """The tensors of an operator with weights that are quantised constants beside float activations."""
    if operator.kind not in _WITH_WEIGHTS or not operator.outputs:
        return []
    if subgraph.tensor(operator.outputs[0]).type.elem is not Elem.F32:
        return []
    tensors = [(i, subgraph.tensor(i)) for i in operator.inputs if i >= 0]
    return [i for i, tensor in tensors if tensor.data is not None and tensor.type.quant is not None]
