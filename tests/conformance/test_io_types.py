"""Models whose inputs and outputs are of every element type, scalars too: converted, built, run on this machine."""

import numpy as np
import pytest

from tests.conftest import need_module, need_tool
from tinydeploy import pipeline
from tinydeploy.ir import Elem, Graph, Quant, Type
from tinydeploy.ops.add import Add
from tinydeploy.ops.binary import Maximum
from tinydeploy.ops.comparison import LogicalAnd

PLAIN = [elem for elem in Elem if elem not in (Elem.F16, Elem.F64, Elem.S4)]
QUANTISED = {
    Elem.S8: Quant.per_tensor(0.1, 3),
    Elem.U8: Quant.per_tensor(0.1, 131),
    Elem.S16: Quant.per_tensor(1e-3),
}


def sum_of(kind: Type) -> Graph:
    """``y = x + z``; of bool, ``x and z``."""
    graph = Graph("io")
    graph.inputs = [graph.add_value("x", kind), graph.add_value("z", kind)]
    op = LogicalAnd() if kind.elem is Elem.BOOL else Add()
    graph.outputs = [graph.add_value("y", kind)]
    graph.add_node("n", op, ("x", "z"), outputs=("y",))
    return graph


def validated(graph: Graph, folder, board: str = "host"):
    """The folder of a graph and what `validate` says of it."""
    need_tool("gcc")
    options = pipeline.ConvertOptions(check=False, name="io", quantize="float32")
    pipeline.convert(graph, None, options).write(folder)
    opened = pipeline.open_folder(folder)
    samples = pipeline.evaluation_data(opened, None, random_samples=5)
    return opened, pipeline.validate(opened, board, samples)


@pytest.mark.parametrize("shape", [(2, 3), ()], ids=["tensor", "scalar"])
@pytest.mark.parametrize("elem", PLAIN)
def test_plain_types(elem, shape, tmp_path):
    opened, result = validated(sum_of(Type(shape, elem)), tmp_path / "io")
    assert result["bit_exact"]
    assert result["float"]["max_abs_error"] == 0  # integers of 64 bits are not rounded on the way to the comparison
    assert {spec["dtype"] for spec in opened.manifest["inputs"] + opened.manifest["outputs"]} == {elem.value}
    header = (tmp_path / "io" / "io.h").read_text()
    assert f"{elem.c_type} *io_input_0(" in header
    assert f"const {elem.c_type} *io_output_0(" in header
    assert opened.manifest["scheme"] == ("float32" if elem is Elem.F32 else "integer")


@pytest.mark.parametrize("shape", [(2, 3), ()], ids=["tensor", "scalar"])
@pytest.mark.parametrize("elem", QUANTISED)
def test_quantised_types_keep_their_own(elem, shape, tmp_path):
    opened, result = validated(sum_of(Type(shape, elem, QUANTISED[elem])), tmp_path / "io")
    assert result["bit_exact"]
    entry = opened.manifest["inputs"][0]
    assert (entry["dtype"], entry["zero_point"]) == (elem.value, QUANTISED[elem].zero_point[0])
    assert opened.manifest["scheme"] == ("int16x8" if elem is Elem.S16 else "int8")


def test_types_side_by_side(tmp_path):
    """Elements of 1, 2, 4 and 8 bytes in one stream of samples, each at its own alignment."""
    graph = Graph("io")
    kinds = [Type((3,), elem) for elem in (Elem.BOOL, Elem.S64, Elem.U8, Elem.S16, Elem.F32, Elem.S64)]
    for number, kind in enumerate(kinds):
        graph.inputs.append(graph.add_value(f"x{number}", kind))
        graph.outputs.append(graph.add_value(f"y{number}", kind))
        op = LogicalAnd() if kind.elem is Elem.BOOL else Maximum()
        graph.add_node(f"n{number}", op, (f"x{number}", f"x{number}"), outputs=(f"y{number}",))
    _, result = validated(graph, tmp_path / "io")
    assert result["bit_exact"]


@pytest.mark.parametrize("elem", [Elem.BOOL, Elem.S64])
def test_on_an_emulated_core(elem, tmp_path):
    need_tool("arm-none-eabi-gcc")
    need_tool("qemu-system-arm")
    _, result = validated(sum_of(Type((2, 3), elem)), tmp_path / "io", board="mps2-an386")
    assert result["bit_exact"]


def test_a_scalar_is_compared_with_its_own_runtime(tmp_path):
    need_module("onnx", "onnxruntime")
    import onnx

    helper, elem = onnx.helper, onnx.TensorProto.INT64
    info = [helper.make_tensor_value_info(name, elem, []) for name in "xzy"]
    made = helper.make_graph([helper.make_node("Add", ["x", "z"], ["y"])], "g", info[:2], info[2:])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "scalar.onnx"
    onnx.save(model, path)
    project = pipeline.convert(pipeline.load(path), path, pipeline.ConvertOptions())
    assert project.manifest["checked_against"].startswith("onnxruntime")
    assert project.manifest["warnings"] == []


def test_labels_and_scores_of_integers(tmp_path):
    """Data of an input's own type are fed as they are."""
    opened, _ = validated(sum_of(Type((3,), Elem.S64)), tmp_path / "io")
    big = np.array([[2**62, -(2**62), 2**53 + 1]], np.int64)
    np.savez(tmp_path / "data.npz", x=big, z=np.zeros_like(big))
    samples = pipeline.evaluation_data(opened, tmp_path / "data.npz")
    np.testing.assert_array_equal(samples.fed["x"], big)
    assert pipeline.validate(opened, "host", samples)["bit_exact"]
