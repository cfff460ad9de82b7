"""Builds one-operator TFLite models from our operators and runs LiteRT's reference kernels on them."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.conftest import need_module
from tinydeploy.ir.types import Elem, Quant, Type
from tinydeploy.ops._op import Op, Signature

_TENSOR_TYPES = {
    Elem.F32: "FLOAT32",
    Elem.S8: "INT8",
    Elem.U8: "UINT8",
    Elem.S16: "INT16",
    Elem.S32: "INT32",
    Elem.S64: "INT64",
    Elem.BOOL: "BOOL",
}


@dataclasses.dataclass
class Extra:
    """A constant input that TFLite has and our operator keeps as an attribute."""

    data: np.ndarray
    elem: Elem = Elem.S32


def build(op: Op, sig: Signature, constants: dict[int, np.ndarray], *, fused: str = "NONE") -> bytes:
    """A model of one node. ``constants``: data of inputs by index; the others are the model's inputs.

    ``fused``: TFLite's name of the fused activation; the operator's own clamp is not read.
    """
    import flatbuffers
    from ai_edge_litert import schema_py_generated as fb

    kind, options, extras = _translate(fb, op, sig, fused)
    model, graph = fb.ModelT(), fb.SubGraphT()
    model.version = 3
    model.buffers = [fb.BufferT()]
    graph.tensors, graph.inputs, node_inputs = [], [], []

    def add(name: str, tensor_kind: Type, data: np.ndarray | None) -> int:
        tensor = fb.TensorT()
        tensor.name, tensor.shape = name, list(tensor_kind.shape)
        tensor.type = getattr(fb.TensorType, _TENSOR_TYPES[tensor_kind.elem])
        if tensor_kind.quant is not None:
            quant = fb.QuantizationParametersT()
            quant.scale = list(tensor_kind.quant.scale)
            quant.zeroPoint = list(tensor_kind.quant.zero_point)
            quant.quantizedDimension = tensor_kind.quant.axis or 0
            tensor.quantization = quant
        if data is not None:
            buffer = fb.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            model.buffers.append(buffer)
            tensor.buffer = len(model.buffers) - 1
        graph.tensors.append(tensor)
        return len(graph.tensors) - 1

    kinds = sig.inputs if kind == "FULLY_CONNECTED" else [k for k in sig.inputs if k is not None]
    for index, tensor_kind in enumerate(kinds):
        if tensor_kind is None:
            node_inputs.append(-1)
            continue
        number = add(f"in{index}", tensor_kind, constants.get(index))
        node_inputs.append(number)
        if index not in constants:
            graph.inputs.append(number)
    if kind == "TRANSPOSE_CONV":
        node_inputs[:2] = node_inputs[1::-1]  # weights come before the input there
    for position, extra in extras:
        data = extra.data.astype(extra.elem.dtype)
        node_inputs.insert(position, add(f"extra{position}", Type(data.shape, extra.elem), data))
    graph.outputs = [add(f"out{index}", tensor_kind, None) for index, tensor_kind in enumerate(sig.outputs)]

    node = fb.OperatorT()
    node.opcodeIndex, node.inputs, node.outputs = 0, node_inputs, graph.outputs
    if options is not None:
        node.builtinOptionsType = getattr(fb.BuiltinOptions, type(options).__name__[:-1])
        node.builtinOptions = options
    graph.operators = [node]
    code = fb.OperatorCodeT()
    code.builtinCode = getattr(fb.BuiltinOperator, kind)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = 1
    model.operatorCodes, model.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run(model: bytes | str, *inputs: np.ndarray) -> list[np.ndarray]:
    """Outputs of LiteRT's reference kernels for one set of inputs, in the model's order."""
    return Reference(model)(*inputs)


class Reference:
    """A model loaded once with the BUILTIN_REF resolver. ``every_tensor``: intermediate results can be read too."""

    def __init__(self, model: bytes | str, *, every_tensor: bool = False) -> None:
        need_module("ai_edge_litert")
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        source = {"model_content": model} if isinstance(model, bytes) else {"model_path": str(model)}
        self.interpreter = Interpreter(
            **source,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=every_tensor,
        )
        self.interpreter.allocate_tensors()

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        for detail, array in zip(self.interpreter.get_input_details(), inputs, strict=True):
            self.interpreter.set_tensor(detail["index"], array)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(d["index"]).copy() for d in self.interpreter.get_output_details()]


def s8(shape, scale: float | None = None, zero_point: int = 0) -> Type:
    """An int8 type with one scale."""
    return Type(tuple(shape), Elem.S8, None if scale is None else Quant.per_tensor(scale, zero_point))


def assert_twin(op: Op, sig: Signature, *arrays, constants: tuple[int, ...] = (), fused: str = "NONE") -> None:
    """The integer twin's results are LiteRT's, bit for bit. ``constants``: indices of constant inputs."""
    need_module("ai_edge_litert")
    model = build(op, sig, {i: arrays[i] for i in constants if arrays[i] is not None}, fused=fused)
    want = run(model, *[a for i, a in enumerate(arrays) if i not in constants])
    got = op.integer(sig, *arrays)
    assert len(got) == len(want) == len(sig.outputs)
    for ours, theirs, kind in zip(got, want, sig.outputs, strict=True):
        assert ours.shape == kind.shape
        assert ours.dtype == kind.elem.dtype
        np.testing.assert_array_equal(ours, theirs.reshape(ours.shape))


def assert_float(
    op: Op, *arrays, constants: tuple[int, ...] = (), fused: str = "NONE", tolerance: float = 1e-5
) -> None:
    """The float reference agrees with LiteRT's float kernel within ``tolerance`` of the largest result."""
    need_module("ai_edge_litert")
    kinds = tuple(None if a is None else Type(a.shape, Elem.F32) for a in arrays)
    sig = Signature(kinds, op.infer(kinds))
    model = build(op, sig, {i: arrays[i] for i in constants if arrays[i] is not None}, fused=fused)
    want = run(model, *[a for i, a in enumerate(arrays) if i not in constants])
    for ours, theirs, kind in zip(op.reference(*arrays), want, sig.outputs, strict=True):
        assert ours.shape == kind.shape
        assert ours.dtype == np.float32
        np.testing.assert_allclose(
            ours, theirs.reshape(ours.shape), rtol=tolerance, atol=tolerance * float(np.abs(theirs).max(initial=1e-30))
        )


