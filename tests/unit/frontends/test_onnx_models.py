"""Whole ONNX models of other tools: imported and optimised, they compute what ONNX Runtime computes."""

from __future__ import annotations

import pytest

from tests.conftest import need_module, need_shared
from tests.unit.frontends.onnx_build import assert_close, operators, random_feeds, runtime_results
from tinydeploy import passes
from tinydeploy.frontends.onnx import load
from tinydeploy.ops.execute import run_float

need_module("onnx", "onnxruntime")

# Operators that may be left, beside the ones that compute; channels-first inputs and outputs keep their transpose.
MODELS = {
    "onnx2c/mnist.onnx": 0,
    "onnx2c/mnist.simplified.onnx": 0,
    "onnx2c/pytorch.onnx": 0,
    "onnx2c/lesson9.onnx": 0,
    "onnx2c/tfl_helloworld.onnx": 0,
    "tf2onnx/keras_kws.onnx": 0,
    "tf2onnx/keras_ad.onnx": 0,
    "tf2onnx/keras_ic_resnet8.onnx": 0,
    "tf2onnx/keras_mnist_dw.onnx": 0,
    "tf2onnx/keras_sww.onnx": 0,
    "tf2onnx/keras_vww.onnx": 0,
    "tf2onnx/ic_resnet8_float.onnx": 0,
    "tf2onnx/ad_float.onnx": 0,
    "tf2onnx/vww_float.onnx": 0,
    "tract/keras_tf2_example.onnx": 0,
    "ultraface/version-RFB-320_without_postprocessing.onnx": 1,
}


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    path = need_shared("models", *name.split("/"))
    graph = load(path, {})
    feeds = random_feeds(graph, samples=2)
    want = runtime_results(path, feeds, graph.outputs)
    assert_close(run_float(graph, feeds), want, 1e-4)
    better = passes.optimise(graph)
    assert_close(run_float(better, feeds), want, 1e-4)
    assert operators(better).count("transpose") == MODELS[name]
    assert not {"batch_norm", "pad"} & set(operators(better))
    assert "clamp" not in operators(better)
