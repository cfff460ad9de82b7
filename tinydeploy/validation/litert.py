"""LiteRT as an oracle for TFLite files: which of its kernels are asked, and on which copy of the file."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from tinydeploy.frontends.tflite_hybrid import for_litert
from tinydeploy.frontends.tflite_model import Model, Operator, Subgraph

# Reference kernels that are wrong (LiteRT 2.3), where the optimised ones agree with TensorFlow.
_WRONG = {"LOCAL_RESPONSE_NORMALIZATION", "SUM"}


class LiteRT:
    """A file ready to be run. ``text``: the runtime's name, version and kernels.

    Raises: ImportError if no runtime is installed; ValueError, RuntimeError if it cannot run the file.
    """

    def __init__(self, data: bytes, where: str) -> None:
        try:
            from ai_edge_litert import interpreter as runtime

            package = "ai-edge-litert"
        except ImportError:
            from tflite_runtime import interpreter as runtime

            package = "tflite-runtime"
        self._runtime = runtime
        self._data = for_litert(data, where) or data
        self._reference = not _is_wrong(Model(data, where))
        if self._reference:
            try:
                self.open()
            except ValueError as error:
                if "Didn't find op" not in str(error):
                    raise
                self._reference = False  # it has no reference kernel of this operator or version
        kernels = "BUILTIN_REF" if self._reference else "BUILTIN"
        made_float = ", weights made float" if self._data is not data else ""
        self.text = f"{package.replace('ai-edge-', '').replace('-', '_')} {_version(package)} ({kernels}{made_float})"

    def open(self, **options: bool) -> Any:
        """A new interpreter, not yet allocated."""
        kinds = self._runtime.OpResolverType
        kind = kinds.BUILTIN_REF if self._reference else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        return self._runtime.Interpreter(model_content=self._data, experimental_op_resolver_type=kind, **options)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def _is_wrong(model: Model) -> bool:
    subgraphs = [model.subgraph(number) for number in range(model.subgraph_count)]
    return any(_has_wrong_kernel(subgraph, operator) for subgraph in subgraphs for operator in subgraph.operators)


def _has_wrong_kernel(subgraph: Subgraph, operator: Operator) -> bool:
    if operator.kind not in _WRONG or not operator.outputs:
        return False
    return operator.kind != "SUM" or subgraph.tensor(operator.outputs[0]).type.quant is not None
