"""Builds TFLite models of one recurrent operator, with variables and intermediate tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinydeploy.ir import Elem, Quant, Type

_TENSOR_TYPES = {Elem.F32: "FLOAT32", Elem.S8: "INT8", Elem.S16: "INT16", Elem.S32: "INT32"}


@dataclasses.dataclass
class Tensor:
    """An input of the operator: the model's if it has no ``data``, or a ``variable``."""

    type: Type
    data: np.ndarray | None = None
    variable: bool = False


def f32(*shape: int) -> Type:
    """A float32 type."""
    return Type(shape, Elem.F32)


def quantised(elem: Elem, shape: Sequence[int], scale: float, zero_point: int = 0) -> Type:
    """An integer type with one scale."""
    return Type(tuple(shape), elem, Quant.per_tensor(float(np.float32(scale)), zero_point))


def build(
    kind: str,
    options: Any,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Type],
    intermediates: Sequence[Type] = (),
    version: int = 1,
) -> bytes:
    """A model of one operator. ``options``: its object of the schema's classes."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as fb

    model, graph, node = fb.ModelT(), fb.SubGraphT(), fb.OperatorT()
    model.version, model.buffers = 3, [fb.BufferT()]
    graph.tensors, graph.inputs, node.inputs = [], [], []

    def add(name: str, tensor_kind: Type, data: np.ndarray | None = None, variable: bool = False) -> int:
        tensor = fb.TensorT()
        tensor.name, tensor.shape, tensor.isVariable = name, list(tensor_kind.shape), variable
        tensor.type = getattr(fb.TensorType, _TENSOR_TYPES[tensor_kind.elem])
        if tensor_kind.quant is not None:
            quant = fb.QuantizationParametersT()
            quant.scale, quant.zeroPoint = list(tensor_kind.quant.scale), list(tensor_kind.quant.zero_point)
            tensor.quantization = quant
        if data is not None:
            buffer = fb.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, tensor_kind.elem.dtype).tobytes(), np.uint8)
            model.buffers.append(buffer)
            tensor.buffer = len(model.buffers) - 1
        graph.tensors.append(tensor)
        return len(graph.tensors) - 1

    for index, item in enumerate(inputs):
        node.inputs.append(-1 if item is None else add(f"in{index}", item.type, item.data, item.variable))
        if item is not None and item.data is None and not item.variable:
            graph.inputs.append(node.inputs[-1])
    node.outputs = graph.outputs = [add(f"out{index}", item) for index, item in enumerate(outputs)]
    node.intermediates = [add(f"between{index}", item) for index, item in enumerate(intermediates)]
    node.builtinOptionsType = getattr(fb.BuiltinOptions, type(options).__name__[:-1])
    node.builtinOptions = options
    graph.operators = [node]
    code = fb.OperatorCodeT()
    code.builtinCode = getattr(fb.BuiltinOperator, kind)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
    model.operatorCodes, model.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of a recurrent layer."""

    batch: int = 1
    steps: int = 5
    inputs: int = 3
    hidden: int = 4

    def sequence(self, time_major: bool, features: int) -> tuple[int, int, int]:
        """The shape of a sequence."""
        return (self.steps, self.batch, features) if time_major else (self.batch, self.steps, features)


