"""TFLite's normalisations against LiteRT: int8 bit for bit, float32 closely; read from the file as it is."""

import numpy as np
import pytest

from tests.conformance.recurrent_models import Tensor, build, f32, quantised
from tests.conformance.tflite_build import run
from tests.conftest import need_module
from tinydeploy import frontends
from tinydeploy.errors import InputError
from tinydeploy.ir import Elem
from tinydeploy.ops.execute import run_float, run_integer

OUTPUTS = {"LOG_SOFTMAX": (1 / 16, 127), "L2_NORMALIZATION": (1 / 128, 0)}
OPTIONS = {"LOG_SOFTMAX": "LogSoftmaxOptionsT", "L2_NORMALIZATION": "L2NormOptionsT"}


def options_of(kind: str):
    """The options of an operator, as the schema has them."""
    need_module("ai_edge_litert")
    from ai_edge_litert import schema_py_generated as fb

    return getattr(fb, OPTIONS.get(kind, "LocalResponseNormalizationOptionsT"))()


def run_optimised(model: bytes, sample: np.ndarray) -> list[np.ndarray]:
    """The output of LiteRT's ordinary kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
    interpreter.invoke()
    return [interpreter.get_tensor(interpreter.get_output_details()[0]["index"])]


def compare(model: bytes, data: np.ndarray, folder, runtime=run) -> None:
    """Run both on every sample."""
    (folder / "model.tflite").write_bytes(model)
    graph = frontends.load(folder / "model.tflite")
    (name,), (output,) = graph.inputs, graph.outputs
    want = np.stack([runtime(model, sample)[0] for sample in data])
    if data.dtype == np.int8:
        np.testing.assert_array_equal(run_integer(graph, {name: data})[output], want)
    else:
        np.testing.assert_allclose(run_float(graph, {name: data})[output], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (2, 3, 4, 5), (1, 4095)])
@pytest.mark.parametrize("scale", [1e-5, 0.003, 0.05, 0.125, 1.0, 30.0])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_int8(tmp_path, kind, scale, shape):
    rng = np.random.default_rng(1)
    zero_point = int(rng.integers(-128, 128))
    x, y = quantised(Elem.S8, shape, scale, zero_point), quantised(Elem.S8, shape, *OUTPUTS[kind])
    near = np.clip(zero_point + rng.integers(-2, 3, (2, *shape)), -128, 127)
    ends = [np.full((1, *shape), value) for value in (-128, zero_point, 127)]
    data = np.concatenate([rng.integers(-128, 128, (3, *shape)), near, *ends]).astype(np.int8)
    compare(build(kind, options_of(kind), [Tensor(x)], [y], version=2), data, tmp_path)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (2, 3, 4, 5)])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_float(tmp_path, kind, shape):
    data = np.random.default_rng(1).normal(0, 3, (3, *shape)).astype(np.float32)
    data[2] = 0
    compare(build(kind, options_of(kind), [Tensor(f32(*shape))], [f32(*shape)]), data, tmp_path)


@pytest.mark.parametrize("radius", [0, 1, 3, 20])
def test_local_response_normalisation(tmp_path, radius):
    options = options_of("LOCAL_RESPONSE_NORMALIZATION")
    options.radius, options.bias, options.alpha, options.beta = radius, 1.5, 0.3, 0.6
    shape = (1, 3, 4, 9)
    data = np.random.default_rng(1).normal(0, 3, (3, *shape)).astype(np.float32)
    model = build("LOCAL_RESPONSE_NORMALIZATION", options, [Tensor(f32(*shape))], [f32(*shape)])
    # LiteRT's reference kernel leaves out the last channel of each window; TensorFlow and its other kernels do not.
    compare(model, data, tmp_path, runtime=run_optimised)


@pytest.mark.parametrize("kind", OUTPUTS)
def test_another_output_scale_is_refused(tmp_path, kind):
    x = quantised(Elem.S8, (1, 4), 0.1)
    (tmp_path / "model.tflite").write_bytes(build(kind, options_of(kind), [Tensor(x)], [x]))
    with pytest.raises(InputError, match="its scale is"):
        frontends.load(tmp_path / "model.tflite")
