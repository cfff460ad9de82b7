"""Runs a model in the runtime of its own format and compares the imported graph with it.

LiteRT with its reference kernels for `.tflite`, ONNX Runtime for `.onnx`, Keras for `.h5` and `.keras`; each is
imported only when a file of its format is checked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, ToolError
from tinydeploy.ir import Array, Graph
from tinydeploy.ops.execute import run_float, run_integer
from tinydeploy.validation import agree

STEPS = 3  # of models that remember


@dataclasses.dataclass(frozen=True)
class Oracle:
    """A loaded model. ``run`` takes arrays [samples, ...shape] in the order of the model's inputs, returns its outputs.

    ``inside``: intermediate tensors of one sample by name, where the runtime tells them. ``names``: those of the inputs
    and those of the outputs, where they are the ones in the file. ``stream``: as ``run`` for [samples, steps, ...shape]
    arrays, where what the runtime itself remembers passes from step to step and is new for every sample. ``shapes``:
    those of the inputs, None for open dimensions, where the runtime fixes them.
    """

    text: str
    run: Callable[[list[Array]], list[Array]]
    inside: Callable[[list[Array]], dict[str, Array]] | None = None
    names: tuple[list[str], list[str]] | None = None
    stream: Callable[[list[Array]], list[Array]] | None = None
    shapes: tuple[tuple[int | None, ...], ...] | None = None


class _Unavailable(Exception):
    """No runtime can check this file; the text says why, and becomes a warning."""


def check_against(path: Path, graph: Graph, seed: int = 0) -> str | None:
    """Compare ``graph`` with the runtime of the file it came from, on seeded random inputs.

    Float outputs agree to `agree.FLOAT_TOLERANCE`, integer outputs in every bit; a state is an input and an output, as
    in the file. Returns the runtime's name and version, or None, with the reason in ``graph.warnings``, if there is
    none that runs the file.
    Raises: InputError with the numbers if they disagree.
    """
    try:
        oracle = _open(Path(path), graph)
        plain = _without_states(graph, oracle)
        steps = STEPS if plain.states else None
        fault = _other_ends(oracle, plain)
        if fault:
            raise _disagreement(path, oracle, fault)
        feeds = agree.random_feeds(plain, seed, steps)
        ask = oracle.run if steps is None else oracle.stream
        assert ask is not None
        theirs = _guarded(lambda: ask(list(feeds.values())), oracle.text)
    except _Unavailable as reason:
        graph.warnings.append(f"the imported graph was not compared with the model's own runtime: {reason}")
        return None
    run = run_integer if graph.is_quantised() else run_float
    rounded = graph.is_quantised() and graph.source is not None and graph.source.format == "onnx"
    halves = functools.partial(agree.differs, tolerance=agree.HALF_TOLERANCE)
    compare = agree.differs_in_steps if rounded else halves if agree.has_halves(graph) else agree.differs
    ours = run(plain, feeds, steps=steps is not None)
    if len(theirs) != len(plain.outputs):
        raise _disagreement(path, oracle, f"it has {len(theirs)} outputs, the imported graph {len(plain.outputs)}")
    for name, other in zip(plain.outputs, theirs, strict=True):
        fault = compare(ours[name], np.asarray(other), plain.type(name))
        if fault:
            first = _first_difference(oracle, plain, feeds, run) if steps is None else ""
            raise _disagreement(path, oracle, f"output {name!r}: {fault}{first}")
    return oracle.text


def run_oracle(path: Path, feeds: Mapping[str, Array]) -> list[Array]:
    """Run a file in its own runtime. ``feeds``: [samples, ...shape] arrays in the order of the model's inputs.

    Returns the outputs, [samples, ...shape] each, in the model's order.
    Raises: ToolError if no runtime that can run the file is installed.
    """
    try:
        oracle = _open(Path(path), None)
        return [np.asarray(y) for y in _guarded(lambda: oracle.run(list(feeds.values())), oracle.text)]
    except _Unavailable as reason:
        raise ToolError(Problem(str(path), str(reason), hint="`tinydeploy doctor` lists what is missing")) from None


def _open(path: Path, graph: Graph | None) -> Oracle:
    suffix = path.suffix.lower()
    if suffix in (".tflite", ".lite"):
        return _litert(path, graph)
    if suffix == ".onnx":
        return _onnxruntime(path)
    if suffix in (".h5", ".hdf5", ".keras"):
        return _keras(path)
    if path.is_dir():
        raise _Unavailable("a SavedModel's operators are those that TensorFlow's own converter made of it")
    raise _Unavailable(f"no runtime is known for {suffix!r} files")


def _guarded(run: Callable[[], Any], text: str) -> Any:
    """Run foreign code, whose exceptions are of any kind; they mean that it cannot serve as an oracle."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except _Unavailable:
        raise
    except Exception as error:
        message = str(error).strip().split("\n")[0][:200]
        raise _Unavailable(f"{text} cannot run it: {type(error).__name__}: {message}") from error