def same_padding(size: tuple[int, int], kernel, stride, dilation=(1, 1)) -> tuple[int, int, int, int]:
    """TensorFlow's SAME padding (top, bottom, left, right): the odd one at the end."""
    pads = []
    for n, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads += [total // 2, total - total // 2]
    return tuple(pads)


def _padding(fb, op, shape, kernel) -> int:
    if op.padding == (0, 0, 0, 0):
        return fb.Padding.VALID
    assert op.padding == same_padding(shape[1:3], kernel, op.stride, getattr(op, "dilation", (1, 1)))
    return fb.Padding.SAME


def _translate(fb, op: Op, sig: Signature, fused: str):
    """TFLite's operator name, options, and the constant inputs it has where we have attributes: (position, data)."""
    x = sig.inputs[0]
    activation = getattr(fb.ActivationFunctionType, fused)
    match op.name:
        case "conv2d" | "depthwise_conv2d":
            name = "CONV_2D" if op.name == "conv2d" else "DEPTHWISE_CONV_2D"
            options = fb.Conv2DOptionsT() if op.name == "conv2d" else fb.DepthwiseConv2DOptionsT()
            options.strideH, options.strideW = op.stride
            options.dilationHFactor, options.dilationWFactor = op.dilation
            options.padding = _padding(fb, op, x.shape, sig.inputs[1].shape[1:3])
            options.fusedActivationFunction = activation
            if op.name == "depthwise_conv2d":
                options.depthMultiplier = op.multiplier
            return name, options, []
        case "fully_connected":
            options = fb.FullyConnectedOptionsT()
            options.fusedActivationFunction = activation
            options.keepNumDims = x.rank != 2
            return "FULLY_CONNECTED", options, []
        case "add" | "sub" | "mul":
            options = {"add": fb.AddOptionsT, "sub": fb.SubOptionsT, "mul": fb.MulOptionsT}[op.name]()
            options.fusedActivationFunction = activation
            if op.name != "mul":
                options.potScaleInt16 = op.pot_scale_int16
            return op.name.upper(), options, []
        case "average_pool2d" | "max_pool2d":
            options = fb.Pool2DOptionsT()
            options.filterHeight, options.filterWidth = op.kernel
            options.strideH, options.strideW = op.stride
            options.padding = _padding(fb, op, x.shape, op.kernel)
            options.fusedActivationFunction = activation
            return "AVERAGE_POOL_2D" if op.name == "average_pool2d" else "MAX_POOL_2D", options, []
        case "mean":
            options = fb.ReducerOptionsT()
            options.keepDims = op.keep_dims
            return "MEAN", options, [(1, Extra(np.array(op.axes)))]
        case "softmax":
            options = fb.SoftmaxOptionsT()
            options.beta = op.beta
            return "SOFTMAX", options, []
        case "concat":
            options = fb.ConcatenationOptionsT()
            options.axis, options.fusedActivationFunction = op.axis, activation
            return "CONCATENATION", options, []
        case "split":
            options = fb.SplitVOptionsT()
            options.numSplits = len(op.sizes)
            return "SPLIT_V", options, [(1, Extra(np.array(op.sizes))), (2, Extra(np.array(op.axis)))]
        case "strided_slice":
            return (
                "STRIDED_SLICE",
                fb.StridedSliceOptionsT(),
                [
                    (1, Extra(np.array(op.begin))),
                    (2, Extra(np.array(op.end))),
                    (3, Extra(np.array(op.stride))),
                ],
            )
        case "pad":
            return "PAD", fb.PadOptionsT(), [(1, Extra(np.array(op.padding)))]
        case "transpose":
            return "TRANSPOSE", fb.TransposeOptionsT(), [(1, Extra(np.array(op.perm)))]
        case "reshape":
            return "RESHAPE", fb.ReshapeOptionsT(), [(1, Extra(np.array(op.shape)))]
        case "clamp":
            bounds = {(0.0, float("inf")): "RELU", (0.0, 6.0): "RELU6", (-1.0, 1.0): "RELU_N1_TO_1"}
            return bounds[(op.low, op.high)], None, []
        case "cast":
            options = fb.CastOptionsT()
            options.inDataType = getattr(fb.TensorType, _TENSOR_TYPES[x.elem])
            options.outDataType = getattr(fb.TensorType, _TENSOR_TYPES[op.elem])
            return "CAST", options, []
        case "batch_matmul":
            return "BATCH_MATMUL", fb.BatchMatMulOptionsT(), []
        case "transpose_conv2d":
            options = fb.TransposeConvOptionsT()
            options.strideH, options.strideW = op.stride
            options.padding = fb.Padding.SAME if any(op.padding) else fb.Padding.VALID
            options.fusedActivationFunction = activation
            return "TRANSPOSE_CONV", options, [(0, Extra(np.array(sig.outputs[0].shape)))]
        case "leaky_relu":
            options = fb.LeakyReluOptionsT()
            options.alpha = op.alpha
            return "LEAKY_RELU", options, []
        case "gelu":
            options = fb.GeluOptionsT()
            options.approximate = op.approximate
            return "GELU", options, []
        case "logistic" | "tanh" | "quantize" | "dequantize" | "abs" | "exp" | "log" | "rsqrt":
            return op.name.upper(), None, []
    raise AssertionError(op.name)
