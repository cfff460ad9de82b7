"""Runs a model in the runtime of its own format and compares the imported graph with it.

LiteRT with its reference kernels for `.tflite`, ONNX Runtime for `.onnx`, Keras for `.h5` and `.keras`; each is
imported only when a file of its format is checked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tinydeploy.errors import InputError, Problem, ToolError
from tinydeploy.ir import Array, Graph, Type
from tinydeploy.ops._op import Signature
from tinydeploy.ops.execute import run_float, run_integer

FLOAT_TOLERANCE = 1e-4  # of the largest output value, or of 1 if all are smaller
HALF_TOLERANCE = 2.0**-7  # likewise, where the runtime computes in float16
# ONNX leaves the rounding of a quantised model to its runtime: a step at a layer may become some at the end
STEPS_AT_MOST, STEPS_ON_AVERAGE = 16, 1  # of 255 over the range of the output
HEAVY_MACS = 30_000_000
STEPS = 3  # of models that remember


@dataclasses.dataclass(frozen=True)
class Oracle:
    """A loaded model. ``run`` takes arrays [samples, ...shape] in the order of the model's inputs, returns its outputs.

    ``inside``: intermediate tensors of one sample by name, where the runtime tells them. ``names``: those of the inputs
    and those of the outputs, where they are the ones in the file. ``stream``: as ``run`` for [samples, steps, ...shape]
    arrays, where what the runtime itself remembers passes from step to step and is new for every sample.
    """

    text: str
    run: Callable[[list[Array]], list[Array]]
    inside: Callable[[list[Array]], dict[str, Array]] | None = None
    names: tuple[list[str], list[str]] | None = None
    stream: Callable[[list[Array]], list[Array]] | None = None


class _Unavailable(Exception):
    """No runtime can check this file; the text says why, and becomes a warning."""


def check_against(path: Path, graph: Graph, seed: int = 0) -> str | None:
    """Compare ``graph`` with the runtime of the file it came from, on seeded random inputs.

    Float outputs agree to `FLOAT_TOLERANCE`, integer outputs in every bit; a state is an input and an output, as in the
    file. Returns the runtime's name and version, or None, with the reason in ``graph.warnings``, if there is none that
    runs the file.
    Raises: InputError with the numbers if they disagree.
    """
    try:
        oracle = _open(Path(path), graph)
        plain = _without_states(graph, oracle)
        steps = STEPS if plain.states else None
        feeds = _random_feeds(plain, seed, steps)
        ask = oracle.run if steps is None else oracle.stream
        assert ask is not None
        theirs = _guarded(lambda: ask(list(feeds.values())), oracle.text)
    except _Unavailable as reason:
        graph.warnings.append(f"the imported graph was not compared with the model's own runtime: {reason}")
        return None
    run = run_integer if graph.is_quantised() else run_float
    rounded = graph.is_quantised() and graph.source is not None and graph.source.format == "onnx"
    compare = _compare_steps if rounded else _compare_halves if _has_halves(graph) else _compare
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


def _random_feeds(graph: Graph, seed: int, steps: int | None = None) -> dict[str, Array]:
    """Arrays [samples, ...shape], or [samples, steps, ...shape].

    The whole range for integers; for floats a small, a normal and an image-like sample, since nobody knows the range.
    """
    generator = np.random.default_rng(seed)
    macs = sum(node.op.macs(Signature.of(graph, node)) for node in graph.nodes)
    scales = (1.0,) if macs > HEAVY_MACS else (0.1, 1.0, 100.0)
    feeds: dict[str, Array] = {}
    for name in graph.inputs:
        kind = graph.type(name)
        each = kind.shape if steps is None else (steps, *kind.shape)
        if kind.elem.is_float:
            feeds[name] = np.stack([generator.standard_normal(each) * s for s in scales]).astype(kind.elem.dtype)
        else:
            low, high = kind.elem.limits if kind.quant is not None or kind.elem.bits <= 8 else (0, 1)
            shape = (len(scales), *each)
            feeds[name] = generator.integers(low, high, shape, endpoint=True).astype(kind.elem.dtype)
    return feeds


def _has_halves(graph: Graph) -> bool:
    """True if the import has said that it takes float16 as float32."""
    return any("float16" in warning for warning in graph.warnings)


def _compare_halves(ours: Array, theirs: Array, kind: Type) -> str:
    """As `_compare`, with a runtime that rounds to float16 what we do not."""
    return _compare(ours, theirs, kind, HALF_TOLERANCE)


def _compare(ours: Array, theirs: Array, kind: Type, tolerance: float = FLOAT_TOLERANCE) -> str:
    """What is wrong, or an empty text."""
    if ours.size != theirs.size:
        return f"shapes {list(ours.shape)} and {list(theirs.shape)}"
    a, b = ours.reshape(theirs.shape).astype(np.float64), theirs.astype(np.float64)
    with np.errstate(invalid="ignore"):  # equal infinities
        off = np.abs(a - b)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "not-a-number in different places"
    if not kind.elem.is_float:
        wrong = int(np.count_nonzero(off))
        return f"{wrong} of {off.size} integers differ, by up to {int(off.max())}" if wrong else ""
    limit = tolerance * max(1.0, float(np.nanmax(np.abs(b), initial=0.0)))
    most = float(np.nanmax(off, initial=0.0))
    return f"differs by up to {most:.3g}, allowed is {limit:.3g}" if most > limit else ""


def _compare_steps(ours: Array, theirs: Array, kind: Type) -> str:
    """What is wrong with the outputs of a quantised model whose file does not state its rounding, or an empty text."""
    if ours.size != theirs.size:
        return f"shapes {list(ours.shape)} and {list(theirs.shape)}"
    a, b = ours.reshape(theirs.shape).astype(np.float64), theirs.astype(np.float64)
    step = max(float(b.max(initial=0.0) - b.min(initial=0.0)), FLOAT_TOLERANCE) / 255
    if not kind.elem.is_float:
        step = float(max(1, 1 << kind.elem.bits - 8))
    off = np.abs(a - b) / step
    most, average = float(off.max(initial=0.0)), float(off.mean()) if off.size else 0.0
    if not np.isfinite(average) or most > STEPS_AT_MOST or average > STEPS_ON_AVERAGE:
        return (
            f"differs by up to {most:.3g} steps of its range, {average:.3g} on average, allowed are {STEPS_AT_MOST}"
            f" and {STEPS_ON_AVERAGE}"
        )
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
            if name in names and _compare(ours[name][0], theirs[name], graph.type(name)):
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
    return Oracle(text, run, names=names)


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