def _without_states(graph: Graph, oracle: Oracle) -> Graph:
    """The graph as the file has it: states that are inputs and outputs there are so again, others stay states."""
    if not graph.states:
        return graph
    given = [state for state in graph.states if oracle.names is not None and state.read in oracle.names[0]]
    if oracle.stream is not None and not given:
        return graph
    inputs = {*graph.inputs, *(state.read for state in given)}
    outputs = {*graph.outputs, *(state.write for state in given)}
    if oracle.names is None or (inputs, outputs) != tuple(set(names) for names in oracle.names):
        raise _Unavailable(f"it is not known which inputs and outputs of {oracle.text} are the states")
    plain = graph.copy()
    plain.inputs, plain.outputs = oracle.names
    plain.states = [state for state in plain.states if state.read not in plain.inputs]
    return plain


def _other_ends(oracle: Oracle, graph: Graph) -> str:
    """What is wrong with the graph's inputs, or an empty text; a runtime would only refuse to run."""
    for name, shape in zip(graph.inputs, oracle.shapes or (), strict=False):
        ours = graph.type(name).shape
        if len(ours) != len(shape) or any(d not in (None, o) for d, o in zip(shape, ours, strict=True)):
            return f"input {name!r} is {list(ours)} here and {list(shape)} there"
    return ""


def _first_difference(oracle: Oracle, graph: Graph, feeds: Mapping[str, Array], run: Callable[..., Any]) -> str:
    """Names the first node whose result differs, for runtimes that show their intermediate tensors."""
    if oracle.inside is None:
        return ""
    one = {name: array[:1] for name, array in feeds.items()}
    theirs = oracle.inside(list(one.values()))
    results = [name for node in graph.nodes for name in node.outputs if name in theirs]
    names = [name for name in results if theirs[name].size == graph.type(name).size]  # no channel of it was dropped
    ours = run(graph, one, keep=names)
    for node in graph.nodes:
        for name in node.outputs:
            if name in names and agree.differs(ours[name], theirs[name].reshape(ours[name].shape), graph.type(name)):
                return f"; the first node that differs is {node.name!r} ({node.origin})"
    return ""


def _disagreement(path: Path, oracle: Oracle, what: str) -> InputError:
    return InputError(
        Problem(
            str(path),
            f"the imported graph computes something else than {oracle.text}: {what}",
            "an imported graph gives the results of the model's own runtime",
            "please report it with the model; --no-check converts it all the same",
        )
    )


def _litert(path: Path, graph: Graph | None) -> Oracle:
    from tinydeploy.frontends.tflite_model import Model
    from tinydeploy.validation.litert import LiteRT

    data = path.read_bytes()
    try:
        runtime = LiteRT(data, str(path))
    except ImportError:
        raise _Unavailable("ai-edge-litert is not installed (pip install 'tinydeploy[oracle-litert]')") from None
    except (ValueError, RuntimeError) as error:
        raise _Unavailable(f"litert cannot run it: {str(error).strip()[:200]}") from None
    text = runtime.text

    def prepare(**options: bool) -> Any:
        model = runtime.open(**options)
        for detail, name in zip(model.get_input_details(), graph.inputs if graph else (), strict=False):
            shape = graph.type(name).shape if graph else ()
            if tuple(detail["shape"]) != shape:
                model.resize_tensor_input(detail["index"], shape)
        model.allocate_tensors()
        return model

    def invoke(model: Any, sample: list[Array]) -> None:
        for detail, array in zip(model.get_input_details(), sample, strict=True):
            model.set_tensor(detail["index"], np.array(array, detail["dtype"], order="C"))
        model.invoke()

    def over(model: Any, feeds: Sequence[Array]) -> list[Array]:
        results: list[list[Array]] = []
        for sample in zip(*feeds, strict=True):
            invoke(model, list(sample))
            results.append([model.get_tensor(detail["index"]).copy() for detail in model.get_output_details()])
        return [np.stack(column) for column in zip(*results, strict=True)]

    def stream(feeds: list[Array]) -> list[Array]:
        # A new interpreter is the only way to forget: variables keep their content as long as it lives.
        samples = [over(prepare(), sample) for sample in zip(*feeds, strict=True)]
        return [np.stack(column) for column in zip(*samples, strict=True)]

    def inside(feeds: list[Array]) -> dict[str, Array]:
        whole = prepare(experimental_preserve_all_tensors=True)
        invoke(whole, [array[0] for array in feeds])
        tensors: dict[str, Array] = {}
        for detail in whole.get_tensor_details():
            with contextlib.suppress(ValueError):  # scratch tensors have no content
                tensors[detail["name"]] = whole.get_tensor(detail["index"])
        return tensors

    model = _guarded(prepare, text)
    ends = Model(data, str(path)).subgraph()
    names = [ends.name(i) for i in ends.inputs], [ends.name(i) for i in ends.outputs]
    return Oracle(text, lambda feeds: over(model, feeds), inside, names, stream)


