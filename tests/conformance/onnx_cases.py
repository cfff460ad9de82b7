"""The cases of onnx's own suites, made static: what the operator takes as parameters becomes initialisers.

`collect` gives every case with a verdict: in scope, counted in another line (element types), or left out with a reason.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import REPO
from tinydeploy.ir import Array

IN_SCOPE, OTHER_TYPES, DYNAMIC, OUT_OF_SCOPE = "in scope", "other element types", "dynamic shapes", "out of scope"
ELEMENTS = ("float32", "int8", "int16", "int32", "int64", "uint8", "bool")

_GROUPS = {
    "conv and linear": "Conv ConvTranspose Gemm MatMul Einsum",
    "pool": "AveragePool MaxPool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool MaxUnpool",
    "norm": """BatchNormalization InstanceNormalization LayerNormalization RMSNormalization GroupNormalization LRN
        LpNormalization MeanVarianceNormalization""",
    "activation": """Relu LeakyRelu PRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Softplus Softsign Tanh Gelu Mish
        Swish Shrink ThresholdedRelu Softmax LogSoftmax Hardmax Dropout SwiGLU""",
    "arithmetic": """Abs Acos Acosh Add Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil
        Clip Cos Cosh CumSum CumProd Div Erf Exp Floor Log Max Mean Min Mod Mul Neg Pow Reciprocal Round Sign Sin Sinh
        Sqrt Sub Sum Tan""",
    "shape and move": """BitCast Cast CastLike CenterCropPad Compress Concat Constant ConstantOfShape DepthToSpace
        Expand EyeLike Flatten Gather GatherElements GatherND Identity OneHot Pad Range Reshape Resize ReverseSequence
        Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze
        Upsample Where""",
    "reduce": """ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
        ReduceSum ReduceSumSquare TopK""",
    "compare and logic": "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor",
    "recurrent": "LSTM GRU RNN",
    "quantised": """QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul ConvInteger
        MatMulInteger""",
    "control": "If Loop Scan",
}
GROUP_OF = {op: group for group, names in _GROUPS.items() for op in names.split()}

_LEFT_OUT = {
    "attention": "Attention FlexAttention LinearAttention RotaryEmbedding TensorScatter CausalConvWithState",
    "training": """Adagrad Adam Momentum Gradient NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss""",
    "random numbers": "Bernoulli",
    "spectra": "BlackmanWindow HammingWindow HannWindow DFT STFT MelWeightMatrix",
    "strings, texts and files": """ImageDecoder RegexFullMatch StringConcat StringNormalizer StringSplit
        TfIdfVectorizer""",
    "classical learning (ai.onnx.ml)": "ArrayFeatureExtractor Binarizer LabelEncoder TreeEnsemble",
    "sequences and optionals": """OptionalGetElement OptionalHasElement SequenceInsert SequenceMap SplitToSequence
        SequenceEmpty SequenceConstruct""",
    "sampling and geometry": "AffineGrid Col2Im DeformConv Det GridSample RoiAlign",
}
REASON_OF = {op: reason for reason, names in _LEFT_OUT.items() for op in names.split()}
_DYNAMIC = ("NonZero", "Unique", "NonMaxSuppression")

# Input positions of parameters: what an exporter writes as an initialiser. Everything else is fed at run time.
_PARAMETERS = {
    "BatchNormalization": (1, 2, 3, 4),
    "CastLike": (1,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "Conv": (1, 2),
    "ConvInteger": (1, 2, 3),
    "ConvTranspose": (1, 2),
    "CumProd": (1,),
    "CumSum": (1,),
    "DequantizeLinear": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "GRU": (1, 2, 3, 4),
    "Gemm": (1, 2),
    "GroupNormalization": (1, 2),
    "If": (0,),
    "InstanceNormalization": (1, 2),
    "LSTM": (1, 2, 3, 4, 7),
    "LayerNormalization": (1, 2),
    "Loop": (0, 1),
    "MatMulInteger": (1, 2, 3),
    "MaxUnpool": (2,),
    "OneHot": (1, 2),
    "PRelu": (1,),
    "Pad": (1, 2, 3),
    "QLinearConv": (1, 2, 3, 4, 5, 6, 7, 8),
    "QLinearMatMul": (1, 2, 3, 4, 5, 6, 7),
    "QuantizeLinear": (1, 2),
    "RMSNormalization": (1,),
    "RNN": (1, 2, 3, 4),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "ReverseSequence": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1, 2),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **{name: (1,) for name in _GROUPS["reduce"].split() if name.startswith("Reduce")},
}


@dataclasses.dataclass
class NodeCase:
    """One case: the model as it is given to the import, what it is fed and what must come out."""

    name: str
    suite: str
    op: str
    model: bytes
    feeds: dict[str, Array]
    wanted: dict[str, Array]
    rtol: float
    atol: float
    verdict: str
    reason: str = ""


@functools.cache
def collect() -> tuple[NodeCase, ...]:
    """Every case of the node tests without the expanded twins, and of the three suites that are files of the wheel.

    onnx takes 15 seconds to make them; they are kept in out/ until onnx or this file changes.
    """
    import onnx

    version = hashlib.sha256(onnx.__version__.encode() + Path(__file__).read_bytes()).hexdigest()[:16]
    kept = REPO / "out" / f"onnx-cases-{version}.pickle"
    if kept.is_file():
        return tuple(pickle.loads(kept.read_bytes()))
    found = _collect()
    kept.parent.mkdir(exist_ok=True)
    fresh = kept.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(pickle.dumps(found))
    fresh.rename(kept)
    return tuple(found)


def _collect() -> list[NodeCase]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases overflow and divide by zero on purpose
        found = [_node_case(c) for c in collect_testcases(None) if "_expanded" not in c.name]
    for suite in ("simple", "pytorch-operator", "pytorch-converted"):
        found += [_file_case(folder, suite) for folder in sorted(_data_folder(suite).iterdir())]
    return found


def _data_folder(suite: str) -> Path:
    import onnx.backend.test

    return Path(onnx.backend.test.__file__).parent / "data" / suite


def _node_case(case: Any) -> NodeCase:
    inputs, outputs = case.data_sets[0]
    return _case(case.name, "node", _raised(case.model), list(inputs), list(outputs), case.rtol, case.atol)


def _file_case(folder: Path, suite: str) -> NodeCase:
    import onnx

    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    model = _raised(model)
    kinds = [entry.type for entry in (*model.graph.input, *model.graph.output)]
    inputs: list[Any] = [None]
    outputs: list[Any] = [None]
    if all(kind.HasField("tensor_type") for kind in kinds):
        inputs, outputs = (_tensors(data, role) for role in ("input", "output"))
    return _case(folder.name, suite, model, inputs, outputs, 1e-3, 1e-5)


def _raised(model: Any) -> Any:
    """A model of an opset older than what is read, brought to the first that is by onnx's own converter."""
    import onnx

    if all(entry.version >= 7 for entry in model.opset_import if entry.domain == ""):
        return model
    raised = onnx.version_converter.convert_version(model, 7)
    raised.ir_version = max(raised.ir_version, 4)  # from then on, constants need not be inputs as well
    return raised


