"""The comparison with a model's own runtime: agreement, disagreement, and no runtime at all."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from tests.conftest import need_module
from tests.unit.frontends import keras_build
from tests.unit.frontends.tflite_build import TfliteModel, small_cnn
from tinydeploy.errors import InputError, ToolError
from tinydeploy.frontends import load
from tinydeploy.frontends.keras_file import open_keras
from tinydeploy.validation import oracle


@pytest.fixture
def cnn(tmp_path):
    model = small_cnn(quantised=True)
    return model.save(tmp_path, [0], [len(model.tensors) - 1])


def test_names_the_runtime_and_its_version(cnn) -> None:
    need_module("ai_edge_litert")
    graph = load(cnn)
    text = oracle.check_against(cnn, graph)
    assert text is not None
    assert text.startswith("litert ")
    assert text.endswith("(BUILTIN_REF)")
    assert graph.warnings == []


def test_one_wrong_bit_is_found_and_the_node_named(cnn) -> None:
    need_module("ai_edge_litert")
    graph = load(cnn)
    node = next(node for node in graph.nodes if node.op.name == "depthwise_conv2d")
    bias = graph.values[node.inputs[2]]
    bias.data = bias.data + 2000
    with pytest.raises(InputError, match=r"integers differ.*first node that differs is 'depthwise_conv2d_1'"):
        oracle.check_against(cnn, graph)


def test_float_disagreement_gives_numbers(tmp_path) -> None:
    need_module("ai_edge_litert")
    model = TfliteModel()
    model.op("ADD", [model.tensor([1, 4]), 0], [model.tensor([1, 4])], activation="NONE")
    path = model.save(tmp_path, [0], [1])
    graph = load(path)
    graph.nodes[0].op = dataclasses.replace(graph.nodes[0].op, clamp=(0.0, float("inf")))
    with pytest.raises(InputError, match=r"differs by up to .*allowed is"):
        oracle.check_against(path, graph)


def test_no_runtime_gives_none_and_a_warning(cnn, monkeypatch) -> None:
    for name in ("ai_edge_litert", "tflite_runtime"):
        monkeypatch.setitem(sys.modules, name, None)
    graph = load(cnn)
    assert oracle.check_against(cnn, graph) is None
    assert "not compared" in graph.warnings[0]
    assert "tinydeploy[oracle-litert]" in graph.warnings[0]
    with pytest.raises(ToolError):
        oracle.run_oracle(cnn, {})


def test_file_the_runtime_refuses_gives_none_and_a_warning(tmp_path) -> None:
    """LiteRT wants a bias in every convolution; we do not."""
    need_module("ai_edge_litert")
    model = TfliteModel()
    weights = model.constant(np.ones((1, 1, 1, 2), "f4"))
    x, y = model.tensor([1, 3, 3, 2]), model.tensor([1, 3, 3, 1])
    model.op("CONV_2D", [x, weights], [y], padding="VALID", stride_h=1, stride_w=1)
    path = model.save(tmp_path, [x], [y])
    graph = load(path)
    assert oracle.check_against(path, graph) is None
    assert "cannot run it" in graph.warnings[0]


def test_run_oracle(cnn) -> None:
    need_module("ai_edge_litert")
    x = np.zeros((2, 1, 6, 6, 2), "i1")
    (y,) = oracle.run_oracle(cnn, {"t0": x})
    assert y.shape == (2, 1, 3)
    assert y.dtype == np.int8


@pytest.mark.parametrize("module", ["os", "keras_of_mine.layers"])
def test_keras_is_not_asked_to_load_foreign_modules(tmp_path, module) -> None:
    config, weights = keras_build.dense_model()
    config["config"]["layers"][1]["config"]["kernel_initializer"] = {
        "module": module,
        "class_name": "system",
        "config": {},
    }
    path = keras_build.save_keras(tmp_path, config, keras_build.by_slot(config, weights))
    assert not oracle._only_own_modules(open_keras(path.read_bytes(), path).config)
    graph = load(path)
    assert oracle.check_against(path, graph) is None
    assert "not Keras' own" in graph.warnings[0]
