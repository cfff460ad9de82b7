"""What an ONNX file may look like, and what is said about one that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import check, model, operators, random_feeds, save
from tinydeploy.errors import InputError, TinydeployError, UnsupportedError, UsageError
from tinydeploy.frontends.onnx import load
from tinydeploy.ops.execute import run_float

need_module("onnx", "onnxruntime")
RNG = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def node(op: str, inputs: str, outputs: str, name: str = "", domain: str = "", **attributes: Any) -> Any:
    """A node; names are split at blanks, ``-`` is the empty name."""
    from onnx import helper

    names = [["" if n == "-" else n for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, name=name, domain=domain, **attributes)


def small(opset: int = 17) -> Any:
    nodes = [node("Conv", "x w", "h", "conv1"), node("Relu", "h", "y", "relu1")]
    return model(nodes, {"x": ("N", 3, 6, 6)}, ["y"], {"w": floats(2, 3, 3, 3)}, opset=opset)


def failure(proto: Any, folder: Path, kind: type[TinydeployError], **shapes: tuple[int, ...]) -> str:
    with pytest.raises(kind) as caught:
        load(save(proto, folder), shapes)
    assert type(caught.value) is kind
    return str(caught.value)


class TestForms:
    def test_open_batch_becomes_one_with_a_warning(self, tmp_path: Path) -> None:
        graph, _ = check(small(), tmp_path)
        assert graph.type("x").shape == (1, 3, 6, 6)
        assert "'x'" in graph.warnings[0]
        assert graph.source is not None
        assert (graph.source.file, graph.source.format) == ("model.onnx", "onnx")

    def test_an_unnamed_dimension_is_open_too(self, tmp_path: Path) -> None:
        graph, _ = check(model([node("Relu", "x", "y")], {"x": (None, 3)}, ["y"]), tmp_path)
        assert graph.type("x").shape == (1, 3)

    def test_names_of_the_file_are_kept(self, tmp_path: Path) -> None:
        graph, better = check(small(), tmp_path)
        assert (graph.inputs, graph.outputs) == (["x"], ["y"])
        assert {"h", "w"} <= set(graph.values)
        assert "'conv1' (Conv)" in {n.origin for n in better.nodes}

    def test_unsorted_nodes(self, tmp_path: Path) -> None:
        proto = small()
        nodes = list(proto.graph.node)
        del proto.graph.node[:]
        proto.graph.node.extend(reversed(nodes))
        graph = load(save(proto, tmp_path), {})
        assert operators(graph) == ["transpose", "conv2d", "transpose", "clamp"]

    def test_nodes_without_names_and_nodes_named_as_tensors(self, tmp_path: Path) -> None:
        nodes = [
            node("Relu", "x", "a", "y"),
            node("Tanh", "a", "b"),
            node("Tanh", "b", "y", "x"),
            node("Relu", "y", "z"),
        ]
        graph, _ = check(model(nodes, {"x": (1, 3)}, ["y", "z"]), tmp_path)
        assert {"x", "a", "b", "y", "z"} <= set(graph.values)

    def test_initialisers_among_the_inputs(self, tmp_path: Path) -> None:
        from onnx import TensorProto, helper

        proto = small()
        proto.graph.input.insert(0, helper.make_tensor_value_info("w", TensorProto.FLOAT, (2, 3, 3, 3)))
        graph, _ = check(proto, tmp_path)
        assert graph.inputs == ["x"]

    def test_weights_and_scalars_in_constant_nodes(self, tmp_path: Path) -> None:
        from onnx import numpy_helper

        nodes = [
            node("Constant", "", "w", value=numpy_helper.from_array(floats(2, 3, 3, 3))),
            node("Constant", "", "low", value_float=-0.5),
            node("Constant", "", "high", value=numpy_helper.from_array(np.float32(0.5).reshape(()))),
            node("Conv", "x w -", "h"),
            node("Clip", "h low high", "y"),
        ]
        _, better = check(model(nodes, {"x": (1, 3, 6, 6)}, ["y"]), tmp_path)
        assert operators(better) == ["transpose", "conv2d", "transpose"]

    def test_weights_computed_from_constants(self, tmp_path: Path) -> None:
        nodes = [
            node("Transpose", "w", "wt"),
            node("Mul", "wt two", "w2"),
            node("Identity", "w2", "w3"),
            node("MatMul", "x w3", "y"),
        ]
        constants = {"w": floats(4, 5), "two": np.float32(2).reshape(())}
        check(model(nodes, {"x": (1, 5)}, ["y"], constants), tmp_path)

    def test_shared_weights_are_stored_once(self, tmp_path: Path) -> None:
        nodes = [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("MatMul", "b w", "y")]
        _, better = check(model(nodes, {"x": (1, 4)}, ["y"], {"w": floats(4, 4)}), tmp_path)
        assert sum(value.data is not None for value in better.values.values()) == 1

    def test_shape_arithmetic_of_exporters(self, tmp_path: Path) -> None:
        """x.view(x.size(0), -1), written out as PyTorch does; and a reshape by products of dimensions."""
        nodes = [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Unsqueeze", "n axes", "n1"),
            node("Concat", "n1 minus", "target", axis=0),
            node("Reshape", "x target", "flat"),
            node("Slice", "s one four", "rest"),
            node("ReduceProd", "rest", "count", keepdims=1),
            node("Cast", "count", "count64", to=7),
            node("Concat", "count64 n1", "back", axis=0),
            node("Reshape", "flat back", "y"),
        ]
        constants = {
            "zero": np.asarray(0, np.int64),
            "axes": np.asarray([0], np.int64),
            "minus": np.asarray([-1], np.int64),
            "one": np.asarray([1], np.int64),
            "four": np.asarray([4], np.int64),
        }
        graph, _ = check(model(nodes, {"x": ("N", 2, 3, 4)}, ["y"], constants), tmp_path)
        assert operators(graph) == ["reshape", "reshape"]
        assert graph.type("y").shape == (24, 1)

    def test_folded_arithmetic(self, tmp_path: Path) -> None:
        nodes = [
            node("ConstantOfShape", "two", "ones", value=_tensor([3])),
            node("Range", "a b c", "r"),
            node("Expand", "five two", "e"),
            node("Div", "e r2", "q"),
            node("Slice", "r zero two", "r2"),
            node("Where", "cond q ones", "t"),
            node("Equal", "q ones", "cond"),
            node("Max", "t ones", "m"),
            node("Sub", "m m", "z"),
            node("Neg", "minus", "p"),
            node("Add", "z p", "shape"),
            node("Reshape", "x shape", "y"),
        ]
        i64 = {"two": [2], "a": 2, "b": 9, "c": 2, "five": [7], "zero": [0], "minus": [-2, -3]}
        constants = {name: np.asarray(value, np.int64) for name, value in i64.items()}
        graph, _ = check(model(nodes, {"x": (6,)}, ["y"], constants), tmp_path)
        assert graph.type("y").shape == (2, 3)

    def test_an_input_that_is_an_output(self, tmp_path: Path) -> None:
        graph, better = check(model([node("Identity", "x", "y")], {"x": (1, 3)}, ["y"]), tmp_path)
        assert graph.outputs == better.outputs == ["y"]

    def test_two_names_of_one_output(self, tmp_path: Path) -> None:
        nodes = [node("Relu", "x", "a"), node("Identity", "a", "y"), node("Dropout", "a", "z")]
        graph, _ = check(model(nodes, {"x": (1, 3)}, ["y", "z"]), tmp_path)
        assert graph.outputs == ["y", "z"]

    def test_a_constant_output(self, tmp_path: Path) -> None:
        from onnx import TensorProto

        proto = model([node("Shape", "x", "s"), node("Relu", "x", "y")], {"x": (1, 3)}, ["y", "s"])
        proto.graph.output[1].type.tensor_type.elem_type = TensorProto.INT64
        graph, _ = check(proto, tmp_path)
        assert "output 's' is the same whatever comes in" in graph.warnings

    @pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT16", "BFLOAT16"])
    def test_other_floats_are_taken_as_float32_with_a_warning(self, tmp_path: Path, kind: str) -> None:
        from onnx import TensorProto, helper

        proto = model([node("Add", "x w", "y")], {"x": (1, 3)}, ["y"])
        number = getattr(TensorProto, kind)
        proto.graph.initializer.append(helper.make_tensor("w", number, (3,), [0.5, -1.0, 3.0]))
        proto.graph.input[0].type.tensor_type.elem_type = number
        proto.graph.output[0].type.tensor_type.elem_type = number
        graph = load(save(proto, tmp_path), {})
        assert any("taken as float32" in warning for warning in graph.warnings)
        np.testing.assert_array_equal(run_float(graph, {"x": np.ones((1, 1, 3))})["y"], [[[1.5, 0.0, 4.0]]])

    def test_a_symbol_has_one_value_everywhere(self, tmp_path: Path) -> None:
        nodes = [node("Add", "x y", "z")]
        graph, _ = check(model(nodes, {"x": ("N", 3), "y": (3, "N", 3)}, ["z"]), tmp_path)
        assert graph.type("y").shape == (3, 1, 3)

    def test_given_shapes(self, tmp_path: Path) -> None:
        proto = model([node("Relu", "x", "y")], {"x": ("N", "T", 3)}, ["y"])
        graph, _ = check(proto, tmp_path, x=(2, 7, 3))
        assert graph.type("y").shape == (2, 7, 3)

    def test_integer_inputs(self, tmp_path: Path) -> None:
        from onnx import TensorProto

        proto = model([node("Cast", "x", "f", to=1), node("Relu", "f", "y")], {"x": (1, 3)}, ["y"])
        proto.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
        graph = load(save(proto, tmp_path), {})
        x = np.asarray([[[0, 7, 255]]], np.uint8)
        np.testing.assert_array_equal(run_float(graph, {"x": x})["y"], x.astype(np.float32))


def _tensor(values: list[int]) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(values, np.int64))


class TestProblems:
    def test_all_of_them_at_once(self, tmp_path: Path) -> None:
        nodes = [
            node("Frobnicate", "x", "a", "odd", domain="my.domain"),
            node("Reshape", "x target", "b", "dynamic"),
            node("Det", "x", "d", "det"),
            node("Softmax", "x", "e", "far", axis=9),
        ]
        proto = model(nodes, {"x": (1, 3, 6, 6), "target": (2,)}, ["a", "b", "d", "e"])
        proto.graph.input[1].type.tensor_type.elem_type = 7
        proto.opset_import.add(domain="my.domain", version=1)
        text = failure(proto, tmp_path, UnsupportedError)
        for words in (
            "'odd' (my.domain.Frobnicate)",
            "'dynamic' (Reshape): shape 'target' is computed at run time",
            "'det' (Det): operator Det is not supported",
            "'far' (Softmax): axis 9",
        ):
            assert words in text
        assert text.count("model.onnx: node") == 4

    def test_what_follows_a_failure_is_looked_at_too(self, tmp_path: Path) -> None:
        nodes = [
            node("DFT", "x", "a", "first", axis=2),
            node("Relu", "a", "b", "second"),
            node("Det", "b", "y", "third"),
        ]
        text = failure(model(nodes, {"x": ("N", 3, 6, 2)}, ["y"]), tmp_path, UnsupportedError)
        assert "'first' (DFT)" in text
        assert "second" not in text

    def test_open_dimensions_are_named_with_the_option(self, tmp_path: Path) -> None:
        proto = model([node("Relu", "x", "y")], {"x": ("N", "T", 3)}, ["y"])
        text = failure(proto, tmp_path, InputError)
        assert "T (axis 1)" in text
        assert "--input-shape x=1,N,3" in text

    def test_an_input_without_shape(self, tmp_path: Path) -> None:
        proto = model([node("Relu", "x", "y")], {"x": (1, 3)}, ["y"])
        proto.graph.input[0].type.tensor_type.ClearField("shape")
        assert "--input-shape x=" in failure(proto, tmp_path, InputError)
        assert load(save(proto, tmp_path), {"x": (1, 3)}).type("y").shape == (1, 3)

    @pytest.mark.parametrize("shape", [(1, 3), (1, 4, 6, 6), (1, 3, 6, 6, 1)])
    def test_a_given_shape_that_does_not_fit(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        assert "does not fit" in failure(small(), tmp_path, UsageError, x=shape)

    def test_a_given_shape_of_an_unknown_input(self, tmp_path: Path) -> None:
        assert "'x'" in failure(small(), tmp_path, UsageError, picture=(1, 3, 6, 6))

    def test_no_operator_set(self, tmp_path: Path) -> None:
        proto = small()
        del proto.opset_import[:]
        assert "operator set" in failure(proto, tmp_path, InputError)

    def test_an_old_operator_set(self, tmp_path: Path) -> None:
        proto = small()
        proto.opset_import[0].version = 6
        assert "opset 6" in failure(proto, tmp_path, UnsupportedError)

    def test_a_circle(self, tmp_path: Path) -> None:
        nodes = [node("Add", "x b", "a"), node("Relu", "a", "b")]
        assert "circle" in failure(model(nodes, {"x": (1, 3)}, ["a"]), tmp_path, InputError)

    def test_a_value_written_twice(self, tmp_path: Path) -> None:
        nodes = [node("Relu", "x", "y"), node("Tanh", "x", "y")]
        assert "twice" in failure(model(nodes, {"x": (1, 3)}, ["y"]), tmp_path, InputError)

    def test_a_value_nobody_writes(self, tmp_path: Path) -> None:
        failure(model([node("Add", "x ghost", "y")], {"x": (1, 3)}, ["y"]), tmp_path, InputError)
        failure(model([node("Relu", "x", "y")], {"x": (1, 3)}, ["ghost"]), tmp_path, InputError)

    @pytest.mark.parametrize(
        ("op", "inputs", "attributes"),
        [
            ("Reshape", "x huge", {}),
            ("Expand", "one huge", {}),
            ("ConstantOfShape", "huge", {}),
            ("Range", "zero big step", {}),
            ("Add", "column row", {}),
            ("Transpose", "x", {"perm": [0, 5]}),
            ("Concat", "x x", {"axis": 9}),
            ("Conv", "x w", {"strides": [0, 1]}),
            ("Conv", "x w", {"pads": [-1, 0, 0, 0]}),
            ("Conv", "x w", {"group": 7}),
            ("Conv", "x w", {"kernel_shape": [2, 2]}),
            ("MaxPool", "x", {"kernel_shape": [1 << 40, 1]}),
            ("MaxPool", "x", {"kernel_shape": [9, 9]}),
            ("Pad", "x huge8", {}),
            ("Gather", "x big64", {}),
            ("Squeeze", "x minus2", {}),
            ("Div", "one64 zero64", {}),
        ],
    )
    def test_hostile_numbers(self, tmp_path: Path, op: str, inputs: str, attributes: dict[str, Any]) -> None:
        big = 1 << 40
        constants = {
            "huge": np.asarray([big, big], np.int64),
            "huge8": np.asarray([0, 0, 0, 0, 0, 0, 0, big], np.int64),
            "one": np.ones(1, np.float32),
            "zero": np.asarray(0.0, np.float32),
            "big": np.asarray(1e12, np.float32),
            "step": np.asarray(1e-3, np.float32),
            "column": np.ones((1 << 14, 1), np.float32),
            "row": np.ones((1, 1 << 14), np.float32),
            "w": floats(2, 3, 3, 3),
            "big64": np.asarray(big, np.int64),
            "minus2": np.asarray([-2], np.int64),
            "one64": np.asarray([1], np.int64),
            "zero64": np.asarray([0], np.int64),
        }
        used = {name: data for name, data in constants.items() if name in inputs.split()}
        nodes = [node(op, inputs, "c", **attributes), node("Identity", "c", "y")]
        with pytest.raises(TinydeployError):
            load(save(model(nodes, {"x": (1, 3, 6, 6)}, ["y"], used), tmp_path), {})


def _value(name: str) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.INT64, None)


class TestBrokenFiles:
    @pytest.mark.parametrize("content", [b"", b"\x00", b"not a model", b"\xff" * 100, b"\x08\x08"])
    def test_what_is_no_model(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "model.onnx"
        path.write_bytes(content)
        with pytest.raises(InputError):
            load(path, {})

    def test_missing_files_and_folders(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.onnx", tmp_path):
            with pytest.raises(InputError):
                load(path, {})

    def test_cut_and_flipped_bytes_end_in_our_errors(self, tmp_path: Path) -> None:
        nodes = [
            node("Conv", "x w", "h", "conv1", pads=[1, 1, 1, 1]),
            node("Reshape", "h s", "f"),
            node("Gemm", "f g b", "y", transB=1),
        ]
        constants = {"w": floats(2, 1, 3, 3), "s": np.asarray([1, -1], np.int64), "g": floats(2, 18), "b": floats(2)}
        data = model(nodes, {"x": (1, 1, 3, 3)}, ["y"], constants).SerializeToString()
        rng = np.random.default_rng(0)
        path = tmp_path / "model.onnx"
        accepted = 0
        for trial in range(400):
            broken = bytearray(data)
            if trial % 4 == 0:
                del broken[int(rng.integers(1, len(data))) :]
            for _ in range(int(rng.integers(1, 4))):
                broken[int(rng.integers(len(broken)))] = int(rng.integers(256))
            path.write_bytes(bytes(broken))
            try:
                graph = load(path, {})
            except TinydeployError:
                continue
            run_float(graph, random_feeds(graph, samples=1))
            accepted += 1
        assert 0 < accepted < 400
