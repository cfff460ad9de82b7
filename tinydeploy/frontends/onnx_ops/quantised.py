"""Quantised ONNX: to and from integers, and the operators that do so around an operator on real numbers.

QLinearConv and its like become dequantise, compute, quantise; `passes.fold_qdq` makes integer operators of that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinydeploy.frontends.onnx_call import (
    MOVES,
    TRANSLATIONS,
    Call,
    Known,
    Results,
    Source,
    folds,
    normal_axis,
    refuse,
    translates,
)
from tinydeploy.frontends.onnx_graphs import RawNode
from tinydeploy.ir import Array, Elem, Quant

_TARGETS = {"int8": Elem.S8, "uint8": Elem.U8, "int16": Elem.S16, "uint16": Elem.U16}
_NUMBERED = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 21: "uint4", 22: "int4", 25: "uint2", 26: "int2"}
_NARROW = {"uint4": (0, 15), "int4": (-8, 7), "uint2": (0, 3), "int2": (-2, 1)}
_OPSET = 21  # in which the operators within are written


def _spread(values: Array, call: Call, shape: tuple[int, ...]) -> Array:
    """Scales or zero points so that they broadcast against ``shape``. Source: ONNX QuantizeLinear-25, "granularity"."""
    block = call.attribute("block_size", 0)
    axis = call.attribute("axis", 1)
    if values.size == 1:
        return values.reshape(())
    place = normal_axis(axis, len(shape))
    if values.ndim == 1 and values.size == shape[place]:
        return values.reshape(tuple(-1 if i == place else 1 for i in range(len(shape))))
    sizes = tuple(-(-d // block) if i == place and block > 0 else d for i, d in enumerate(shape))
    if block < 1 or values.shape != sizes:
        raise refuse(f"scales {list(values.shape)} of a tensor {list(shape)}", "one, one an index, or one a block")
    taken: Array = np.repeat(values, block, axis=place)[tuple(slice(d) for d in shape)]
    return taken


@folds("DequantizeLinear")
@folds("DequantizeLinear", domain="com.microsoft")
def dequantize_constant(call: Call) -> Results:
    """``(x - zero_point) * scale`` of constants; what has no zero points may stay integers in the graph."""
    x, scale = call.constant(0, "x"), call.constant(1, "scale").astype(np.float32)
    call.ignore("output_dtype")
    zero = call.optional(2, "zero point")
    shape = tuple(x.shape)
    real = x.astype(np.float64)
    if zero is not None and zero.any():
        real = real - _spread(zero.astype(np.float64), call, shape)
    elif scale.ndim < 2:
        call.origins.scales[call.node.outputs[0]] = scale.ravel()
    return ((real * _spread(scale, call, shape).astype(np.float64)).astype(np.float32),)


@translates("DequantizeLinear", keep=True)
@translates("DequantizeLinear", domain="com.microsoft", keep=True)
def dequantize_linear(call: Call) -> Results:
    """``(x - zero_point) * scale``. Source: ONNX DequantizeLinear-25."""
    call.ignore("output_dtype")
    x = call.value(0)
    shape = call.type(x).shape
    scale, zero = _operand(call, 1, shape), _operand(call, 2, shape)
    quant = _one(scale, zero)
    call.ignore("axis", "block_size")
    if quant is not None and call.type(x).elem in _TARGETS.values() and _annotate(call, x, quant):
        return (call.emit("dequantize", x),)
    if call.type(x).quant is not None:
        raise refuse("takes integers that were quantised with another scale", "one scale a tensor")
    y = call.emit("cast", x, elem=Elem.F32)
    if zero is not None and not (isinstance(zero, np.ndarray) and not zero.any()):
        y = call.emit("sub", y, _real(call, zero, 2))
    return (call.emit("mul", y, _real(call, scale, 1)),)


def _operand(call: Call, index: int, shape: tuple[int, ...]) -> Known:
    """Scale or zero point: a constant that broadcasts, or the name of a computed one for the whole tensor."""
    if not call.has(index):
        return None
    source = call.sources[index]
    if isinstance(source, str):
        if call.type(source).size != 1:
            raise refuse(f"input {index} is computed and has shape {list(call.type(source).shape)}", "one element")
        return call.reshape(source, ())
    return _spread(call.constant(index, "scale"), call, shape)


def _one(scale: Known, zero: Known) -> Quant | None:
    """The mapping if scale and zero point are single constants."""
    if not isinstance(scale, np.ndarray) or scale.size != 1 or isinstance(zero, str) or not scale > 0:
        return None
    if zero is not None and zero.size != 1:
        return None
    return Quant.per_tensor(float(scale), 0 if zero is None else int(zero))


def _real(call: Call, source: Known, index: int) -> str:
    """A scale or zero point as a float32 value."""
    if isinstance(source, str):
        return source if call.type(source).elem is Elem.F32 else call.emit("cast", source, elem=Elem.F32)
    assert source is not None
    return call.hold(source.astype(np.float32), call.node.inputs[index])


def _annotate(call: Call, name: str, quant: Quant) -> bool:
    """Write a quantisation into integers of the graph, back to where they come from; False if they have another one."""
    graph = call.builder.graph
    kind = graph.type(name)
    if kind.quant is not None:
        return kind.quant == quant
    writer = graph.producer(name)
    if writer is not None:
        if writer.op.name not in MOVES - {"pad"}:
            return False
        sources = [n for n in writer.inputs if n is not None and graph.type(n).elem is kind.elem]
        if any(graph.constant(n) is not None for n in sources) or not all(_annotate(call, n, quant) for n in sources):
            return False
    for other in (name,) if writer is None else writer.outputs:
        if graph.type(other).elem is kind.elem:
            graph.values[other].type = dataclasses.replace(graph.type(other), quant=quant)
    return True


@translates("QuantizeLinear", keep=True)
@translates("QuantizeLinear", domain="com.microsoft", keep=True)
@folds("QuantizeLinear")
def quantize_linear(call: Call) -> Results:
    """``saturate(round(x / scale) + zero_point)``, halves to even. Source: ONNX QuantizeLinear-25."""
    call.ignore("saturate", "precision")  # of targets that are floats, and of the division's type
    x = call.float_value(0)
    shape = call.type(x).shape
    target = _NUMBERED.get(call.attribute("output_dtype", 0), "uint8")
    if call.has(2):
        kind = call.sources[2]
        assert kind is not None
        target = call.type(kind).elem.value if isinstance(kind, str) else kind.dtype.name
        target = call.origins.narrow.get(call.node.inputs[2], target)
    if target not in _TARGETS and target not in _NARROW:
        raise refuse(f"quantises to {target}", "integers of up to 16 bits")
    scale, zero = _operand(call, 1, shape), _operand(call, 2, shape)
    call.ignore("axis", "block_size")
    quant = _one(scale, zero)
    if quant is not None and target in _TARGETS:
        return (quantised(call, x, _TARGETS[target], quant),)
    low, high = _NARROW.get(target) or _TARGETS[target].limits
    y = call.emit("round", call.emit("div", x, _real(call, scale, 1)))
    if zero is not None:
        y = call.emit("add", y, _real(call, zero, 2))
    elem = _TARGETS.get(target, Elem.U8 if target.startswith("u") else Elem.S8)
    return (call.emit("cast", call.emit("clamp", y, low=float(low), high=float(high)), elem=elem),)


def quantised(call: Call, x: str, elem: Elem, quant: Quant) -> str:
    """A float value in integers."""
    y = call.emit("quantize", x, elem=elem, half_even=True)
    value = call.builder.graph.values[y]
    value.type = dataclasses.replace(value.type, quant=quant)
    return y


@translates("DynamicQuantizeLinear")
def dynamic_quantize_linear(call: Call) -> Results:
    """uint8 over the range of the very data, 0 included. Source: ONNX DynamicQuantizeLinear-11."""
    x = call.float_value(0)
    axes = tuple(range(call.type(x).rank))
    nothing = call.hold(np.asarray(0, np.float32), "zero")
    low, high = (call.emit(f"reduce_{way}", x, axes=axes, keep_dims=False) if axes else x for way in ("min", "max"))
    low, high = call.emit("minimum", low, nothing), call.emit("maximum", high, nothing)
    steps = call.hold(np.asarray(255, np.float32), "steps")
    scale = call.emit("div", call.emit("sub", high, low), steps)
    one = call.hold(np.asarray(1, np.float32), "one")  # all data is 0: any scale will do
    safe = call.emit("select", call.emit("equal", scale, nothing), one, scale)
    zero = call.emit("div", call.emit("sub", nothing, low), safe)
    zero = call.emit("clamp", call.emit("round", zero), low=0.0, high=255.0)
    y = call.emit("add", call.emit("round", call.emit("div", x, safe)), zero)
    y = call.emit("clamp", y, low=0.0, high=255.0)
    return call.emit("cast", y, elem=Elem.U8), safe, call.emit("cast", zero, elem=Elem.U8)


def _real_input(call: Call, index: int, **attributes: Any) -> tuple[Source, str]:
    """Operand ``index`` with its scale and zero point after it, in real numbers; and the name of its tensor."""
    name = call.node.inputs[index]
    sources = tuple(call.sources[i] if call.has(i) else None for i in range(index, index + 3))
    inner = _within(call, "DequantizeLinear", sources, (f"{name}",) * 3, attributes)
    constant = all(not isinstance(source, str) for source in sources)
    inner.node = dataclasses.replace(inner.node, outputs=(f"{name} dequantised",))
    (result,) = (dequantize_constant if constant else dequantize_linear)(inner)
    return result, f"{name} dequantised"


def _within(
    call: Call, op_type: str, sources: Sequence[Known], names: Sequence[str], attributes: dict[str, Any]
) -> Call:
    """A node inside a node. ``names``: of the tensors that the sources were made from."""
    label = call.node.label
    node = RawNode(label, op_type, "", tuple(names), (call.node.outputs[0],), attributes)
    inner = Call(node, _OPSET, call.builder, tuple(sources), 1, origins=call.origins)
    inner.asked = call.asked
    return inner


def _through(call: Call, op_type: str, operands: Sequence[tuple[Source, str]], **attributes: Any) -> str:
    """The result of an operator on real numbers, by its own translation."""
    given = {**call.node.attributes, **attributes}
    sources, names = [source for source, _ in operands], [name for _, name in operands]
    (result, *_) = TRANSLATIONS["", op_type](_within(call, op_type, sources, names, given))
    assert isinstance(result, str)
    return result


def _back(call: Call, y: str, index: int) -> Results:
    """``y`` in the integers that the scale and zero point at ``index`` tell."""
    sources = (y, call.sources[index], call.sources[index + 1] if call.has(index + 1) else None)
    names = ("", *call.node.inputs[index : index + 2])
    return quantize_linear(_within(call, "QuantizeLinear", sources, names, {}))


@translates("QLinearConv")
def qlinear_conv(call: Call) -> Results:
    """x, w and y with scale and zero point each, an int32 bias. Source: ONNX QLinearConv-10."""
    operands = [_real_input(call, 0), _real_input(call, 3, axis=0)]
    if call.has(8):
        scale = call.constant(1, "scale").astype(np.float32) * call.constant(4, "scale").astype(np.float32)
        bias = call.constant(8, "bias").astype(np.float64) * scale.ravel().astype(np.float64)
        operands.append((bias.astype(np.float32), call.node.inputs[8]))
    return _back(call, _through(call, "Conv", operands), 6)


@translates("QLinearMatMul")
@translates("QLinearMatMul", domain="com.microsoft")
def qlinear_matmul(call: Call) -> Results:
    """a, b and y with scale and zero point each. Source: ONNX QLinearMatMul-21."""
    rank = len(call.shape_of(3))
    operands = [_real_input(call, 0, axis=max(len(call.shape_of(0)) - 2, 0)), _real_input(call, 3, axis=rank - 1)]
    return _back(call, _through(call, "MatMul", operands), 6)


@translates("QGemm", domain="com.microsoft")
def qgemm(call: Call) -> Results:
    """A, B, an int32 C and perhaps y's scale. Source: ONNX Runtime contrib operators, QGemm."""
    axis = 0 if call.attribute("transB", 0) else 1
    operands = [_real_input(call, 0), _real_input(call, 3, axis=axis)]
    alpha = np.float64(call.attribute("alpha", 1.0))
    if call.has(6):
        scale = call.constant(1, "scale").astype(np.float64) * call.constant(4, "scale").astype(np.float64)
        bias = call.constant(6, "C").astype(np.float64) * scale.ravel() * alpha
        operands.append((bias.astype(np.float32), call.node.inputs[6]))
    y = _through(call, "Gemm", operands)
    return _back(call, y, 7) if call.has(7) else (y,)


