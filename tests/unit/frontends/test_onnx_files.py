"""Weights outside the model file, sparse weights, functions of the model's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends.onnx_build import check, model, operators, save
from tests.unit.frontends.test_onnx_import import failure, floats, node
from tinydeploy.errors import InputError, UnsupportedError
from tinydeploy.frontends.onnx import load

need_module("onnx", "onnxruntime")


class TestExternalData:
    def external(self, tmp_path: Path, **fields: str) -> Any:
        """A model whose weights lie in ``weights.bin``, 12 bytes after its start, ``fields`` changed."""
        from onnx import TensorProto

        proto = model([node("Add", "x w", "y")], {"x": (1, 3)}, ["y"], {"w": floats(3)})
        tensor = proto.graph.initializer[0]
        (tmp_path / "weights.bin").write_bytes(bytes(12) + tensor.raw_data + bytes(4))
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": "weights.bin", "offset": "12", "length": "12", **fields}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        return proto

    def test_in_the_folder_of_the_model(self, tmp_path: Path) -> None:
        check(self.external(tmp_path), tmp_path)

    def test_in_a_folder_below(self, tmp_path: Path) -> None:
        proto = self.external(tmp_path, location="data/weights.bin")
        (tmp_path / "data").mkdir()
        (tmp_path / "weights.bin").rename(tmp_path / "data" / "weights.bin")
        check(proto, tmp_path)

    def test_in_a_constant_node(self, tmp_path: Path) -> None:
        proto = self.external(tmp_path)
        weights = proto.graph.initializer.pop()
        proto.graph.node.insert(0, node("Constant", "", "w", value=weights))
        assert load(save(proto, tmp_path), {}).outputs == ["y"]

    @pytest.mark.parametrize(
        "location",
        ["../weights.bin", "/etc/passwd", "data/../weights.bin", "", "missing.bin", ".", "C:\\weights.bin", "a\0b"],
    )
    def test_elsewhere_is_refused(self, tmp_path: Path, location: str) -> None:
        (tmp_path / "data").mkdir()
        assert "tensor 'w'" in failure(self.external(tmp_path, location=location), tmp_path, InputError)

    @pytest.mark.parametrize("fields", [{"offset": "20"}, {"offset": "-4"}, {"length": "8"}, {"offset": "x"}])
    def test_bounds(self, tmp_path: Path, fields: dict[str, str]) -> None:
        failure(self.external(tmp_path, **fields), tmp_path, InputError)

    def test_a_shape_that_promises_more_than_there_is(self, tmp_path: Path) -> None:
        proto = self.external(tmp_path, length=str(4 << 40))
        proto.graph.initializer[0].dims[:] = [1 << 40]
        failure(proto, tmp_path, InputError)

    @pytest.mark.parametrize("kind", ["symlink", "hard link", "folder"])
    def test_links_are_refused(self, tmp_path: Path, kind: str) -> None:
        secret = tmp_path / "elsewhere"
        secret.mkdir()
        home = tmp_path / "home"
        home.mkdir()
        proto = self.external(home, location="data/weights.bin" if kind == "folder" else "weights.bin")
        (home / "weights.bin").rename(secret / "weights.bin")
        if kind == "symlink":
            (home / "weights.bin").symlink_to(secret / "weights.bin")
        elif kind == "hard link":
            os.link(secret / "weights.bin", home / "weights.bin")
        else:
            (home / "data").symlink_to(secret)
        assert "link" in failure(proto, home, InputError)

    def test_a_named_pipe_does_not_hang(self, tmp_path: Path) -> None:
        proto = self.external(tmp_path)
        (tmp_path / "weights.bin").unlink()
        os.mkfifo(tmp_path / "weights.bin")
        failure(proto, tmp_path, InputError)


class TestSparse:
    def sparse(self, indices: Any, count: int = 2) -> Any:
        from onnx import helper, numpy_helper

        values = numpy_helper.from_array(np.asarray([2.0, 3.0][:count], np.float32), "w")
        return helper.make_sparse_tensor(values, numpy_helper.from_array(np.asarray(indices, np.int64), "w_i"), (2, 3))

    @pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
    def test_are_expanded(self, tmp_path: Path, indices: Any) -> None:
        proto = model([node("Add", "x w", "y")], {"x": (2, 3)}, ["y"])
        proto.graph.sparse_initializer.append(self.sparse(indices))
        graph = load(save(proto, tmp_path), {})
        data = next(v.data for v in graph.values.values() if v.data is not None)
        np.testing.assert_array_equal(data, [[0, 2, 0], [0, 0, 3]])

    @pytest.mark.parametrize("indices", [[1, 6], [-1, 2], [1, 1], [1], [[0, 1], [2, 0]]])
    def test_indices_are_checked(self, tmp_path: Path, indices: Any) -> None:
        proto = model([node("Add", "x w", "y")], {"x": (2, 3)}, ["y"])
        proto.graph.sparse_initializer.append(self.sparse(indices))
        failure(proto, tmp_path, InputError)


class TestFunctions:
    def with_function(self, nodes: list[Any], attributes: list[str] = (), calls: list[Any] | None = None) -> Any:
        from onnx import helper

        own = helper.make_function("my", "Own", ["a"], ["b"], nodes, [helper.make_opsetid("", 17)], list(attributes))
        own.opset_import.add(domain="my", version=1)
        proto = model(calls or [node("Own", "x", "y", domain="my")], {"x": (1, 3)}, ["y"])
        proto.opset_import.add(domain="my", version=1)
        proto.functions.append(own)
        return proto

    def test_are_put_in(self, tmp_path: Path) -> None:
        nodes = [node("Relu", "a", "h"), node("Tanh", "h", "b")]
        calls = [node("Own", "x", "h", domain="my"), node("Own", "h", "y", domain="my")]
        graph, _ = check(self.with_function(nodes, calls=calls), tmp_path)
        assert operators(graph) == ["clamp", "tanh", "clamp", "tanh"]

    def test_take_attributes(self, tmp_path: Path) -> None:
        flat = node("Flatten", "a", "b")
        attribute = flat.attribute.add(name="axis", ref_attr_name="at")
        attribute.type = attribute.INT
        graph, _ = check(self.with_function([flat], ["at"], [node("Own", "x", "y", domain="my", at=0)]), tmp_path)
        assert graph.type("y").shape == (1, 3)
        graph, _ = check(self.with_function([flat], ["at"], [node("Own", "x", "y", domain="my", at=2)]), tmp_path)
        assert graph.type("y").shape == (3, 1)

    def test_that_call_themselves_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises((InputError, UnsupportedError)):
            load(save(self.with_function([node("Own", "a", "b", domain="my")]), tmp_path), {})

    def test_that_multiply_are_refused(self, tmp_path: Path) -> None:
        """Thirty functions, each of which calls the next one twice."""
        from onnx import helper

        proto = model([node("F0", "x", "y", domain="my")], {"x": (1, 3)}, ["y"])
        proto.opset_import.add(domain="my", version=1)
        for i in range(30):
            last = i == 29
            nodes = (
                [node("Relu", "a", "b")]
                if last
                else [node(f"F{i + 1}", "a", "h", domain="my"), node(f"F{i + 1}", "h", "b", domain="my")]
            )
            imports = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
            proto.functions.append(helper.make_function("my", f"F{i}", ["a"], ["b"], nodes, imports))
        assert "grows too large" in failure(proto, tmp_path, InputError)


class TestControl:
    def graph(self, nodes: list[Any], outputs: list[str], inputs: dict[str, tuple[Any, ...]] | None = None) -> Any:
        from onnx import TensorProto, helper

        kinds = {"i": TensorProto.INT64, "c": TensorProto.BOOL, "c_out": TensorProto.BOOL}
        entries = [
            helper.make_tensor_value_info(n, kinds.get(n, TensorProto.FLOAT), s) for n, s in (inputs or {}).items()
        ]
        results = [helper.make_tensor_value_info(n, kinds.get(n, TensorProto.FLOAT), None) for n in outputs]
        return helper.make_graph(nodes, "inner", entries, results)

    @pytest.mark.parametrize("chosen", [True, False])
    def test_a_constant_chooses_a_branch(self, tmp_path: Path, chosen: bool) -> None:
        then = self.graph([node("Relu", "x", "a")], ["a"])
        other = self.graph([node("Tanh", "x", "b")], ["b"])
        nodes = [node("If", "c", "y", then_branch=then, else_branch=other)]
        graph, _ = check(model(nodes, {"x": (1, 3)}, ["y"], {"c": np.asarray(chosen)}), tmp_path)
        assert operators(graph) == ["clamp" if chosen else "tanh"]

    def test_a_loop_is_written_out(self, tmp_path: Path) -> None:
        body = self.graph(
            [
                node("Identity", "c", "c_out"),
                node("Add", "v x", "v_out"),
                node("Mul", "v_out v_out", "s"),
            ],
            ["c_out", "v_out", "s"],
            {"i": (), "c": (), "v": (3,)},
        )
        nodes = [node("Loop", "m - v0", "y z", body=body)]
        constants = {"m": np.asarray(3, np.int64), "v0": floats(3)}
        graph, _ = check(model(nodes, {"x": (3,)}, ["y", "z"], constants), tmp_path)
        assert graph.type("z").shape == (3, 3)

    def test_a_loop_whose_end_is_computed_is_refused(self, tmp_path: Path) -> None:
        body = self.graph(
            [node("ReduceSum", "x", "r", keepdims=0), node("Cast", "r", "c_out", to=9), node("Add", "v x", "v_out")],
            ["c_out", "v_out"],
            {"i": (), "c": (), "v": (3,)},
        )
        nodes = [node("Loop", "m - v0", "y", "turns", body=body)]
        constants = {"m": np.asarray(3, np.int64), "v0": floats(3)}
        text = failure(model(nodes, {"x": (3,)}, ["y"], constants), tmp_path, UnsupportedError)
        assert "'turns' (Loop)" in text or "ReduceSum" in text

    def test_a_loop_without_end_is_refused(self, tmp_path: Path) -> None:
        body = self.graph(
            [node("Identity", "c", "c_out"), node("Add", "v x", "v_out")],
            ["c_out", "v_out"],
            {"i": (), "c": (), "v": (3,)},
        )
        constants = {"m": np.asarray(1 << 40, np.int64), "v0": floats(3)}
        nodes = [node("Loop", "m - v0", "y", body=body)]
        assert "more than" in failure(model(nodes, {"x": (3,)}, ["y"], constants), tmp_path, UnsupportedError)

    def test_a_scan_is_written_out(self, tmp_path: Path) -> None:
        body = self.graph(
            [node("Add", "s e", "s_out"), node("Tanh", "s_out", "o")], ["s_out", "o"], {"s": (2,), "e": (2,)}
        )
        nodes = [node("Scan", "s0 x", "y z", body=body, num_scan_inputs=1, scan_input_directions=[1])]
        graph, _ = check(model(nodes, {"x": (4, 2)}, ["y", "z"], {"s0": floats(2)}), tmp_path)
        assert graph.type("z").shape == (4, 2)


class TestAgainstTheRuntime:
    def test_a_float16_model_is_compared_with_a_tolerance_of_its_own(self, tmp_path: Path) -> None:
        from onnx import TensorProto, numpy_helper

        from tinydeploy.passes import optimise
        from tinydeploy.validation.oracle import check_against

        nodes = [node("Conv", "x w", "h"), node("Relu", "h", "y")]
        proto = model(nodes, {"x": (1, 3, 6, 6)}, ["y"])
        weights = floats(2, 3, 3, 3).astype(np.float16)
        proto.graph.initializer.append(numpy_helper.from_array(weights, "w"))
        for entry in (*proto.graph.input, *proto.graph.output):
            entry.type.tensor_type.elem_type = TensorProto.FLOAT16
        path = save(proto, tmp_path)
        graph = optimise(load(path, {}))
        assert check_against(path, graph) is not None
        assert graph.type("x").elem.value == "float32"

    def test_a_model_without_inputs(self, tmp_path: Path) -> None:
        from tinydeploy.validation.oracle import check_against

        path = save(model([node("Constant", "", "z", value_floats=[1.0, 2.0])], {}, ["z"]), tmp_path)
        graph = load(path, {})
        assert check_against(path, graph) is not None

    def test_casts_to_other_floats_are_said(self, tmp_path: Path) -> None:
        nodes = [node("Cast", "x", "h", to=10), node("Relu", "h", "r"), node("Cast", "r", "y", to=1)]
        graph = load(save(model(nodes, {"x": (1, 3)}, ["y"]), tmp_path), {})
        assert "casts to float16: computed in float32" in graph.warnings
        assert "cast" not in operators(graph)
