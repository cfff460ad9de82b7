"""SavedModel folders: TensorFlow's own converter makes a float TFLite model of a signature, which our reader reads.

TensorFlow is imported here only, and only for a folder that holds nothing but computation (`_saved_model_scan`).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tinydeploy.errors import InputError, Problem, ToolError, UnsupportedError
from tinydeploy.frontends import _saved_model_scan, tflite
from tinydeploy.frontends._common import model_name, read_file, source
from tinydeploy.ir import Graph

DEFAULT_SIGNATURE = "serving_default"
FILE = "saved_model.pb"


def load(path: Path, input_shapes: Mapping[str, tuple[int, ...]], signature: str | None = None) -> Graph:
    """Read a signature of a SavedModel folder (`DEFAULT_SIGNATURE`, or the only one); an open batch becomes 1.

    Raises: InputError if the folder cannot be used or has no such signature, UnsupportedError for operators that do
    more than compute or that TFLite has not, ToolError if TensorFlow is not installed.
    """
    data = read_file(path / FILE)
    _saved_model_scan.check(path, data)
    converted = _convert(path, _choose(path, _saved_model_scan.signatures(data), signature))
    with tempfile.TemporaryDirectory(prefix="tinydeploy-") as scratch:
        file = Path(scratch) / f"{model_name(path)}.tflite"
        file.write_bytes(converted)
        graph = tflite.load(file, input_shapes)
    graph.source = source(path, data, "saved_model")
    return graph


def _convert(path: Path, signature: str) -> bytes:
    try:
        with _quiet():
            import tensorflow as tf
    except ImportError:
        hint = "pip install 'tinydeploy[oracle-keras]', or save the model as .keras, .tflite or .onnx"
        raise ToolError(Problem(str(path), "SavedModel folders are read with TensorFlow", hint=hint)) from None
    with _quiet():
        first: Exception | None = None
        # Newer TensorFlow cannot load the optimizers that Keras 2 saved; its older interface asks for the graph only.
        for kind, key in (
            (tf.lite, {"signature_keys": [signature]}),
            (tf.compat.v1.lite, {"signature_key": signature}),
        ):
            try:
                converter: Any = kind.TFLiteConverter.from_saved_model(str(path), **key)
                return bytes(converter.convert())
            except Exception as error:  # TensorFlow raises errors of any kind
                first = first or error
    what = f"signature {signature!r} cannot be converted: {_first_line(first)}"
    hint = "save the model as .keras, or export it to .onnx"
    raise UnsupportedError(Problem(str(path), what, "its operators are TFLite's", hint))


def _choose(path: Path, names: list[str], signature: str | None) -> str:
    if signature is None and DEFAULT_SIGNATURE not in names and len(names) == 1:
        return names[0]
    wanted = signature or DEFAULT_SIGNATURE
    if wanted not in names:
        rule = f"its signatures are {', '.join(names) or 'none'}"
        hint = "--signature NAME chooses one (in Python: signature=)"
        raise InputError(Problem(str(path), f"has no signature {wanted[:80]!r}", rule, hint))
    return wanted


def _first_line(error: Exception | None) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if "error:" in line or "not supported" in line]
    return (named or lines or [type(error).__name__])[0][:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What TensorFlow's C++ writes to stderr is no message of ours."""
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    saved = os.dup(2)
    try:
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        if before is None:
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]
        else:
            os.environ["TF_CPP_MIN_LOG_LEVEL"] = before