def _tensors(folder: Path, role: str) -> list[Any]:
    from onnx import TensorProto, numpy_helper

    files = sorted(folder.glob(f"{role}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [numpy_helper.to_array(TensorProto.FromString(path.read_bytes())) for path in files]


def _case(
    name: str, suite: str, model: Any, inputs: list[Any], outputs: list[Any], rtol: float, atol: float
) -> NodeCase:
    """Move parameters into initialisers and judge the case."""
    graph = model.graph
    ops = [node.op_type for node in graph.node]
    held = {tensor.name for tensor in graph.initializer}
    fed = [entry for entry in graph.input if entry.name not in held]
    operand = next((op for op in ops if op in _PARAMETERS), "")
    first = next((node for node in graph.node if node.op_type == operand), None)
    parameters = {n for i, n in enumerate(first.input) if i in _PARAMETERS[operand]} if first is not None else set()
    main = next((op for op in ops if op not in ("Constant", "Identity")), ops[0] if ops else "")
    case = NodeCase(name, suite, main, b"", {}, {}, rtol, atol, IN_SCOPE)
    case.verdict, case.reason = _verdict(suite, ops, inputs, outputs)
    if case.verdict in (DYNAMIC, OUT_OF_SCOPE):
        return case
    for entry, data in zip(fed, inputs, strict=False):
        if entry.name in parameters:
            _make_constant(graph, entry, data)
        else:
            case.feeds[entry.name] = _array(data)
            shape = entry.type.tensor_type.shape
            shape.SetInParent()
            del shape.dim[:]
            for size in case.feeds[entry.name].shape:
                shape.dim.add().dim_value = size
    case.wanted = {entry.name: _array(data) for entry, data in zip(graph.output, outputs, strict=True)}
    case.model = model.SerializeToString()
    return case


def _array(data: Any) -> Array:
    """What a case gives for a tensor: an array, a scalar, or a protobuf where NumPy has no such type of its own."""
    from onnx import TensorProto, numpy_helper

    return np.asarray(numpy_helper.to_array(data) if isinstance(data, TensorProto) else data)


def _make_constant(graph: Any, entry: Any, data: Any) -> None:
    from onnx import TensorProto, numpy_helper

    tensor = data if isinstance(data, TensorProto) else numpy_helper.from_array(np.asarray(data))
    tensor.name = entry.name
    assert tensor.data_type == entry.type.tensor_type.elem_type, entry
    graph.initializer.append(tensor)
    graph.input.remove(entry)


def _verdict(suite: str, ops: list[str], inputs: list[Any], outputs: list[Any]) -> tuple[str, str]:
    for op in ops:
        if op in REASON_OF:
            return OUT_OF_SCOPE, REASON_OF[op]
        if op in _DYNAMIC:
            return DYNAMIC, f"the shape of {op}'s result depends on data"
        if suite == "node" and op not in GROUP_OF:
            return OUT_OF_SCOPE, "no group of ours"
    arrays = [*inputs, *outputs]
    if ops == ["Dropout"] and len(inputs) == 3 and np.all(inputs[2]) and np.any(inputs[1]):
        return OUT_OF_SCOPE, "random numbers"
    if any(array is None or isinstance(array, list) for array in arrays):
        return OUT_OF_SCOPE, "sequences and optionals"
    types = {_array(array).dtype.name for array in arrays}
    if any(name.startswith(("object", "str", "bytes")) for name in types):
        return OUT_OF_SCOPE, "strings, texts and files"
    others = sorted(types - set(ELEMENTS))
    return (OTHER_TYPES, ", ".join(others)) if others else (IN_SCOPE, "")
