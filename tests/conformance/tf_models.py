"""Models that the TensorFlow converter makes of a function, and their import compared with LiteRT.

    specs = [Spec((1, 8, 8, 3), low=-2, high=2)]
    agree(int8_model(lambda x: tf.nn.relu(tf.nn.conv2d(x, weights, 1, "SAME")), specs), specs)

Integers have to be equal in every bit, floats within 1e-5 of the largest. TensorFlow takes 8 s to load, a model 0.1 to
1 s: a quick test converts a handful, longer tables are marked slow.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import need_module
from tinydeploy import frontends, passes
from tinydeploy.ir import Array, Graph
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.validation.litert import LiteRT

FLOAT_TOLERANCE = 1e-5  # of the largest output value, or of 1


@dataclasses.dataclass(frozen=True)
class Spec:
    """An input: its shape with the batch, its dtype, and the range (inclusive for integers) its data is drawn from."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1.0
    high: float = 1.0

    def data(self, rng: np.random.Generator, samples: int) -> Array:
        """Uniform samples [samples, ...shape]; a bool is a fair coin."""
        shape = (samples, *self.shape)
        if self.dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if np.dtype(self.dtype).kind in "iu":
            return rng.integers(int(self.low), int(self.high), shape, endpoint=True).astype(self.dtype)
        return rng.uniform(self.low, self.high, shape).astype(self.dtype)


Specs = Sequence["Spec | tuple[int, ...]"]


def _specs(specs: Specs) -> list[Spec]:
    return [spec if isinstance(spec, Spec) else Spec(tuple(spec)) for spec in specs]


@functools.cache
def tensorflow() -> Any:
    """TensorFlow without its chatter; skips the test where it is not installed."""
    need_module("tensorflow")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    with _silence():
        import tensorflow

        tensorflow.autograph.set_verbosity(0)
        tensorflow.get_logger().setLevel("ERROR")
        tensorflow.constant(0.0)
    return tensorflow


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what the converter's C++ writes straight to the standard error."""
    sys.stderr.flush()
    kept = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)


def _converter(fn: Any, specs: Specs) -> Any:
    tf = tensorflow()
    function = tf.function(fn)
    signature = [tf.TensorSpec(spec.shape, spec.dtype) for spec in _specs(specs)]
    owner = getattr(fn, "__self__", None)  # of a method: the tf.Module that holds the variables
    concrete = [function.get_concrete_function(*signature)]
    converter = tf.lite.TFLiteConverter.from_concrete_functions(concrete, owner)
    converter.experimental_enable_resource_variables = owner is not None  # else they are constants
    return converter


def _convert(converter: Any) -> bytes:
    with _silence():
        return bytes(converter.convert())


def float_model(fn: Callable[..., Any], specs: Specs) -> bytes:
    """Everything in float32. ``fn``: of tensors, gives a tensor or a list; a Keras model; a method of a tf.Module."""
    return _convert(_converter(fn, specs))


def float16_model(fn: Callable[..., Any], specs: Specs) -> bytes:
    """Weights in float16, which DEQUANTIZE makes float32."""
    tf = tensorflow()
    converter = _converter(fn, specs)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]
    return _convert(converter)


def dynrange_model(fn: Callable[..., Any], specs: Specs) -> bytes:
    """Weights in int8, activations in float32; only constants of 1024 elements or more are made int8."""
    converter = _converter(fn, specs)
    converter.optimizations = [tensorflow().lite.Optimize.DEFAULT]
    return _convert(converter)


def int8_model(
    fn: Callable[..., Any],
    specs: Specs,
    rng: np.random.Generator | None = None,
    *,
    per_tensor: bool = False,
    fallback: bool = False,
) -> bytes:
    """Full integer with int8 inputs and outputs; ``fallback`` lets an operator without int8 form stay in float."""
    tf = tensorflow()
    only = tf.lite.OpsSet.TFLITE_BUILTINS_INT8
    converter = _calibrated(fn, specs, rng, [only, tf.lite.OpsSet.TFLITE_BUILTINS] if fallback else [only], tf.int8)
    converter._experimental_disable_per_channel = per_tensor
    return _convert(converter)


def int16x8_model(
    fn: Callable[..., Any],
    specs: Specs,
    rng: np.random.Generator | None = None,
    *,
    fallback: bool = False,
    bias32: bool = False,
) -> bytes:
    """int16 activations with int8 weights, int16 inputs and outputs; ``bias32``: biases of 32 bits instead of 64."""
    tf = tensorflow()
    only = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    converter = _calibrated(fn, specs, rng, [only, tf.lite.OpsSet.TFLITE_BUILTINS] if fallback else [only], tf.int16)
    if bias32:
        converter._experimental_full_integer_quantization_bias_type = tf.int32
    return _convert(converter)