def float_lstm(
    rng: np.random.Generator,
    sizes: Sizes,
    *,
    time_major: bool = False,
    cell_clip: float = 0.0,
    peephole: bool = False,
    coupled: bool = False,
    activation: str = "TANH",
    small: bool = False,
    kind: str = "UNIDIRECTIONAL_SEQUENCE_LSTM",
) -> bytes:
    """An LSTM in float32; ``coupled``: the input gate is 1 - forget; ``small``: int8 weights; "LSTM" takes one step."""
    from ai_edge_litert import schema_py_generated as fb

    def weight(*shape: int) -> Tensor:
        if small and len(shape) == 2:
            weights = quantised(Elem.S8, shape, rng.uniform(0.003, 0.01))
            return Tensor(weights, rng.integers(-127, 128, shape))
        return Tensor(f32(*shape), rng.normal(0, 0.5, shape))

    hidden, none = sizes.hidden, None
    single = kind == "LSTM"
    options = fb.LSTMOptionsT() if single else fb.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = getattr(fb.ActivationFunctionType, activation)
    options.cellClip = cell_clip
    if not single:
        options.timeMajor = time_major
    from_input = [weight(hidden, sizes.inputs) for _ in range(4)]
    recurrent = [weight(hidden, hidden) for _ in range(4)]
    peepholes = [weight(hidden) if peephole else none for _ in range(3)]
    biases = [weight(hidden) for _ in range(4)]
    if coupled:
        from_input[0] = recurrent[0] = peepholes[0] = biases[0] = none
    states = [Tensor(f32(sizes.batch, hidden), variable=True) for _ in range(2)]
    x, y = (
        f32(sizes.batch, features) if single else f32(*sizes.sequence(time_major, features))
        for features in (sizes.inputs, hidden)
    )
    inputs, outputs = [Tensor(x), *from_input, *recurrent, *peepholes, *biases], [y]
    return build(kind, options, [*inputs, none, none, *states, *[none] * 4], outputs)


def integer_lstm(
    rng: np.random.Generator,
    sizes: Sizes,
    *,
    time_major: bool = False,
    cell_clip: float = 0.0,
    cell_bits: int = 11,
    weight_scale: float = 0.02,
    hidden_zero: int = 5,
    input_zero: int = -3,
) -> bytes:
    """UNIDIRECTIONAL_SEQUENCE_LSTM in int8 with an int16 cell state of scale 2**-cell_bits."""
    from ai_edge_litert import schema_py_generated as fb

    hidden, none = sizes.hidden, None
    options = fb.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = fb.ActivationFunctionType.TANH
    options.cellClip, options.timeMajor = cell_clip, time_major
    input_scale, hidden_scale = 0.03, 1 / 127

    def weight(*shape: int) -> Tensor:
        scale = weight_scale * float(rng.uniform(0.3, 2))
        return Tensor(quantised(Elem.S8, shape, scale), rng.integers(-127, 128, shape))

    from_input = [weight(hidden, sizes.inputs) for _ in range(4)]
    recurrent = [weight(hidden, hidden) for _ in range(4)]
    biases = [
        Tensor(quantised(Elem.S32, (hidden,), w.type.scale * input_scale), rng.integers(-3000, 3000, hidden))
        for w in from_input
    ]
    output = quantised(Elem.S8, sizes.sequence(time_major, hidden), hidden_scale, hidden_zero)
    states = [
        Tensor(quantised(Elem.S8, (sizes.batch, hidden), hidden_scale, hidden_zero), variable=True),
        Tensor(quantised(Elem.S16, (sizes.batch, hidden), 2.0**-cell_bits), variable=True),
    ]
    x = Tensor(quantised(Elem.S8, sizes.sequence(time_major, sizes.inputs), input_scale, input_zero))
    between = [quantised(Elem.S16, (1,), 2.0**-12)] * 4 + [quantised(Elem.S8, (1,), hidden_scale, hidden_zero)]
    inputs = [x, *from_input, *recurrent, none, none, none, *biases, none, none, *states, *[none] * 4]
    return build("UNIDIRECTIONAL_SEQUENCE_LSTM", options, inputs, [output], between)


def simple_rnn(rng: np.random.Generator, sizes: Sizes, kind: str, *, activation: str = "TANH", **more: Any) -> bytes:
    """RNN, UNIDIRECTIONAL_SEQUENCE_RNN or BIDIRECTIONAL_SEQUENCE_RNN in float32; ``small``: int8 weights."""
    from ai_edge_litert import schema_py_generated as fb

    def weight(*shape: int) -> Tensor:
        if more.get("small") and len(shape) == 2:
            return Tensor(quantised(Elem.S8, shape, 0.007), rng.integers(-127, 128, shape))
        return Tensor(f32(*shape), rng.normal(0, 0.5, shape))

    def direction() -> list[Tensor]:
        state = Tensor(f32(sizes.batch, sizes.hidden), variable=True)
        hidden = sizes.hidden
        return [weight(hidden, sizes.inputs), weight(hidden, hidden), weight(hidden), state]

    names = {"RNN": "RNNOptionsT", "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptionsT"}
    options = getattr(fb, names.get(kind, "BidirectionalSequenceRNNOptionsT"))()
    options.fusedActivationFunction = getattr(fb.ActivationFunctionType, activation)
    time_major = bool(more.get("time_major"))
    if kind == "RNN":
        x, outputs = f32(sizes.batch, sizes.inputs), [f32(sizes.batch, sizes.hidden)]
    else:
        x, outputs = f32(*sizes.sequence(time_major, sizes.inputs)), [f32(*sizes.sequence(time_major, sizes.hidden))]
        options.timeMajor = time_major
    if not kind.startswith("BI"):
        return build(kind, options, [Tensor(x), *direction()], outputs)
    options.mergeOutputs = bool(more.get("merge"))
    if options.mergeOutputs:
        outputs = [f32(*sizes.sequence(time_major, 2 * sizes.hidden))]
    else:
        outputs = outputs * 2
    return build(kind, options, [Tensor(x), *direction(), *direction(), None, None, None], outputs)


