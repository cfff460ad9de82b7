"""Lines of "ONNX import" in ../shared/PITFALLS.md, each a tiny model; the right values are ONNX Runtime's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import need_module
from tests.pitfalls.whole import agreed, in_c, normal
from tests.unit.frontends import onnx_build
from tinydeploy import pipeline
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.ops.execute import run_float

need_module("onnx", "onnxruntime")
F32 = np.float32


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, inputs, outputs, **attributes)


def save(folder: Path, nodes: list[Any], inputs: dict[str, Any], outputs: list[str], constants: Any = None, opset=17):
    return onnx_build.save(onnx_build.model(nodes, inputs, outputs, constants, opset=opset), folder)


def constant_node(name: str, array: np.ndarray) -> Any:
    from onnx import numpy_helper

    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array), name))


def test_onnx2c_86_scales_are_rank_0_outputs_of_constant_nodes(tmp_path) -> None:
    nodes = [
        constant_node("s", np.asarray(0.05, F32)),
        constant_node("z", np.asarray(3, np.int8)),
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("Relu", ["d"], ["r"]),
        node("QuantizeLinear", ["r", "s", "z"], ["q2"]),
        node("DequantizeLinear", ["q2", "s", "z"], ["y"]),
    ]
    in_c(agreed(save(tmp_path, nodes, {"x": (1, 8)}, ["y"])), tmp_path)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Pow"])
@pytest.mark.parametrize("shape", [(), (1,), (3, 4)])
@pytest.mark.parametrize("left", [False, True])
def test_onnx2c_96_every_binary_operator_with_a_scalar_on_either_side(tmp_path, op, shape, left) -> None:
    operands = ["c", "a"] if left else ["a", "c"]
    nodes = [node("Abs", ["x"], ["b"]), node("Add", ["b", "one"], ["a"]), node(op, operands, ["y"])]
    constants = {"c": np.abs(normal(*shape)) + F32(0.5), "one": F32(1)}
    agreed(save(tmp_path, nodes, {"x": (3, 4)}, ["y"], constants))


def test_onnx2c_96_division_compiles(tmp_path) -> None:
    nodes = [node("Div", ["x", "c"], ["a"]), node("Div", ["c", "x"], ["b"]), node("Div", ["a", "b"], ["y"])]
    in_c(agreed(save(tmp_path, nodes, {"x": (3, 4)}, ["y"], {"c": F32(3)})), tmp_path)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 1), (1, 1), (), (2, 5)])
def test_onnx2c_12_bias_of_gemm_broadcasts(tmp_path, shape) -> None:
    nodes = [node("Gemm", ["x", "w", "c"], ["y"], beta=0.5, alpha=2.0)]
    agreed(save(tmp_path, nodes, {"x": (2, 3)}, ["y"], {"w": normal(3, 5), "c": normal(*shape, seed=1)}))


def test_onnx2c_9_optional_inputs_with_empty_names(tmp_path) -> None:
    constants = {"w": normal(1, 12, 2), "r": normal(1, 12, 3, seed=1), "h": normal(1, 1, 3, seed=2)}
    nodes = [
        node("LSTM", ["x", "w", "r", "", "", "h"], ["y", "", "c"], hidden_size=3),
        node("Clip", ["y", "", "top"], ["z"]),
    ]
    path = save(tmp_path, nodes, {"x": (4, 1, 2)}, ["z", "c"], {**constants, "top": F32(0.1)})
    in_c(agreed(path), tmp_path)


def test_onnx2c_11_nodes_in_any_order(tmp_path) -> None:
    nodes = [node("Relu", ["b"], ["y"]), node("Neg", ["a"], ["b"]), node("Abs", ["x"], ["a"])]
    graph = pipeline.load(save(tmp_path, nodes, {"x": (2, 3)}, ["y"]))
    x = normal(1, 2, 3)
    np.testing.assert_array_equal(run_float(graph, {"x": x})["y"], np.maximum(-np.abs(x), 0))
    loop = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
    with pytest.raises(InputError, match="circle"):
        pipeline.load(save(tmp_path, loop, {"x": (2, 3)}, ["a"]))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("settings", [{}, {"strides": [2, 1], "pads": [1, 0, 0, 1]}, {"dilations": [1, 2]}])
def test_onnx2c_5_indices_of_max_pooling(tmp_path, order, settings) -> None:
    nodes = [node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], storage_order=order, **settings)]
    proto = onnx_build.model(nodes, {"x": (1, 2, 5, 6)}, ["y", "i"])
    proto.graph.output[1].type.tensor_type.elem_type = 7
    in_c(agreed(onnx_build.save(proto, tmp_path)), tmp_path)


def test_onnx2c_17_indices_of_max_pooling_over_channels(tmp_path) -> None:
    nodes = [node("MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 3], strides=[3, 3])]
    proto = onnx_build.model(nodes, {"x": (2, 3, 6, 6)}, ["y", "i"])
    proto.graph.output[1].type.tensor_type.elem_type = 7
    agreed(onnx_build.save(proto, tmp_path))


@pytest.mark.parametrize(
    "bad", [{"strides": [0, 1]}, {"strides": [-1, 1]}, {"strides": [1]}, {"dilations": [0, 0]}, {"pads": [1, 1, 1]}]
)
def test_onnx2c_41_bad_strides_are_errors(tmp_path, bad) -> None:
    nodes = [node("Conv", ["x", "w"], ["y"], **bad)]
    with pytest.raises((InputError, UnsupportedError)) as caught:
        pipeline.load(save(tmp_path, nodes, {"x": (1, 2, 6, 6)}, ["y"], {"w": normal(3, 2, 3, 3)}))
    assert "Conv" in str(caught.value)


def test_onnx2c_74_model_without_opset_import(tmp_path) -> None:
    proto = onnx_build.model([node("Relu", ["x"], ["y"])], {"x": (1, 3)}, ["y"])
    del proto.opset_import[:]
    with pytest.raises(InputError, match="opset"):
        pipeline.load(onnx_build.save(proto, tmp_path))


def _quantised_with_ort(folder: Path, qdq: bool) -> Path:
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    nodes = [
        node("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["r"]),
        node("GlobalAveragePool", ["r"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Gemm", ["f", "v", "u"], ["y"]),
    ]
    constants = {"w": normal(4, 3, 3, 3), "b": normal(4, seed=1), "v": normal(4, 5, seed=2), "u": normal(5, seed=3)}
    source = save(folder, nodes, {"x": (1, 3, 8, 8)}, ["y"], constants)

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = [{"x": normal(1, 3, 8, 8, seed=seed)} for seed in range(8)]

        def get_next(self):
            return self.left.pop() if self.left else None

    target = folder / "quantised.onnx"
    form = QuantFormat.QDQ if qdq else QuantFormat.QOperator
    kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
    quantize_static(str(source), str(target), Reader(), quant_format=form, **kinds)
    return target


@pytest.mark.parametrize("qdq", [False, True])
def test_onnx2c_75_and_109_models_quantised_by_onnxruntime_are_first_class(tmp_path, qdq) -> None:
    graph = agreed(_quantised_with_ort(tmp_path, qdq))
    assert graph.is_quantised()
    manifest = in_c(graph, tmp_path)
    kernels = {entry["op"]: entry["kernel"] for entry in manifest["nodes"]}
    assert all("w8a8" in kernels[op] for op in ("conv2d", "fully_connected")), kernels


def test_onnx2c_ea045cc_qlinearconv(tmp_path) -> None:
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    constants = {
        "xs": F32(0.02), "xz": np.uint8(120), "w": np.random.default_rng(0).integers(-127, 128, (4, 2, 3, 3), np.int8),
        "ws": np.abs(normal(4)) * F32(0.01) + F32(0.001), "wz": np.zeros(4, np.int8), "ys": F32(0.05),
        "yz": np.uint8(99), "b": np.arange(-2, 2, dtype=np.int32) * 300,
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["r", "xs", "xz"], ["x"]),
        node("QLinearConv", names, ["q"], pads=[1, 0, 0, 1], strides=[2, 1]),
        node("DequantizeLinear", ["q", "ys", "yz"], ["y"]),
    ]
    in_c(agreed(save(tmp_path, nodes, {"r": (1, 2, 6, 7)}, ["y"], constants)), tmp_path)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("stride", [2, 3])
def test_ort_5368_auto_pad_of_transposed_convolution_follows_the_specification(tmp_path, auto_pad, stride) -> None:
    """total = stride * (in - 1) + kernel - stride * in; UPPER puts the odd one at the end (ONNX ConvTranspose-11)."""
    w = normal(2, 3, 4, 4)
    nodes = [node("ConvTranspose", ["x", "w"], ["y"], auto_pad=auto_pad, strides=[stride] * 2)]
    graph = pipeline.optimise(pipeline.load(save(tmp_path, nodes, {"x": (1, 2, 5, 6)}, ["y"], {"w": w})))
    total = max(4 - stride, 0)
    begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    missing = max(stride - 4, 0)
    pads = [begin, begin, total - begin, total - begin]
    explicit = [node("ConvTranspose", ["x", "w"], ["y"], strides=[stride] * 2, pads=pads, output_padding=[missing] * 2)]
    other = pipeline.optimise(pipeline.load(save(tmp_path, explicit, {"x": (1, 2, 5, 6)}, ["y"], {"w": w})))
    x = normal(1, 1, 2, 5, 6)
    ours = run_float(graph, {"x": x})["y"]
    assert ours.shape == (1, 1, 3, 5 * stride, 6 * stride)
    np.testing.assert_array_equal(ours, run_float(other, {"x": x})["y"])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_ort_20582_same_padding_with_dilation_uses_the_effective_kernel(tmp_path, auto_pad) -> None:
    w = normal(3, 2, 3, 2)
    same = [node("Conv", ["x", "w"], ["y"], auto_pad=auto_pad, dilations=[2, 3], strides=[2, 1])]
    graph = pipeline.load(save(tmp_path, same, {"x": (1, 2, 7, 8)}, ["y"], {"w": w}))
    rows, columns = 4, 3  # (ceil(7/2) - 1) * 2 + 5 - 7 = 4; 8 - 1 + 4 - 8 = 3
    odd = columns // 2 if auto_pad == "SAME_UPPER" else columns - columns // 2
    pads = [rows // 2, odd, rows - rows // 2, columns - odd]
    explicit = [node("Conv", ["x", "w"], ["y"], pads=pads, dilations=[2, 3], strides=[2, 1])]
    path = save(tmp_path, explicit, {"x": (1, 2, 7, 8)}, ["y"], {"w": w})
    x = normal(2, 1, 2, 7, 8)
    want = onnx_build.runtime_results(path, {"x": x}, ["y"])
    onnx_build.assert_close(run_float(graph, {"x": x}), want, 1e-5)


def test_onnx_tensorflow_969_same_lower(tmp_path) -> None:
    nodes = [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_LOWER", strides=[2, 2])]
    in_c(agreed(save(tmp_path, nodes, {"x": (1, 2, 8, 7)}, ["y"], {"w": normal(3, 2, 3, 4)})), tmp_path)


@pytest.mark.parametrize("auto_pad", ["VALID", "SAME_UPPER", "NOTSET"])
def test_onnx2pytorch_10_auto_pad_of_mnist(tmp_path, auto_pad) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"], auto_pad=auto_pad),
        node("MaxPool", ["a"], ["b"], auto_pad=auto_pad, kernel_shape=[2, 2], strides=[2, 2]),
        node("AveragePool", ["b"], ["y"], auto_pad=auto_pad, kernel_shape=[3, 3], strides=[2, 2]),
    ]
    agreed(save(tmp_path, nodes, {"x": (1, 1, 14, 13)}, ["y"], {"w": normal(3, 1, 5, 5)}))


@pytest.mark.parametrize("groups", [2, 3])
def test_onnx2tf_15_channel_shuffle_through_five_dimensions(tmp_path, groups) -> None:
    channels = 6
    nodes = [
        node("Conv", ["x", "w"], ["a"], group=groups),
        node("Reshape", ["a", "s5"], ["b"]),
        node("Transpose", ["b"], ["c"], perm=[0, 2, 1, 3, 4]),
        node("Reshape", ["c", "s4"], ["d"]),
        node("Conv", ["d", "v"], ["y"], group=channels, pads=[1, 1, 1, 1]),
    ]
    constants = {
        "w": normal(channels, channels // groups, 1, 1),
        "v": normal(channels, 1, 3, 3, seed=1),
        "s5": np.asarray([1, groups, channels // groups, 5, 4], np.int64),
        "s4": np.asarray([1, channels, 5, 4], np.int64),
    }
    in_c(agreed(save(tmp_path, nodes, {"x": (1, channels, 5, 4)}, ["y"], constants)), tmp_path)


def test_tensorflow_onnx_993_wrong_layout_of_data_is_an_error_with_the_expected_shape(tmp_path) -> None:
    from tinydeploy.data import load_data

    nodes = [node("Conv", ["x", "w"], ["y"])]
    graph = pipeline.load(save(tmp_path, nodes, {"x": (1, 3, 8, 6)}, ["y"], {"w": normal(2, 3, 3, 3)}))
    np.savez(tmp_path / "data.npz", x=normal(10, 8, 6, 3))
    with pytest.raises(InputError) as caught:
        load_data(tmp_path / "data.npz", graph, data_map={}, input_scale={})
    assert "3, 8, 6" in str(caught.value)


@pytest.mark.parametrize("bounds", ["none", "low", "high", "both", "constant nodes"])
@pytest.mark.parametrize("opset", [6, 11, 13])
def test_migraphx_439_clip_takes_its_bounds_from_anywhere(tmp_path, bounds, opset) -> None:
    values = {"low": F32(-0.7), "high": F32(3.25)}
    wanted = {"none": (), "low": ("low",), "high": ("high",)}.get(bounds, ("low", "high"))
    if opset < 11:
        given = {("min" if key == "low" else "max"): float(values[key]) for key in wanted}
        nodes = [node("Clip", ["x"], ["y"], **given)]
    else:
        names = ["x", "low" if "low" in wanted else "", "high" if "high" in wanted else ""]
        nodes = [node("Clip", names, ["y"])]
    if opset < 11 and opset < 7:
        nodes, opset = nodes, 7
    constants: dict[str, Any] = {}
    if bounds == "constant nodes" and opset >= 11:
        nodes = [*(constant_node(key, values[key]) for key in wanted), *nodes]
    elif opset >= 11:
        constants = {key: values[key] for key in wanted}
    graph = agreed(save(tmp_path, nodes, {"x": (1, 9)}, ["y"], constants, opset=opset))
    assert [n.op.name for n in graph.nodes] in (["clamp"], []), "it is a clamp, and fuses as one"


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_openvino_37819_layout_1_of_recurrent_layers(tmp_path, op, direction) -> None:
    """Layout 1 is layout 0 with batch and time exchanged, and is held against it: ONNX Runtime refuses layout 1."""
    gates, two = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], 2 if direction == "bidirectional" else 1
    constants = {"w": normal(two, gates * 3, 2), "r": normal(two, gates * 3, 3, seed=1)}
    graphs = []
    for layout in (0, 1):
        nodes = [node(op, ["x", "w", "r"], ["y", "h"], hidden_size=3, direction=direction, layout=layout)]
        shape = (2, 5, 2) if layout else (5, 2, 2)
        graphs.append(pipeline.optimise(pipeline.load(save(tmp_path, nodes, {"x": shape}, ["y", "h"], constants))))
    x = normal(1, 5, 2, 2, seed=3)
    plain = run_float(graphs[0], {"x": x})
    other = run_float(graphs[1], {"x": x.swapaxes(1, 2).copy()})
    np.testing.assert_array_equal(other["y"], plain["y"].transpose(0, 3, 1, 2, 4))
    np.testing.assert_array_equal(other["h"], plain["h"].swapaxes(1, 2))


@pytest.mark.parametrize("before", [0, 1])
def test_onnx2torch_256_linear_before_reset_and_gate_orders(tmp_path, before) -> None:
    constants = {"w": normal(1, 9, 2), "r": normal(1, 9, 3, seed=1), "b": normal(1, 18, seed=2)}
    nodes = [node("GRU", ["x", "w", "r", "b"], ["y", "h"], hidden_size=3, linear_before_reset=before)]
    in_c(agreed(save(tmp_path, nodes, {"x": (4, 1, 2)}, ["y", "h"], constants)), tmp_path)


def test_onnx_tensorflow_227_peepholes_and_clip_count_and_lengths_at_run_time_are_refused(tmp_path) -> None:
    constants = {"w": normal(1, 12, 2), "r": normal(1, 12, 3, seed=1), "p": normal(1, 9, seed=2)}
    nodes = [node("LSTM", ["x", "w", "r", "", "", "", "", "p"], ["y"], hidden_size=3, clip=0.5)]
    agreed(save(tmp_path, nodes, {"x": (4, 1, 2)}, ["y"], constants))
    nodes = [node("Cast", ["n"], ["m"], to=6), node("LSTM", ["x", "w", "r", "", "m"], ["y"], hidden_size=3)]
    with pytest.raises(UnsupportedError, match=r"sequence_lens|length"):
        pipeline.load(save(tmp_path, nodes, {"x": (4, 1, 2), "n": (1,)}, ["y"], constants))


@pytest.mark.parametrize("transpose", [0, 1])
def test_onnxscript_3027_batch_normalisation_behind_gemm(tmp_path, transpose) -> None:
    nodes = [
        node("Gemm", ["x", "w", "c"], ["a"], alpha=0.5, beta=2.0, transB=transpose),
        node("BatchNormalization", ["a", "g", "b", "m", "v"], ["y"], epsilon=1e-2),
    ]
    w = normal(5, 4) if transpose else normal(4, 5)
    constants = {"w": w, "c": normal(5, seed=1), "g": normal(5, seed=2), "b": normal(5, seed=3)}
    constants |= {"m": normal(5, seed=4), "v": np.abs(normal(5, seed=5)) + F32(0.1)}
    graph = agreed(save(tmp_path, nodes, {"x": (1, 4)}, ["y"], constants))
    assert [n.op.name for n in graph.nodes] == ["fully_connected"]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("bias", [False, True])
def test_ncnn_1339_batch_normalisation_behind_every_kind_of_convolution(tmp_path, groups, bias) -> None:
    """The fold changes results by some 4e-6 of the largest (onnx/optimizer#255); 1e-5 is what we state."""
    nodes = [
        node("Conv", ["x", "w", *(["c"] if bias else [])], ["a"], group=groups),
        node("BatchNormalization", ["a", "g", "b", "m", "v"], ["y"]),
    ]
    constants = {"w": normal(4, 4 // groups, 3, 3), "g": normal(4, seed=2), "b": normal(4, seed=3)}
    constants |= {"m": normal(4, seed=4), "v": np.abs(normal(4, seed=5)) + F32(0.1)}
    if bias:
        constants["c"] = normal(4, seed=1)
    proto = onnx_build.model(nodes, {"x": (1, 4, 6, 6)}, ["y"], constants)
    _, folded = onnx_build.check(proto, tmp_path, tolerance=1e-5)
    assert "batch_norm" not in onnx_build.operators(folded)


def test_optimizer_255_the_tolerance_of_the_import_check_is_stated() -> None:
    from tinydeploy.validation import agree

    assert agree.FLOAT_TOLERANCE == 1e-4


def test_ort_18589_output_scale_of_softmax_is_the_models(tmp_path) -> None:
    constants = {"s": F32(0.1), "z": np.int8(0), "t": F32(1 / 128), "u": np.int8(-100)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("Softmax", ["d"], ["p"]),
        node("QuantizeLinear", ["p", "t", "u"], ["q2"]),
        node("DequantizeLinear", ["q2", "t", "u"], ["y"]),
    ]
    in_c(agreed(save(tmp_path, nodes, {"x": (1, 8)}, ["y"], constants)), tmp_path)


def _external(folder: Path, location: str, offset: int = 0, length: int = 24) -> Path:
    from onnx import TensorProto

    proto = onnx_build.model([node("Add", ["x", "w"], ["y"])], {"x": (2, 3)}, ["y"], {"w": normal(2, 3)})
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return onnx_build.save(proto, folder)


def test_cve_2022_25882_external_data_stays_in_the_models_folder(tmp_path) -> None:
    inside = tmp_path / "model"
    inside.mkdir()
    secret = tmp_path / "secret.bin"
    secret.write_bytes(normal(6).tobytes())
    (inside / "w.bin").write_bytes(normal(6).tobytes())
    (inside / "link.bin").symlink_to(secret)
    (inside / "inner").symlink_to(tmp_path)
    os.link(secret, inside / "hard.bin")
    pipeline.load(_external(inside, "w.bin"))
    bad = ["../secret.bin", str(secret), "link.bin", "hard.bin", "inner/secret.bin", "", ".", "w.bin\0", "/dev/zero"]
    for location in bad:
        with pytest.raises((InputError, UnsupportedError)):
            pipeline.load(_external(inside, location))


@pytest.mark.parametrize(("offset", "length"), [(4, 24), (0, 28), (-4, 24), (2**63, 24), (0, 20), (0, -1), (0, 2**62)])
def test_cve_2026_34446_sizes_of_external_data_are_checked(tmp_path, offset, length) -> None:
    (tmp_path / "w.bin").write_bytes(normal(6).tobytes())
    with pytest.raises((InputError, UnsupportedError)):
        pipeline.load(_external(tmp_path, "w.bin", offset, length))


def test_stm32n6_879492_golden_vectors_are_in_the_project_and_run_on_the_target(tmp_path) -> None:
    """QDQ fine on the PC, wrong on the target: `validate` runs the very folder and compares every bit."""
    graph = agreed(_quantised_with_ort(tmp_path, True))
    in_c(graph, tmp_path)
