"""ONNX's own shape inference, in a process of its own: written in C++, it may crash or never end on a hostile file."""

from __future__ import annotations

import subprocess
import sys

from tinydeploy.frontends.onnx_graphs import raw_input
from tinydeploy.ir import Type

_SECONDS = 20
_CHILD = f"""
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
except (ImportError, ValueError, OSError):
    pass
import onnx
graph = onnx.shape_inference.infer_shapes(onnx.ModelProto.FromString(sys.stdin.buffer.read()), data_prop=True).graph
del graph.node[:], graph.initializer[:]
sys.stdout.buffer.write(graph.SerializeToString())
"""


def inferred_types(data: bytes, inputs: dict[str, Type]) -> dict[str, Type]:
    """Types of values by ONNX's own shape inference, where static; empty if it fails.

    Only used to go on listing problems after the first one: no result of an import depends on it.
    """
    import onnx

    try:
        proto = onnx.ModelProto.FromString(data)
        if proto.functions:  # a few that call each other twice would keep it busy for ever
            return {}
        for info in proto.graph.input:
            if info.name in inputs:
                del info.type.tensor_type.shape.dim[:]
                for size in inputs[info.name].shape:
                    info.type.tensor_type.shape.dim.add().dim_value = size
        del proto.graph.value_info[:]
        command = [sys.executable, "-c", _CHILD]
        ran = subprocess.run(
            command, input=proto.SerializeToString(), capture_output=True, timeout=_SECONDS, check=True
        )
        inferred = onnx.GraphProto.FromString(ran.stdout)
        found = [raw_input(info, "") for info in (*inferred.value_info, *inferred.output)]
    except Exception:  # whatever it stumbles over: the problems found so far are still shown
        return {}
    return {
        entry.name: Type(tuple(int(d) for d in entry.dims if isinstance(d, int)), entry.elem)
        for entry in found
        if entry.elem is not None and entry.dims is not None and all(isinstance(d, int) for d in entry.dims)
    }