def _onnxruntime(path: Path) -> Oracle:
    try:
        import onnxruntime
    except ImportError:
        raise _Unavailable("onnxruntime is not installed (pip install 'tinydeploy[oracle-onnx]')") from None
    text = f"onnxruntime {onnxruntime.__version__}"

    def prepare() -> Any:
        options = onnxruntime.SessionOptions()
        levels = onnxruntime.GraphOptimizationLevel
        integer = b"QLinear" in path.read_bytes()
        options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if integer else levels.ORT_DISABLE_ALL
        # Without this, products of uint8 and int8 saturate in 16 bits on x86 without VNNI; the optimiser sees to it.
        options.add_session_config_entry("session.x64quantprecision", "1")
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(feeds: list[Array]) -> list[Array]:
        samples = list(zip(*feeds, strict=True)) or [()]  # a model may have no inputs
        given = [[np.asarray(x, kind) for x, kind in zip(sample, kinds, strict=True)] for sample in samples]
        results = [session.run(None, dict(zip(names[0], sample, strict=True))) for sample in given]
        return [np.stack(column) for column in zip(*results, strict=True)]

    session = _guarded(prepare, text)
    names = [entry.name for entry in session.get_inputs()], [entry.name for entry in session.get_outputs()]
    wide = {"tensor(float16)": np.float16, "tensor(double)": np.float64}  # what is float32 in our graph
    kinds = [wide.get(entry.type) for entry in session.get_inputs()]
    open_sizes = [[d if isinstance(d, int) else None for d in entry.shape] for entry in session.get_inputs()]
    return Oracle(text, run, names=names, shapes=tuple(tuple(shape) for shape in open_sizes))


@contextlib.contextmanager
def _quiet_tensorflow() -> Iterator[None]:
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]
        else:
            os.environ["TF_CPP_MIN_LOG_LEVEL"] = before


def _keras(path: Path) -> Oracle:
    from tinydeploy.frontends.keras_file import open_keras

    # Keras imports the modules that a file names; only its own may be.
    if not _only_own_modules(open_keras(path.read_bytes(), path).config):
        raise _Unavailable("the file names modules that are not Keras' own, so Keras is not asked to load it")
    try:
        with _quiet_tensorflow():
            import keras
    except ImportError:
        raise _Unavailable("keras is not installed (pip install 'tinydeploy[oracle-keras]')") from None
    text = f"keras {keras.__version__}"

    class DepthwiseConv2D(keras.layers.DepthwiseConv2D):  # type: ignore[misc]
        """Takes the ``groups`` that Keras 2 wrote and Keras 3 refuses; it is always 1 in effect."""

        def __init__(self, **settings: Any) -> None:
            settings.pop("groups", None)
            super().__init__(**settings)

    def prepare() -> Any:
        custom = {"DepthwiseConv2D": DepthwiseConv2D} if path.suffix.lower() != ".keras" else None
        return keras.models.load_model(str(path), custom_objects=custom, compile=False, safe_mode=True)

    def run(feeds: list[Array]) -> list[Array]:
        results = []
        for sample in zip(*feeds, strict=True):
            outputs = model(list(sample) if len(sample) > 1 else sample[0], training=False)
            results.append([np.asarray(y) for y in (outputs if isinstance(outputs, (list, tuple)) else [outputs])])
        return [np.stack(column) for column in zip(*results, strict=True)]

    def stream(feeds: list[Array]) -> list[Array]:
        results = []
        for sample in zip(*feeds, strict=True):
            for layer in stateful:
                layer.reset_state()
            results.append(run(list(sample)))
        return [np.stack(column) for column in zip(*results, strict=True)]

    model = _guarded(prepare, text)
    layers = _guarded(lambda: list(model._flatten_layers()), text)
    stateful = [layer for layer in layers if getattr(layer, "stateful", False) and hasattr(layer, "reset_state")]
    return Oracle(text, run, stream=stream if stateful else None)


def _only_own_modules(config: object) -> bool:
    from tinydeploy.frontends.keras_file import is_own_module

    waiting = [config]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            module = item.get("module")
            if module is not None and not is_own_module(str(module)):
                return False
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return True