@translates("QLinearAdd", "QLinearMul", domain="com.microsoft")
def qlinear_binary(call: Call) -> Results:
    """A, B and C with scale and zero point each. Source: ONNX Runtime contrib operators."""
    operator = call.node.op_type.removeprefix("QLinear")
    return _back(call, _through(call, operator, [_real_input(call, 0), _real_input(call, 3)]), 6)


_ONE = {"QLinearSigmoid": "Sigmoid", "QLinearLeakyRelu": "LeakyRelu", "QLinearReduceMean": "ReduceMean"}


@translates(*_ONE, domain="com.microsoft")
def qlinear_unary(call: Call) -> Results:
    """X and Y with scale and zero point each. Source: ONNX Runtime contrib operators."""
    return _back(call, _through(call, _ONE[call.node.op_type], [_real_input(call, 0)]), 3)


@translates("QLinearAveragePool", "QLinearGlobalAveragePool", domain="com.microsoft")
def qlinear_pool(call: Call) -> Results:
    """X and Y with scale and zero point each, channels first. Source: ONNX Runtime contrib operators."""
    if call.attribute("channels_last", 0):
        raise refuse("channels_last is set", "channels first", "export before ONNX Runtime optimises the model")
    return _back(call, _through(call, call.node.op_type.removeprefix("QLinear"), [_real_input(call, 0)]), 3)


@translates("QLinearSoftmax", domain="com.microsoft")
def qlinear_softmax(call: Call) -> Results:
    """X and Y with scale and zero point each; ``opset`` tells which Softmax. Source: ONNX Runtime contrib operators."""
    inner = _within(call, "Softmax", [_real_input(call, 0)[0]], [""], dict(call.node.attributes))
    inner.opset = call.attribute("opset", 13)
    (y,) = TRANSLATIONS["", "Softmax"](inner)
    assert isinstance(y, str)
    return _back(call, y, 3)


@translates("QLinearConcat", domain="com.microsoft")
def qlinear_concat(call: Call) -> Results:
    """Y's scale and zero point, then three inputs an operand. Source: ONNX Runtime contrib operators."""
    if len(call.sources) < 5 or len(call.sources) % 3 != 2:
        raise refuse(f"has {len(call.sources)} inputs", "two, and three an operand")
    operands = [_real_input(call, index) for index in range(2, len(call.sources), 3)]
    return _back(call, _through(call, "Concat", operands), 0)
