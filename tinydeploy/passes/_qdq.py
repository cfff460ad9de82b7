"""What `fold_qdq` is made of: the integers a real number was before, and uint8 as int8."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np

from tinydeploy.ir import Elem, Graph, Node, Quant, Type
from tinydeploy.ir.types import quantise
from tinydeploy.ops.quantize import Quantize
from tinydeploy.passes._edit import constant

Kind: TypeAlias = "tuple[Elem, Quant | None]"

# they move what they are given; those of ORDERED also pick by order, which quantising keeps
MOVES = (
    *("reshape", "transpose", "concat", "split", "strided_slice", "pad", "tile", "broadcast_to"),
    *("gather", "gather_nd", "gather_elements"),
)
ORDERED = ("max_pool2d", "clamp", "maximum", "minimum", "reduce_max", "reduce_min")


def quantised_kind(kind: Type) -> Kind:
    """Element type and quantisation of a type."""
    return kind.elem, kind.quant


def retype(graph: Graph, name: str, kind: Kind) -> None:
    """Give a value another element type and quantisation."""
    graph.values[name].type = Type(graph.type(name).shape, *kind)


def integers_of(graph: Graph, name: str, index: int) -> str | None:
    """The quantised integers that a float value was dequantised from, moved as it was; None if there are none.

    Nodes that are made are put in front of number ``index``.
    """
    writer = graph.producer(name)
    if writer is None:
        return None
    if writer.op.name == "dequantize":
        source = str(writer.inputs[0])
        quant = graph.type(source).quant
        return source if quant is not None and quant.axis is None and graph.constant(source) is None else None
    if writer.op.name not in MOVES or len(writer.outputs) != 1 or writer.op.name == "pad":
        return None
    inputs: list[str | None] = []
    kinds: set[Kind] = set()
    for source_name in writer.inputs:
        if source_name is None or graph.type(source_name).elem is not Elem.F32:
            inputs.append(source_name)
            continue
        before = len(graph.nodes)
        source_integers = integers_of(graph, source_name, index)
        if source_integers is None:
            return None
        index += len(graph.nodes) - before
        kinds.add(quantised_kind(graph.type(source_integers)))
        inputs.append(source_integers)
    if len(kinds) != 1:
        return None
    value = graph.add_value(f"{name}_integers", Type(graph.type(name).shape, *kinds.pop()))
    graph.add_node(f"{writer.name}_integers", writer.op, tuple(inputs), outputs=(value,), index=index)
    return value


def operand(graph: Graph, name: str, index: int, elem: Elem) -> str | None:
    """An input of an integer operator: dequantised integers of ``elem``, or a constant in a scale that holds it."""
    data = graph.constant(name)
    if data is not None:
        if data.dtype.kind != "f" or not np.all(np.isfinite(data)):
            return None
        kind = Type(data.shape, elem, _range(data, elem))
        return constant(graph, f"{name}_quantized", quantise(data, kind), kind.quant)
    found = integers_of(graph, name, index)
    if found is None or graph.type(found).elem is not elem:
        return None
    return found


def _range(data: np.ndarray, elem: Elem) -> Quant:
    """A scale for a constant. One element, or several of one magnitude, are exact in it."""
    low, high = min(float(data.min()), 0.0), max(float(data.max()), 0.0)
    largest = max(-low, high) or 1.0
    if elem is Elem.S16:
        return Quant.per_tensor(largest / 32767)
    if low < 0 < high:
        return Quant.per_tensor(largest / 127)
    scale = float(np.float32(largest / 255))
    return Quant.per_tensor(scale, -128 if high > 0 else 127)


def bias_of(graph: Graph, name: str, x: Type, weights: Quant) -> str | None:
    """A float bias as integers in steps of input times weights; None if they do not fit."""
    data = graph.constant(name)
    if data is None or data.dtype != np.float32:
        return None
    scales = x.scale * weights.scales()
    steps = np.rint(data.astype(np.float64) / scales)
    if not np.all(np.abs(steps) < 2**31):
        return None
    dtype = np.int64 if x.elem is Elem.S16 else np.int32
    spread = np.broadcast_to(scales, data.shape)
    axis = 0 if weights.axis is not None else None
    quant = Quant.per_channel(spread, 0) if axis == 0 else Quant.per_tensor(float(scales[0]))
    return constant(graph, f"{name}_quantized", steps.astype(dtype), quant)


def to_int8(graph: Graph) -> bool:
    """uint8 values inside the graph become int8 with the zero point 128 lower; the graph's border stays as it is."""
    changed = False
    for name, value in list(graph.values.items()):
        quant = value.type.quant
        if value.type.elem is not Elem.U8 or quant is None or quant.axis is not None:
            continue
        if value.data is not None:
            if any(_takes_int8(graph, reader) for reader in graph.consumers(name)):
                value.data = (value.data.astype(np.int16) - 128).astype(np.int8)
                value.type = Type(value.type.shape, Elem.S8, _lower(quant))
                changed = True
        elif name in graph.inputs:
            changed = _behind_input(graph, name) or changed
        else:
            changed = _inside(graph, name) or changed
    return changed


def _takes_int8(graph: Graph, node: Node) -> bool:
    return any(graph.type(name).elem in (Elem.S8, Elem.U8) for name in node.outputs)


def _lower(quant: Quant) -> Quant:
    return dataclasses.replace(quant, zero_point=tuple(zero - 128 for zero in quant.zero_point))


def _behind_input(graph: Graph, name: str) -> bool:
    kind = graph.type(name)
    readers = graph.consumers(name)
    if not readers or graph.is_kept(name) or all(reader.op.name == "quantize" for reader in readers):
        return False
    assert kind.quant is not None
    value = graph.add_value(f"{name}_int8", Type(kind.shape, Elem.S8, _lower(kind.quant)))
    graph.replace_uses(name, value)
    graph.add_node(f"{name}_int8", Quantize(elem=Elem.S8), (name,), outputs=(value,), index=0)
    return True


def _from_int8(graph: Graph, writer: Node | None) -> bool:
    """True of what was int8 inside and is on its way out; passes may have let it be moved after it became uint8."""
    while writer is not None and writer.op.name in MOVES:
        writer = graph.producer(str(writer.inputs[0]))
    return writer is not None and writer.op.name == "quantize" and graph.type(str(writer.inputs[0])).elem is Elem.S8


def _inside(graph: Graph, name: str) -> bool:
    writer, kind = graph.producer(name), graph.type(name)
    if writer is None or any(state.read == name or state.write == name for state in graph.states):
        return False
    if _from_int8(graph, writer):
        return False
    assert kind.quant is not None
    inner = Type(kind.shape, Elem.S8, _lower(kind.quant))
    if writer.op.name == "quantize":
        writer.op = dataclasses.replace(writer.op, elem=Elem.S8)
    if name not in graph.outputs:
        graph.values[name].type = inner
        return True
    value = graph.add_value(f"{name}_int8", inner)
    writer.outputs = tuple(value if output == name else output for output in writer.outputs)
    for reader in graph.consumers(name):
        reader.inputs = tuple(value if n == name else n for n in reader.inputs)
    graph.add_node(f"{name}_uint8", Quantize(elem=Elem.U8), (value,), outputs=(name,))
    return True
