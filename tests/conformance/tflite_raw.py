"""TFLite models of one operator, named as TFLite names it, and LiteRT's reference kernels on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.conformance.tflite_build import Reference
from tests.conftest import need_module
from tinydeploy.ir.types import Elem, Type

_NAMES = {elem: elem.value.upper() for elem in Elem}


def model(
    kind: str,
    inputs: Sequence[Type],
    outputs: Sequence[Type],
    options: Mapping[str, object] | None = None,
    constants: Mapping[int, np.ndarray] | None = None,
    table: str = "",
) -> bytes:
    """``options``: fields of the options table ``table`` (default: the operator's own). ``constants``: by input."""
    need_module("ai_edge_litert")
    import flatbuffers
    from ai_edge_litert import schema_py_generated as fb

    file, graph, node, code = fb.ModelT(), fb.SubGraphT(), fb.OperatorT(), fb.OperatorCodeT()
    file.version, file.buffers, graph.tensors, graph.inputs = 3, [fb.BufferT()], [], []

    def add(name: str, type_: Type, data: np.ndarray | None = None) -> int:
        tensor = fb.TensorT()
        tensor.name, tensor.shape = name, list(type_.shape)
        tensor.type = getattr(fb.TensorType, _NAMES[type_.elem])
        if type_.quant is not None:
            tensor.quantization = fb.QuantizationParametersT()
            tensor.quantization.scale = list(type_.quant.scale)
            tensor.quantization.zeroPoint = list(type_.quant.zero_point)
        if data is not None:
            buffer = fb.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            file.buffers.append(buffer)
            tensor.buffer = len(file.buffers) - 1
        graph.tensors.append(tensor)
        return len(graph.tensors) - 1

    known = constants or {}
    node.inputs = [add(f"in{i}", type_, known.get(i)) for i, type_ in enumerate(inputs)]
    graph.inputs = [number for i, number in enumerate(node.inputs) if i not in known]
    graph.outputs = [add(f"out{i}", type_) for i, type_ in enumerate(outputs)]
    node.opcodeIndex, node.outputs = 0, graph.outputs
    table = table or "".join(word.capitalize() for word in kind.split("_"))
    made = getattr(fb, f"{table}OptionsT", None)
    if made is not None:
        fields = made()
        for name, value in (options or {}).items():
            setattr(fields, name, value)
        second = not hasattr(fb.BuiltinOptions, f"{table}Options")
        union = fb.BuiltinOptions2 if second else fb.BuiltinOptions
        setattr(node, "builtinOptions2Type" if second else "builtinOptionsType", getattr(union, f"{table}Options"))
        setattr(node, "builtinOptions2" if second else "builtinOptions", fields)
    code.builtinCode = getattr(fb.BuiltinOperator, kind)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
    graph.operators, file.operatorCodes, file.subgraphs = [node], [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(file.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run(data: bytes, *arrays: np.ndarray, optimised: bool = False) -> np.ndarray:
    """The first output of LiteRT's reference kernels, or of its optimised ones where it has no other."""
    if not optimised:
        return Reference(data)(*arrays)[0]
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy()