def bidirectional_lstm(
    rng: np.random.Generator, sizes: Sizes, *, time_major: bool = False, merge: bool = True
) -> bytes:
    """BIDIRECTIONAL_SEQUENCE_LSTM in float32."""
    from ai_edge_litert import schema_py_generated as fb

    def weight(*shape: int) -> Tensor:
        return Tensor(f32(*shape), rng.normal(0, 0.5, shape))

    hidden, none = sizes.hidden, None
    options = fb.BidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = fb.ActivationFunctionType.TANH
    options.timeMajor, options.mergeOutputs, options.cellClip = time_major, merge, 0.7

    def direction() -> list[Tensor | None]:
        from_input = [weight(hidden, sizes.inputs) for _ in range(4)]
        recurrent = [weight(hidden, hidden) for _ in range(4)]
        return [*from_input, *recurrent, none, none, none, *(weight(hidden) for _ in range(4)), none, none]

    states = [Tensor(f32(sizes.batch, hidden), variable=True) for _ in range(4)]
    x = Tensor(f32(*sizes.sequence(time_major, sizes.inputs)))
    outputs = [f32(*sizes.sequence(time_major, hidden * (2 if merge else 1)))] * (1 if merge else 2)
    inputs = [x, *direction(), *direction(), *states, *[none] * 9]
    return build("BIDIRECTIONAL_SEQUENCE_LSTM", options, inputs, outputs)


def svdf(
    rng: np.random.Generator, sizes: Sizes, *, rank: int = 2, integer: bool, bias: bool = True, activation: str = "NONE"
) -> bytes:
    """SVDF; ``sizes.steps``: its memory, ``sizes.hidden``: its units."""
    from ai_edge_litert import schema_py_generated as fb

    options = fb.SVDFOptionsT()
    options.rank, options.fusedActivationFunction = rank, getattr(fb.ActivationFunctionType, activation)
    filters, memory, batch, units = sizes.hidden * rank, sizes.steps, sizes.batch, sizes.hidden
    shapes = ((batch, sizes.inputs), (filters, sizes.inputs), (filters, memory), (units,), (batch, memory * filters))
    if integer:
        elems = (Elem.S8, Elem.S8, Elem.S16, Elem.S32, Elem.S16)
        scales = (0.05, 0.01, 0.0003, 0.001 * 0.0003, 0.001)
        kinds = [quantised(e, shape, s) for e, shape, s in zip(elems, shapes, scales, strict=True)]
        kinds[0] = quantised(Elem.S8, shapes[0], 0.05, 7)
        limits = (0, 127, 4000, 40000)
        data = [rng.integers(-limits[i], limits[i] + 1, shapes[i]) for i in range(4)]
        outputs = [quantised(Elem.S8, (batch, units), 0.05, -9)]
    else:
        kinds = [f32(*shape) for shape in shapes]
        data = [rng.normal(0, 0.5, shape) for shape in shapes]
        outputs = [f32(batch, units)]
    weights = [Tensor(kinds[i], data[i]) for i in (1, 2, 3)]
    state = Tensor(kinds[4], variable=True)
    inputs = [Tensor(kinds[0]), *weights[:2], weights[2] if bias else None, state]
    return build("SVDF", options, inputs, outputs, version=3 if integer else 1)