def _calibrated(fn: Any, specs: Specs, rng: np.random.Generator | None, supported: list[Any], elem: Any) -> Any:
    known, generator = _specs(specs), np.random.default_rng(0) if rng is None else rng
    samples = [spec.data(generator, 16) for spec in known]
    converter = _converter(fn, known)
    converter.optimizations = [tensorflow().lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (list(sample) for sample in zip(*samples, strict=True))
    converter.target_spec.supported_ops = supported
    # Its input type is the type of every input that is quantised; integer inputs keep their own.
    converter.inference_input_type = converter.inference_output_type = elem
    return converter


def litert(model: bytes, feeds: Sequence[Array], *, steps: bool = False) -> list[Array]:
    """Outputs [samples, ...] in the model's order. ``feeds``: [samples, ...] arrays in the order of its inputs.

    Of LiteRT's reference kernels, where it has right ones; hybrid weights are made float, which is what they mean here.
    ``steps``: arrays are [samples, steps, ...]; variables pass from step to step, and are new for every sample.
    """
    if steps:
        samples = [litert(model, sample) for sample in zip(*feeds, strict=True)]
        return [np.stack(column) for column in zip(*samples, strict=True)]
    need_module("ai_edge_litert")
    interpreter = LiteRT(model, "model").open()
    interpreter.allocate_tensors()
    rows: list[list[Array]] = []
    for sample in zip(*feeds, strict=True):
        for detail, array in zip(interpreter.get_input_details(), sample, strict=True):
            interpreter.set_tensor(detail["index"], np.ascontiguousarray(array, detail["dtype"]))
        interpreter.invoke()
        rows.append([interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def imported(model: bytes, input_shapes: Mapping[str, tuple[int, ...]] | None = None) -> Graph:
    """The model as the frontend reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        path.write_bytes(model)
        return frontends.load(path, input_shapes=input_shapes)


def random_feeds(graph: Graph, specs: Specs | None, samples: int, seed: int) -> list[Array]:
    """Quantised inputs over their whole range; others as their spec says, else normal floats and integers 0 or 1."""
    rng = np.random.default_rng(seed)
    known = [None] * len(graph.inputs) if specs is None else _specs(specs)
    feeds = []
    for name, spec in zip(graph.inputs, known, strict=True):
        kind = graph.type(name)
        if kind.quant is not None:
            low, high = kind.elem.limits
            feeds.append(rng.integers(low, high, (samples, *kind.shape), endpoint=True).astype(kind.elem.dtype))
        elif spec is not None:
            feeds.append(spec.data(rng, samples).astype(kind.elem.dtype))
        elif kind.elem.is_float:
            feeds.append(rng.standard_normal((samples, *kind.shape)).astype(kind.elem.dtype))
        else:
            feeds.append(rng.integers(0, 2, (samples, *kind.shape)).astype(kind.elem.dtype))
    return feeds


def agree(
    model: bytes,
    specs: Specs | None = None,
    *,
    feeds: Sequence[Array] | None = None,
    samples: int = 4,
    seed: int = 1,
    tolerance: float = FLOAT_TOLERANCE,
) -> Graph:
    """Fail unless our import computes what LiteRT's reference kernels do: as read, and after the passes.

    Both the float reference (of a graph without quantised values) and the twin of the C are compared; see `litert`.
    ``feeds``: instead of random data; [samples, steps, ...] for models with variables. Returns the graph as read.
    """
    graph = imported(model)
    fed = random_feeds(graph, specs, samples, seed) if feeds is None else list(feeds)
    steps = bool(graph.states)
    if steps:
        fed = [array[:, None] if feeds is None else array for array in fed]
        fed = [np.concatenate([array, array[::-1]], axis=1) if feeds is None else array for array in fed]
    theirs = litert(model, fed, steps=steps)
    named = dict(zip(graph.inputs, fed, strict=True))
    for label, version in (("as read", graph), ("optimised", passes.optimise(graph))):
        runs = [("twin", run_integer)] if graph.is_quantised() else [("reference", run_float), ("twin", run_integer)]
        for meaning, run in runs:
            ours = run(version, named, steps=steps)
            assert len(version.outputs) == len(theirs)
            for name, other in zip(version.outputs, theirs, strict=True):
                _same(ours[name], other, f"{label}, {meaning}, output {name!r}", tolerance)
    return graph


def _same(ours: Array, theirs: Array, where: str, tolerance: float) -> None:
    assert ours.shape == theirs.shape, f"{where}: {ours.shape}, LiteRT {theirs.shape}"
    if theirs.dtype.kind != "f":
        np.testing.assert_array_equal(ours, theirs, err_msg=where)
        return
    finite = np.abs(theirs[np.isfinite(theirs)])
    bound = tolerance * max(1.0, float(finite.max(initial=0.0)))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=bound, err_msg=where)


def kinds(model: bytes) -> list[str]:
    """TFLite's operators of the model, in order: which ones the converter really made."""
    need_module("ai_edge_litert")
    from tinydeploy.frontends.tflite_model import Model

    return [operator.kind for operator in Model(model, "model").subgraph().operators]
